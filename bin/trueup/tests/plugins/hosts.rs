//! Hosts of plugins: what is answered when we are gone is not lost, and a plugin that is there already is used again.

use rustix::process::{Pid, Signal, kill_process};

use crate::plugins::bench::{Bench, versions};

const STAYING: [(&str, &str); 1] = [("TRUEUP_PLUGIN_STAY", "60")];

fn program(kind: &str) -> String {
    format!("resource \"fixture_{kind}\" \"a\" {{\n  name = \"a\"\n  trouble = \"wait-after\"\n}}\n")
}

/// Deploys until the provider has made the object, kills us, and lets the provider answer.
fn killed_before_the_answer(bench: &Bench) {
    let (reached, go) = (bench.pipe("reached"), bench.pipe("go"));
    let mut command = bench.command("deploy --yes");
    let mut run = command.env("TRUEUP_PLUGIN_GRACE", "60").spawn().unwrap();
    assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
    kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
    run.wait().unwrap();
    std::fs::write(go, "go\n").unwrap();
}

/// CRASH-1: nothing but the answer tells what came of it, and the answer is there.
#[test]
fn the_answer_to_a_create_outlives_the_run_that_asked_for_it() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(&program("nest"));
        killed_before_the_answer(&bench);
        bench.done("deploy --yes");
        assert_eq!(bench.objects().len(), 1);
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        assert_eq!(bench.kept_answers(), 0, "what is recorded is kept no longer");
        bench.done("destroy --yes");
        assert!(bench.objects().is_empty());
        assert_eq!(bench.kept_answers(), 0);
    }
}

/// A second run comes while the change of the first is still under way: it waits for its end.
#[test]
fn what_is_under_way_is_waited_for() {
    let bench = Bench::new(6);
    bench.write_configured(&program("nest"));
    let (reached, go) = (bench.pipe("reached"), bench.pipe("go"));
    let mut command = bench.command("deploy --yes");
    let mut run = command.env("TRUEUP_PLUGIN_GRACE", "60").spawn().unwrap();
    assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
    kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
    run.wait().unwrap();
    let second = bench.start("deploy --yes");
    std::fs::write(go, "go\n").unwrap();
    let told = second.wait_with_output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    bench.left_alone();
    assert_eq!(bench.objects().len(), 1);
    assert!(bench.actions().is_empty());
}

/// The same binary, environment and configuration: the same process.
#[test]
fn a_plugin_that_is_there_already_is_used_again() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
        let run = |arguments: &str, stay: &[(&str, &str)]| {
            let told = bench.command(arguments).envs(stay.iter().copied()).output().unwrap();
            assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        };
        run("deploy --yes", &STAYING);
        let first = bench.pids();
        assert_eq!(first.len(), 2, "a host and its plugin should stay: {first:?}");
        run("plan", &STAYING);
        assert_eq!(bench.pids(), first, "they should be used again");
        // Another configuration is another plugin.
        bench.write("provider \"fixture\" {\n  folder = \"elsewhere\"\n}\n\nresource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
        run("plan", &STAYING);
        assert_eq!(bench.pids().len(), 4, "{:?}", bench.pids());
        bench.end_all();
        // Dead ones are in nobody's way.
        bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
        bench.done("destroy --yes");
    }
}

/// Large providers take seconds to judge their configuration: nobody waits for the same answer twice.
#[test]
fn a_plugin_that_is_configured_is_not_asked_again_what_it_thinks_of_it() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write(
            "provider \"fixture\" {\n  folder = \"objects\"\n  trouble = \"judge-once\"\n}\n\nresource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n",
        );
        for _ in 0..2 {
            let told = bench.command("plan").envs(STAYING).output().unwrap();
            assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        }
        bench.end_all();
    }
}

/// Whoever puts right what was wrong, such as credentials in a file, must not hear the old complaint again.
#[test]
fn a_plugin_that_did_not_take_its_configuration_does_not_stay() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write(
            "provider \"fixture\" {\n  folder = \"objects\"\n  trouble = \"fail\"\n}\n\nresource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n",
        );
        let told = bench.command("plan").envs(STAYING).output().unwrap();
        let words = String::from_utf8_lossy(&told.stderr);
        assert!(!told.status.success() && words.contains("As was asked for"), "{words}");
        bench.left_alone();
    }
}
