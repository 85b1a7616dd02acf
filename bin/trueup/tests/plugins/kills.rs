//! Processes killed in the middle of an apply: the plugin's, and our own. Nothing is made twice, nothing is forgotten, and
//! no process is left.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::plugins::bench::{Bench, unfolded, versions};

/// A resource whose create never answers the first time, and how far it comes by then.
fn program(kind: &str, trouble: &str) -> String {
    format!("resource \"fixture_{kind}\" \"a\" {{\n  name = \"a\"\n  trouble = \"{trouble}\"\n}}\n")
}

/// Deploys until the provider is in the middle of the create.
fn in_the_middle(bench: &Bench) -> Child {
    let reached = bench.pipe("reached");
    let run = bench.start("deploy --yes");
    assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
    run
}

pub(crate) fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// Kills what this is about, and waits until everything has ended.
fn killed(bench: &Bench, victim: &str) {
    let mut run = in_the_middle(bench);
    let own = i32::try_from(run.id()).unwrap();
    let plugins: Vec<i32> = bench.pids().into_iter().map(|(pid, _)| pid).filter(|pid| *pid != own).collect();
    assert!(!plugins.is_empty(), "{:?}", bench.pids());
    match victim {
        "plugin" => plugins.iter().for_each(|pid| kill(*pid)),
        _ => kill(own),
    }
    run.wait().unwrap();
    bench.left_alone();
}

/// CRASH-1: what a type's own inputs identify is looked for by an import, and either found or made.
#[test]
fn an_unknown_outcome_is_settled_by_looking_where_the_inputs_say_what_for() {
    for version in versions() {
        for victim in ["plugin", "trueup"] {
            for (trouble, exists) in [("hang-before", false), ("hang-after", true)] {
                let bench = Bench::new(version);
                bench.write_configured(&program("thing", trouble));
                killed(&bench, victim);
                assert_eq!(bench.objects().len(), usize::from(exists), "{victim} {trouble}");
                bench.done("deploy --yes");
                assert_eq!(bench.objects().len(), 1, "{victim} {trouble}");
                assert_eq!(bench.object("thing/a")["serial"], 1, "it was made once");
                assert!(bench.actions().is_empty());
                bench.done("destroy --yes");
                assert!(bench.objects().is_empty());
            }
        }
    }
}

/// CRASH-1: nothing tells what came of it, so a person is asked, and told how to answer.
#[test]
fn an_unknown_outcome_that_nothing_settles_is_for_a_person() {
    for version in versions() {
        for victim in ["plugin", "trueup"] {
            for (trouble, exists) in [("hang-before", false), ("hang-after", true)] {
                let bench = Bench::new(version);
                bench.write_configured(&program("nest", trouble));
                killed(&bench, victim);
                let told = bench.failed("deploy --yes");
                assert!(told.contains("--absent"), "{told}");
                let import = bench.named("import fixture_nest.a");
                let absent = bench.named("state resolve fixture_nest.a --absent");
                assert!(told.contains(&import) && told.contains(&absent), "{told}");
                assert_eq!(bench.objects().len(), usize::from(exists), "nothing was made meanwhile");
                match exists {
                    true => bench.done(&format!("{import} a --yes")),
                    false => bench.done(&format!("{absent} --yes")),
                };
                bench.done("deploy --yes");
                assert_eq!(bench.objects().len(), 1, "{victim} {trouble}");
                assert!(bench.actions().is_empty(), "{:?}", bench.actions());
            }
        }
    }
}

/// APPLY-11
#[test]
fn interrupting_a_run_stops_the_provider_and_leaves_nothing_behind() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(&program("thing", "hang"));
        let run = bench.start("deploy --yes");
        // It is in the apply, or about to be: then it hears of the interruption all the same.
        while !bench.processes().iter().any(|command| command.contains("terraform-provider")) {
            std::thread::yield_now();
        }
        let own = Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
        kill_process(own, Signal::INT).unwrap();
        let told = run.wait_with_output().unwrap();
        let words = unfolded(&String::from_utf8_lossy(&told.stderr));
        assert!(matches!(told.status.code(), Some(130 | 1) | None), "{:?}: {words}", told.status);
        bench.left_alone();
        assert!(bench.objects().is_empty());
    }
}
