//! How failures of a run look to whoever wrote the text.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use std::process::Command;

/// SECRET-1: the declaration is shown, the values on its line are not.
#[test]
fn a_failure_shows_the_declaration_and_not_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let text = "resource \"std_exec\" \"x\" { create = [\"false\", \"hunter2\"] }\n";
    std::fs::write(folder.path().join("main.tf"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(["deploy", "--stage", "t", "--yes"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let shown = told.lines().find(|line| line.starts_with("1 |")).unwrap_or_else(|| panic!("{told}"));
    assert!(shown.starts_with("1 | resource \"std_exec\" \"x\" { create = "), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}
