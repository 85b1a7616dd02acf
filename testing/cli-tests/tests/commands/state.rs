//! STATE-9: what is recorded, changed by hand.

use trueup_cli_harness::Folder;

use crate::commands::lines;

fn deployed() -> Folder {
    let folder = lines(
        "stack site\ntest_file r10 path=a.txt content=hello\ntest_file r2 path=b.txt content=@test_file.r10.size\n",
    );
    folder.done("deploy --stage t --yes");
    folder
}

#[test]
fn records_are_listed_in_natural_order() {
    let folder = deployed();
    assert_eq!(folder.done("state list").out, "test_file.r2\ntest_file.r10\n");
    assert!(folder.done("state show test_file.r2").out.contains("journal: create-begun, "));
}

/// STATE-9: without approval nothing is changed.
#[test]
fn every_change_asks_first() {
    let folder = deployed();
    folder.done("state export --to copy.json");
    let before = folder.done("state export").out;
    for change in ["mv test_file.r10 test_file.c", "rm test_file.r10", "import copy.json --stage other"] {
        let told = folder.run(&format!("state {change}"));
        assert!(told.code == 1 && told.err.contains("--yes"), "{change}: {told:?}");
    }
    assert_eq!(folder.done("state export").out, before);
    assert!(folder.run("state list --stage other").err.contains("has no stage `other`"));
}

/// STATE-9: what is changed by hand is in the journal too.
#[test]
fn every_change_is_journalled() {
    let folder = deployed();
    let journal = |of: &str| {
        let shown = folder.done(&format!("state show {of}")).out;
        let line = shown.lines().find_map(|line| line.trim().strip_prefix("journal: ").map(str::to_owned));
        line.unwrap_or_else(|| panic!("{shown}"))
    };
    let before = journal("test_file.r10");
    folder.done("state mv test_file.r10 test_file.c --yes");
    assert_eq!(journal("test_file.c"), format!("{before}, moved"));
}

#[test]
fn what_is_moved_by_hand_is_what_the_program_then_calls_it() {
    let folder = deployed();
    let told = folder.done("state mv test_file.r10 test_file.c --yes").out;
    assert!(told.contains("test_file.r10 becomes test_file.c"), "{told}");
    folder.write(
        "stack.lines",
        "stack site\ntest_file c path=a.txt content=hello\ntest_file r2 path=b.txt content=@test_file.c.size\n",
    );
    assert!(folder.done("plan").out.contains("No changes"));
    assert!(folder.run("state mv test_file.zz test_file.y --yes").err.contains("nothing is recorded"));
}

#[test]
fn what_is_forgotten_stays() {
    let folder = deployed();
    folder.done("state rm test_file.r2 --yes");
    assert!(folder.has("b.txt"));
    assert_eq!(folder.done("state list").out, "test_file.r10\n");
}

#[test]
fn only_an_unknown_outcome_is_resolved() {
    let folder = deployed();
    let told = folder.run("state resolve test_file.r2 --absent --yes");
    assert!(told.code == 1 && told.err.contains("unknown outcome"), "{told:?}");
    assert_eq!(folder.run("state resolve test_file.r2").code, 1);
}

#[test]
fn an_export_can_be_imported_into_another_stage() {
    let folder = deployed();
    folder.done("state export --to copy.json");
    assert!(folder.run("state export --to copy.json").err.contains("cannot write"));
    assert!(folder.run("state import copy.json --yes").err.contains("recorded in stage t already"));
    folder.done("state import copy.json --stage other --yes");
    assert_eq!(folder.done("state list --stage other").out, "test_file.r2\ntest_file.r10\n");
    assert!(folder.done("plan --stage other").out.contains("No changes"));
    let mut older: serde_json::Value = serde_json::from_str(&folder.read("copy.json")).unwrap();
    older["version"] = 1.into();
    folder.write("older.json", &older.to_string());
    folder.done("state import older.json --stage from_older --yes");
    assert!(folder.done("plan --stage from_older").out.contains("No changes"));
    folder.write("copy.json", "{}");
    assert!(folder.run("state import copy.json --stage third --yes").err.contains("not an export"));
    folder.write("copy.json", r#"{ "kind": "state", "version": 99 }"#);
    assert!(folder.run("state import copy.json --stage third --yes").err.contains("version 99"));
}

/// STATE-4
#[test]
fn unlock_works_on_the_named_holder_alone() {
    let folder = deployed();
    assert_eq!(folder.run("unlock abc").code, 1);
    let told = folder.run("unlock abc --yes");
    assert!(told.code == 1 && told.err.contains("does not hold the lease"), "{told:?}");
}
