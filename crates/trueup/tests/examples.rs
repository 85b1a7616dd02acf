//! The examples that stand outside the workspace. `cargo xtask soak` builds them as crates of their own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

use crate::rustc::rustc;

#[test]
fn the_example_of_a_resource_type_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("file");
    let compiled = rustc().arg("../../examples/file/src/main.rs").arg("-o").arg(&program).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("my_file.it   deleted"), "{said}");
}
