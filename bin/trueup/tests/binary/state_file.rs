//! A state that cannot be used is left alone, and a stage that someone else holds is waited for.

use trueup_cli_harness::{Folder, Told};

use crate::binary::gate::{open, pipe};
use crate::binary::stack;

const ONE_FILE: &str = "resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = \"a\"\n}\n";

/// Every command that needs the state says the same of it, and leaves it as it is.
fn refused(bytes: &[u8]) -> String {
    let folder = stack(ONE_FILE);
    folder.done("deploy --stage t --yes");
    folder.write("main.tf", &ONE_FILE.replace("content = \"a\"", "content = \"b\""));
    let state = folder.path().join(".trueup/state.db");
    std::fs::write(&state, bytes).unwrap();
    let plan = folder.run("plan");
    for command in
        ["deploy --yes", "destroy --yes", "drift", "state list", "output", "history", "show std_file.a"]
    {
        let told = folder.run(command);
        assert_eq!((told.code, &told.err), (1, &plan.err), "{command}");
    }
    for command in ["plan --json", "validate --stage t --json"] {
        assert_eq!(reason(&folder.run(command)), "state-damaged", "{command}");
    }
    assert_eq!((std::fs::read(&state).unwrap().as_slice(), folder.read("a.txt").as_str()), (bytes, "a"));
    said(&folder, &plan.err)
}

/// The reason that machines are told.
fn reason(told: &Told) -> String {
    let json: serde_json::Value = serde_json::from_str(told.out.lines().last().unwrap()).unwrap();
    assert_eq!((told.code, &json["kind"]), (1, &"error".into()), "{json}");
    json["reason"].as_str().unwrap_or_default().to_owned()
}

fn said(folder: &Folder, text: &str) -> String {
    // Whatever the length of the folder's name, the lines break elsewhere.
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(folder.path().to_str().unwrap(), "FOLDER").replace(" help:", "\nhelp:")
}

/// CRASH-8
#[test]
fn a_damaged_state_is_told_and_left_alone() {
    insta::assert_snapshot!("damaged_state", refused(&b"no database at all\n".repeat(1_000)));
}

/// CRASH-8
#[test]
fn an_empty_state_is_told_and_left_alone() {
    insta::assert_snapshot!("empty_state", refused(b""));
}

/// STATE-4, STATE-12
#[test]
fn a_second_deploy_in_the_folder_waits_or_fails_at_once() {
    let folder = stack(
        r#"
        resource "std_exec" "slow" {
          create = ["sh", "-c", "echo here > reached; cat gate"]
        }
        "#,
    );
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    let first = folder.start("deploy --stage t --yes");
    assert_eq!(folder.read("reached"), "here\n");
    let second = folder.run("deploy --stage t --yes --no-wait");
    assert_eq!(second.code, 1);
    assert!(second.err.contains("the stage is held by"), "{second:?}");
    assert!(second.err.contains("help: "), "{second:?}");
    assert_eq!(reason(&folder.run("deploy --stage t --yes --no-wait --json")), "held");
    // Plans wait for nobody (STATE-5), and nobody knows yet what becomes of this one.
    assert!(folder.run("plan").err.contains("make sure no other run is creating it"));
    open(&folder);
    assert_eq!(first.ended().code, 0);
    assert!(folder.done("deploy --stage t --yes --no-wait").err.contains("1 unchanged"));
}
