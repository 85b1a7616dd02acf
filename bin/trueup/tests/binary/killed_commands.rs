//! Runs that are killed while their commands are at work: the number of objects is the judge.
#![allow(clippy::disallowed_methods, reason = "a test that waits for another process gives up at some time")]

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use trueup_cli_harness::Folder;
use trueup_test_servers::sized;

use crate::binary::gate::pipe;
use crate::binary::stack;

/// Longer than anything that ends takes to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tells its process id, waits at the gate, and then adds an object to a list. Only in the first run does it wait.
const MAKE: &str = r#"
    cat > /dev/null
    if test ! -e second; then echo $$ > reached; cat gate > /dev/null; fi
    echo $TRUEUP_NAME >> objects
    echo '{}'
"#;
const FIND: &str = "cat > /dev/null; if grep -qx $TRUEUP_NAME objects 2> /dev/null; then echo '{}'; fi";

/// A stack with one object that `make.sh` makes.
fn slow(make: &str) -> Folder {
    let folder = stack(
        r#"
        resource "std_exec" "slow" {
          create = ["sh", "make.sh"]
          lookup = ["sh", "find.sh"]
          # What is listed is whole.
          update = ["true"]
          # A list in a file is never late.
          consistency_window = 0
        }
        "#,
    );
    folder.write("make.sh", make);
    folder.write("find.sh", FIND);
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder
}

/// Deploys until the command waits at the gate, kills the program, and gives the command's process.
fn killed(folder: &Folder) -> String {
    let run = folder.start("deploy --stage t --yes");
    let process = folder.read("reached").trim().to_owned();
    run.kill();
    folder.write("second", "");
    process
}

fn objects(folder: &Folder) -> Vec<String> {
    let listed = std::fs::read_to_string(folder.path().join("objects")).unwrap_or_default();
    listed.lines().map(str::to_owned).collect()
}

/// Lets a command go on that still waits at the gate, and waits until it is over.
fn let_go(folder: &Folder, process: &str) {
    // It waits for whoever reads; if nobody does, it is ended in the end.
    let mut opener =
        Command::new("sh").args(["-c", "echo > gate"]).current_dir(folder.path()).spawn().unwrap();
    wait_until(|| !is_running(process), "the command ends");
    let _ = opener.kill();
    opener.wait().unwrap();
}

/// Whether a process runs; one that nobody has reaped yet does not.
fn is_running(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

/// CRASH-7, CRASH-9, INV-2: the command is gone before the next run looks, so that it makes nothing beside it.
#[test]
fn a_command_ends_with_its_killed_run() {
    let folder = slow(MAKE);
    let process = killed(&folder);
    let told = folder.done("deploy --yes");
    assert!(!is_running(&process), "{told:?}");
    let_go(&folder, &process);
    assert_eq!(objects(&folder).len(), 1, "{told:?}");
    assert!(folder.done("plan").out.contains("No changes"));
}

/// CRASH-9: whatever the command does about it, and with all that it started.
#[test]
fn a_command_that_ignores_its_end_is_killed_with_what_it_started() {
    let stubborn = "trap '' TERM; if test ! -e second; then tail -f /dev/null & echo $! > child; fi";
    let folder = slow(&format!("{stubborn}\n{MAKE}"));
    let process = killed(&folder);
    let told = folder.done("deploy --yes");
    assert!(told.err.contains("Waiting until the commands of a killed run have ended"), "{told:?}");
    assert!(!is_running(&process) && !is_running(folder.read("child").trim()), "{told:?}");
    let_go(&folder, &process);
    assert_eq!(objects(&folder).len(), 1, "{told:?}");
}

/// CRASH-1, RECONCILE-2: whether the killed command finished its object, nobody knows. Without `update` it is replaced.
#[test]
fn a_half_made_object_of_a_killed_run_is_replaced() {
    let folder = stack(
        r#"
        resource "std_exec" "slow" {
          create = ["sh", "make.sh"]
          lookup = ["sh", "find.sh"]
          delete = ["sh", "-c", "rm object; echo deleted >> calls"]
          consistency_window = 0
        }
        "#,
    );
    let make = r"
        cat > /dev/null; echo half > object
        if test ! -e second; then echo $$ > reached; cat gate > /dev/null; fi
        echo whole > object; echo created >> calls; echo '{}'
    ";
    folder.write("make.sh", make);
    folder.write("find.sh", "cat > /dev/null; if test -e object; then echo '{}'; fi");
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    killed(&folder);
    let planned = folder.done("plan").out;
    assert!(
        planned.contains("1 to replace") && planned.contains("an earlier run did not finish it"),
        "{planned}"
    );
    let told = folder.done("deploy --yes");
    assert!(told.err.contains("std_exec.slow replaced"), "{told:?}");
    assert_eq!(
        (folder.read("object"), folder.read("calls")),
        ("whole\n".to_owned(), "deleted\ncreated\n".to_owned())
    );
    assert!(folder.done("plan").out.contains("No changes"));
}

/// A stack with one object that nothing can find, and whose command ignores its end.
fn blind() -> Folder {
    let folder = stack("resource \"std_exec\" \"slow\" { create = [\"sh\", \"make.sh\"] }");
    folder.write("make.sh", &format!("trap '' TERM\n{MAKE}"));
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder
}

/// CRASH-1, CRASH-9: before the command is gone, nobody can tell what became of the object.
#[test]
fn a_blind_resource_waits_for_the_command_of_a_killed_run() {
    for command in ["plan", "deploy --yes", "destroy --yes"] {
        let folder = blind();
        let process = killed(&folder);
        let told = folder.run(command);
        assert!(!is_running(&process), "{command}: {told:?}");
        assert_eq!(told.code, 1, "{command}: {told:?}");
        assert!(told.err.contains("--absent"), "{command}: {told:?}");
        assert!(told.err.contains("state resolve std_exec.slow --absent"), "{command}: {told:?}");
        assert!(!told.err.contains("trueup import"), "the type cannot be imported: {command}: {told:?}");
    }
}

/// CRASH-9: what a person said of the object while the command was running is not believed.
#[test]
fn a_create_is_not_resolved_while_its_command_runs() {
    let folder = blind();
    let process = killed(&folder);
    let told = folder.run("state resolve std_exec.slow --absent --yes");
    assert!(!is_running(&process), "{told:?}");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("look for the object again"), "{told:?}");
    folder.done("state resolve std_exec.slow --absent --yes");
    folder.done("deploy --yes");
    assert_eq!(objects(&folder).len(), 1);
}

/// CRASH-9: a service that a finished command left running is nobody's to end.
#[test]
fn what_a_finished_command_left_running_outlives_a_killed_run() {
    let folder = slow(MAKE);
    folder.write(
        "service.tf",
        r#"
        resource "std_exec" "service" {
          create = ["sh", "-c", "tail -f /dev/null > /dev/null 2>&1 & echo $! > service; echo '{}'"]
        }
        "#,
    );
    let main = folder.read("main.tf").replace("create", "depends_on = [std_exec.service]\ncreate");
    folder.write("main.tf", &main);
    let process = killed(&folder);
    wait_until(|| !is_running(&process), "the command ends");
    let service = folder.read("service").trim().to_owned();
    assert!(is_running(&service));
    folder.done("deploy --yes");
    assert!(is_running(&service));
    assert_eq!(objects(&folder).len(), 1);
    assert!(Command::new("kill").arg(&service).status().unwrap().success());
}

/// CRASH-9: locks go with the run that made them.
#[test]
fn a_run_that_ends_by_itself_leaves_no_locks() {
    let folder = slow(MAKE);
    folder.write("second", "");
    folder.done("deploy --stage t --yes");
    folder.done("destroy --yes");
    assert!(!folder.has(".trueup/commands"));
}

/// CRASH-7, CRASH-9, INV-2: kills at any moment of many commands.
#[test]
fn runs_killed_among_slow_commands_make_each_object_once() {
    for trial in 0..sized(4, 80) {
        let folder = stack(
            r#"
            resource "std_exec" "slow" {
              count  = 8
              create = ["sh", "make.sh"]
              lookup = ["sh", "find.sh"]
              update = ["true"]
              input  = count.index
              consistency_window = 0
            }
            "#,
        );
        let make =
            "cat > /dev/null; echo >> begun; sleep 0.1; echo $TRUEUP_NAME >> objects; sleep 0.1; echo '{}'";
        folder.write("make.sh", make);
        folder.write("find.sh", FIND);
        for kill in 0..=trial % 2 {
            let begun = || std::fs::read(folder.path().join("begun")).map_or(0, |it| it.len());
            let wanted = begun() + 1 + (trial * 3 + kill) % 8;
            let run = folder.start("deploy --stage t --yes");
            wait_until(|| begun() >= wanted.min(8 * (kill + 1)) || objects(&folder).len() >= 8, "it begins");
            run.kill();
        }
        let told = folder.done("deploy --stage t --yes");
        let made = objects(&folder);
        let distinct: BTreeSet<&String> = made.iter().collect();
        assert_eq!((made.len(), distinct.len()), (8, 8), "trial {trial}: {told:?}");
    }
}
