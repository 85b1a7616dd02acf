//! Runs that are interrupted at every stage, by each of the signals that interrupt: what they say then is true.

use trueup_cli_harness::keys::CONTROL_C;
use trueup_cli_harness::{Folder, Screen};

use crate::binary::gate::{open, pipe};
use crate::binary::stack;

/// All that interrupt a command.
const SIGNALS: [&str; 3] = ["INT", "TERM", "HUP"];

/// A server that refuses connections, resources of all kinds that need it, and one that depends on them.
const REFUSED: &str = r#"
    resource "std_http" "blind" {
      create { url = "http://127.0.0.1:1/things" }
    }
    resource "std_http" "by_token" {
      recover = "token"
      create { url = "http://127.0.0.1:1/things" }
    }
    resource "std_file" "after" {
      path    = "after.txt"
      content = std_http.blind.name
    }
"#;

/// A resource whose create tells that it was reached and waits at the gate, one beside it and one that depends on it.
const GATED: &str = r#"
    resource "std_exec" "slow" {
      recover = "token"
      create = ["sh", "-c", "cat > /dev/null; echo made > reached; cat gate"]
      delete = ["sh", "-c", "cat > /dev/null; echo gone > reached; cat gate > /dev/null"]
    }
    resource "std_file" "beside" {
      path    = "beside.txt"
      content = "beside"
    }
    resource "std_file" "after" {
      path    = "after.txt"
      content = std_exec.slow.name
    }
    resource "std_file" "found" {
      path    = "found.txt"
      content = "found"
    }
"#;

fn gated() -> Folder {
    let folder = stack(GATED);
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder
}

/// The stack with all that is in it.
fn deployed() -> Folder {
    let folder = gated();
    let run = folder.start("deploy --yes --stage t");
    assert_eq!(folder.read("reached"), "made\n");
    open(&folder);
    assert_eq!(run.ended().code, 0);
    folder
}

/// APPLY-11, RETRY-9: no further attempt is made, and nothing is recorded of what was never sent.
#[test]
fn an_interruption_during_retries_ends_them() {
    for signal in SIGNALS {
        let folder = stack(REFUSED);
        let mut screen = Screen::run(&folder, "deploy --yes --stage t");
        screen.resize(60, 80);
        screen.wait_for("retry 1/10 in ");
        screen.signal(signal);
        screen.wait_for("Stopping: nothing is in flight.");
        screen.wait_for("2 failed, 1 not started,");
        screen.wait_for("Running again is safe: trueup deploy --yes --stage t");
        assert_eq!(screen.ended(), 130, "{signal}");
        let listed = folder.done("state list");
        assert!(listed.err.contains("Nothing is recorded"), "{signal}: {listed:?}");
        let plan = folder.done("plan");
        assert!(plan.out.contains("Plan: 3 to create"), "{plan:?}");
        assert!(!plan.out.contains("did not finish"), "{plan:?}");
    }
}

/// RETRY-9: the same for a run that made all its attempts.
#[test]
fn what_was_never_sent_is_not_recorded() {
    let folder = stack(REFUSED);
    let told = folder.run("deploy --yes --stage t --retry 1");
    assert_eq!(told.code, 1, "{told:?}");
    let message =
        "error: cannot create std_http.by_token: POST http://127.0.0.1:1/things cannot\n       be sent: ";
    assert!(told.err.contains(message), "{told:?}");
    assert!(folder.done("state list").err.contains("Nothing is recorded"), "{told:?}");
    assert!(!told.err.contains("retryable") && !told.err.contains("--absent"), "{told:?}");
}

/// APPLY-11: an attempt in flight is awaited, and its failure is not followed by another one.
#[test]
fn an_attempt_in_flight_is_awaited_and_not_repeated() {
    let folder = stack(
        r#"
        resource "std_exec" "slow" {
          create  = ["sh", "-c", "cat > /dev/null; echo x >> calls; echo made > reached; cat gate > /dev/null; exit 75"]
          recover = "token"
        }
        "#,
    );
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    let mut run = folder.start("deploy --yes --stage t");
    assert_eq!(folder.read("reached"), "made\n");
    run.signal("INT");
    run.wait_for("Finishing ");
    open(&folder);
    let told = run.ended();
    assert_eq!((told.code, folder.read("calls").as_str()), (130, "x\n"), "{told:?}");
    assert!(told.err.contains("(not tried again: the run was stopped)"), "{told:?}");
    assert!(told.err.contains("1 failed, 0 done and recorded"), "{told:?}");
}

/// APPLY-11: what is in flight is finished and recorded, what waits for it is not started, and both can be counted on.
#[test]
fn an_interrupted_deploy_tells_what_was_not_started() {
    for signal in SIGNALS {
        let folder = gated();
        let mut run = folder.start("deploy --yes --stage t");
        assert_eq!(folder.read("reached"), "made\n");
        run.signal(signal);
        run.wait_for("Finishing ");
        open(&folder);
        let told = run.ended();
        assert_eq!(told.code, 130, "{signal}: {told:?}");
        assert!(told.err.contains("std_exec.slow ("), "{told:?}");
        assert!(told.err.contains("Again to stop waiting."), "{told:?}");
        assert!(told.err.contains("1 not started, 3 done and recorded"), "{told:?}");
        assert!(folder.done("plan").out.contains("Plan: 1 to create"), "{told:?}");
    }
}

/// APPLY-11
#[test]
fn an_interrupted_destroy_ends_after_what_is_in_flight() {
    for signal in SIGNALS {
        let folder = deployed();
        let mut run = folder.start("destroy --yes");
        assert_eq!(folder.read("reached"), "gone\n");
        run.signal(signal);
        run.wait_for("Finishing ");
        open(&folder);
        let told = run.ended();
        assert_eq!(told.code, 130, "{signal}: {told:?}");
        assert!(told.err.contains("std_exec.slow ("), "{told:?}");
        assert!(told.err.contains("Again to stop waiting."), "{told:?}");
        assert!(told.err.contains("4 done and recorded"), "{told:?}");
        assert!(folder.done("state list").err.contains("Nothing is recorded"), "{told:?}");
    }
}

/// APPLY-11, CRASH-1: of what a second interruption leaves in flight, the command says who has to look for it.
#[test]
fn an_abandoned_create_that_nothing_can_find_is_named() {
    let folder = gated();
    folder.write("main.tf", &GATED.replace("\"token\"", "\"blind\""));
    let mut screen = Screen::run(&folder, "deploy --yes --stage t");
    assert_eq!(folder.read("reached"), "made\n");
    screen.wait_for("2/4  1 running");
    screen.press(CONTROL_C);
    screen.wait_for("Again to stop waiting.");
    screen.press(CONTROL_C);
    screen.wait_for("1 not finished, 1 not started,");
    screen.wait_for("warning: it is unknown whether std_exec.slow was created");
    screen.wait_for("`trueup state resolve std_exec.slow --absent`");
    screen.wait_for("First find out what became of std_exec.slow.");
    screen.wait_for("Then run again: trueup deploy --yes --stage t");
    assert_eq!(screen.ended(), 130);
    assert!(!screen.text().contains("Running again is safe"), "{}", screen.text());
}

/// APPLY-11, CRASH-1: the JSON of the run names them, too.
#[test]
fn an_abandoned_create_that_nothing_can_find_is_in_the_json_of_the_run() {
    let folder = gated();
    folder.write("main.tf", &GATED.replace("\"token\"", "\"blind\""));
    let mut run = folder.start("deploy --yes --stage t --json");
    assert_eq!(folder.read("reached"), "made\n");
    run.signal("INT");
    run.wait_for("Finishing ");
    run.signal("INT");
    let told = run.ended();
    let run: serde_json::Value = serde_json::from_str(told.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (told.code, &run["kind"], &run["interrupted"]),
        (130, &"run".into(), &true.into()),
        "{told:?}"
    );
    let [unresolved] = &run["unresolved"].as_array().unwrap()[..] else { panic!("{run}") };
    assert_eq!((&unresolved["subject"], &unresolved["file"]), (&"std_exec.slow".into(), &"main.tf".into()));
    let hints = unresolved["hints"].to_string();
    assert!(hints.contains("`trueup state resolve std_exec.slow --absent`"), "{hints}");
}

/// APPLY-11: while planning, and with nothing recorded.
#[test]
fn an_interrupted_plan_changes_nothing() {
    for (signal, command) in
        SIGNALS.into_iter().flat_map(|signal| [(signal, "plan"), (signal, "deploy --yes")])
    {
        let folder = stack(
            r#"
            resource "std_exec" "slow" {
              create = ["echo", "{}"]
              lookup = ["sh", "-c", "cat > /dev/null; echo looking > reached; cat gate"]
              update = ["true"]
            }
            "#,
        );
        pipe(&folder, "gate");
        pipe(&folder, "reached");
        let run = folder.start(&format!("{command} --stage t"));
        assert_eq!(folder.read("reached"), "looking\n");
        run.signal(signal);
        let told = run.ended();
        assert_eq!(
            (told.code, told.err.trim()),
            (130, "Interrupted; nothing was changed."),
            "{signal} {command}"
        );
    }
}

/// The commands that ask for approval, and the question of each.
const ASKING: [(&str, &str); 4] = [
    ("deploy", "Deploy to t?"),
    ("destroy", "Destroy t?"),
    ("import std_file.found found.txt", "Import into t?"),
    ("drift --repair", "Repair drift in t?"),
];

/// The stack with one file that drifted, one that is to be made, and one that exists and is not recorded.
fn changed() -> Folder {
    let folder = deployed();
    folder.write("beside.txt", "changed");
    folder.done("state rm std_file.found --yes");
    folder
}

/// APPLY-11
#[test]
fn an_interruption_at_the_prompt_changes_nothing() {
    for (command, question) in ASKING {
        let folder = changed();
        for signal in SIGNALS {
            let mut screen = Screen::run(&folder, command);
            screen.wait_for(question);
            screen.signal(signal);
            screen.wait_for("Interrupted; nothing was changed.");
            assert_eq!(screen.ended(), 130, "{signal} {command}");
        }
        assert_eq!(folder.read("beside.txt"), "changed");
    }
}

/// APPLY-11, STATE-4
#[test]
fn an_interruption_while_waiting_for_the_lease_changes_nothing() {
    let folder = changed();
    // The holder replaces what is slow, and waits at the gate.
    let program = GATED.replace("cat gate\"]\n      delete", "cat gate; true\"]\n      delete");
    assert_ne!(program, GATED);
    folder.write("main.tf", &program);
    let holder = folder.start("deploy --yes --target std_exec.slow");
    assert!(!folder.read("reached").is_empty());
    folder.write("main.tf", GATED);
    for command in
        ["drift --repair --yes", "import std_file.found found.txt --yes", "state rm std_file.beside --yes"]
    {
        for signal in SIGNALS {
            let mut screen = Screen::run(&folder, command);
            screen.wait_for("Waiting: stage t is held by");
            screen.signal(signal);
            screen.wait_for("Interrupted; nothing was changed.");
            assert_eq!(screen.ended(), 130, "{signal} {command}");
        }
    }
    assert_eq!(folder.read("beside.txt"), "changed");
    holder.kill();
}
