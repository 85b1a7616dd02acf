//! Stages: those that there are, those that there are not, and the one that is remembered.

use serde_json::json;
use trueup_cli_harness::Folder;

use crate::commands::{lines, no_lines};

fn shop() -> Folder {
    lines("stack shop\ntest_file a path=a.txt content=hello\n")
}

/// Deploys the same to a stage, with a file of its own.
fn deploy(folder: &Folder, stage: &str) {
    folder.write("stack.lines", &format!("stack shop\ntest_file a path={stage}.txt content=hello\n"));
    folder.done(&format!("deploy --stage {stage} --yes"));
}

fn remembered(folder: &Folder) -> String {
    folder.json("config --json")["settings"]["stage"]["value"].as_str().unwrap().to_owned()
}

/// STATE-20: a slip of the pen is refused by every command about what is recorded, with what was meant, and changes
/// nothing about where the next command goes.
#[test]
fn a_mistyped_stage_is_refused_and_not_remembered() {
    let folder = shop();
    deploy(&folder, "dev");
    deploy(&folder, "prod");
    let commands = [
        "destroy --yes",
        "plan --destroy",
        "drift",
        "drift --repair --yes",
        "deploy --refresh-only --yes",
        "plan --refresh-only",
        "output",
        "show test_file.a",
        "why test_file.a",
        "history",
        "history --prune 1",
        "state list",
        "state show test_file.a",
        "state mv test_file.a test_file.b --yes",
        "state rm test_file.a --yes",
        "state unprotect test_file.a --yes",
        "state export",
        "state rekey --yes",
        "unlock abc --yes",
    ];
    for command in commands {
        for (stage, environment) in [("--stage prdo", ""), ("", "prdo")] {
            let told = folder.run_with(&format!("{command} {stage}"), &[("TRUEUP_STAGE", environment)]);
            assert_eq!(told.code, 1, "{command}: {told:?}");
            for part in [
                "shop has no stage `prdo` in .trueup/state.db",
                "did you mean `prod`?",
                "it has `dev`, `prod`",
            ] {
                assert!(told.err.contains(part), "{command}: {told:?}");
            }
        }
    }
    assert_eq!(remembered(&folder), "prod");
    assert_eq!(folder.json("stage list --json")["stages"].as_array().unwrap().len(), 2);
    assert!(folder.has("prod.txt"));
}

/// STATE-20: somebody who never named a stage is told of those that there are; where there are none, nothing is wrong.
#[test]
fn a_stage_that_nobody_named_is_empty_or_unknown() {
    let folder = shop();
    assert!(folder.done("state list").err.contains("Nothing is recorded"));
    let told = folder.run("state list --stage prod");
    assert!(told.code == 1 && told.err.contains("nothing is recorded in it yet"), "{told:?}");
    deploy(&folder, "prod");
    std::fs::remove_file(folder.path().join(".trueup/folder.json")).unwrap();
    let told = folder.run("state list");
    assert!(
        told.code == 1 && told.err.contains("it has `prod`") && told.err.contains("is from: default"),
        "{told:?}"
    );
}

/// STATE-20: a stage is remembered once a run has begun to change something in it, whatever becomes of that; not by a
/// command that is refused, not approved or finds nothing to do.
#[test]
fn a_stage_is_remembered_once_something_happens_in_it() {
    let folder = shop();
    deploy(&folder, "dev");
    folder.run("deploy --stage prod");
    assert_eq!(remembered(&folder), "dev", "it was not approved");
    folder.write("stack.lines", "stack shop\ntest_gate g until=open\n");
    let key = folder.path().join(".trueup/key");
    let told = folder.run_with("deploy --stage prod --yes", &[("TRUEUP_KEY_FILE", key.to_str().unwrap())]);
    assert!(told.code == 1 && told.err.contains("name another place"), "{told:?}");
    assert_eq!(remembered(&folder), "dev", "it did not begin");
    let run = folder.start("deploy --stage prod --yes");
    while !folder.run("state list --stage prod").out.contains("create not finished") {}
    run.kill();
    assert_eq!(remembered(&folder), "prod", "something is recorded there, though the run was killed");
    folder.write("stack.lines", "stack shop\n");
    folder.done("deploy --stage bare --yes");
    assert_eq!(remembered(&folder), "bare", "an empty deploy is one too");
}

/// DELETE-6: a destroy of nothing is not told as a destruction.
#[test]
fn destroying_nothing_says_so() {
    let folder = shop();
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("Nothing to destroy") && !told.err.contains("Destroyed"), "{told:?}");
    folder.done("deploy --stage t --yes");
    let more = "stack shop\ntest_file a path=a.txt content=hello\ntest_file b path=b.txt content=new\n";
    folder.write("stack.lines", more);
    let told = folder.run("destroy --yes --target test_file.b");
    assert!(told.code == 1 && told.err.contains("there is no resource test_file.b"), "{told:?}");
    assert!(folder.has("a.txt"));
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("Destroyed shop in t") && told.err.contains("1 deleted"), "{told:?}");
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("Nothing to destroy") && !told.err.contains("Destroyed"), "{told:?}");
}

/// STATE-19
#[test]
fn stages_are_listed_with_what_is_in_them() {
    let folder = shop();
    assert!(folder.done("stage list").err.contains("shop has no stages"));
    deploy(&folder, "prod");
    deploy(&folder, "dev");
    folder.done("destroy --stage dev --yes");
    // A stack of another name in the same state has stages of its own.
    folder.write("other/stack.lines", "stack other\n");
    let state = folder.path().join(".trueup/state.db");
    folder.run_with("-C other deploy --stage x --yes", &[("TRUEUP_STATE", state.to_str().unwrap())]);
    let listed = folder.done("stage list").out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].starts_with("* dev   0 resources") && lines[0].contains("destroy 2"), "{listed}");
    assert!(
        lines[1].starts_with("  prod  1 resource ") && lines[1].ends_with("succeeded, 1 operation"),
        "{listed}"
    );
    assert!(lines.iter().all(|line| line.len() <= 80), "{listed}");
    let told = folder.run_with("stage list --json", &[("CI", "true")]);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["kind"], &told["stack"]), (&json!("stages"), &json!("shop")));
    let prod = &told["stages"][1];
    assert_eq!(
        (&prod["stage"], &prod["records"], &prod["holder"]),
        (&json!("prod"), &json!(1), &json!(null))
    );
    assert_eq!(prod["last_run"]["reason"], "deploy");
}

/// STATE-19
#[test]
fn a_stage_is_deleted_once_nothing_is_recorded_in_it() {
    let folder = shop();
    deploy(&folder, "dev");
    deploy(&folder, "prod");
    let told = folder.run("stage delete prod --yes");
    assert!(told.code == 1 && told.err.contains("stage prod of shop still has 1 resource"), "{told:?}");
    let told = folder.run("stage delete prdo --yes");
    assert!(told.code == 1 && told.err.contains("did you mean `prod`?"), "{told:?}");
    folder.done("destroy --yes");
    let told = folder.run("stage delete prod");
    assert!(told.code == 1 && told.err.contains("--yes"), "{told:?}");
    let told = folder.done("stage delete prod --yes");
    assert!(
        told.err.contains("Deleted stage prod of shop") && told.err.contains("Key files are kept"),
        "{told:?}"
    );
    assert_eq!(folder.json("stage list --json")["stages"].as_array().unwrap().len(), 1);
    assert_eq!(folder.run("history --stage prod").code, 1);
    assert_ne!(remembered(&folder), "prod", "a stage that is gone is not the next one's");
    assert_eq!(folder.done("state list --stage dev").out, "test_file.a\n", "others are left alone");
    deploy(&folder, "prod");
    folder.done("state rm test_file.a --yes");
    let told = folder.json("stage delete prod --yes --json");
    assert_eq!((&told["kind"], &told["stage"]), (&json!("stage-deleted"), &json!("prod")));
    assert!(folder.has("prod.txt"), "objects stay");
    assert!(no_lines().run("stage list").err.contains("there is no stack"));
}

/// STATE-19: who holds a stage is listed, a run or a move to another store; a stage that was moved is not deleted.
#[test]
fn a_stage_says_who_holds_it() {
    let folder = shop();
    folder.write("stack.lines", "stack shop\ntest_gate g until=open\n");
    let run = folder.start("deploy --stage prod --yes");
    while !folder.run("stage list").out.contains("held by") {}
    folder.write("open", "yes");
    assert_eq!(run.ended().code, 0);
    assert!(!folder.done("stage list").out.contains("held by"));
    folder.done("destroy --yes");
    folder.done("state migrate --to new.db --yes");
    assert!(folder.done("stage list").out.contains("moved to "));
    let told = folder.run("stage delete prod --yes");
    assert!(told.code == 1 && told.err.contains("the state was moved to"), "{told:?}");
    let new = [("TRUEUP_STATE", "new.db")];
    assert_eq!(folder.run_with("stage delete prod --yes", &new).code, 0);
    assert_eq!(folder.run_with("stage list", &new).out, "");
}
