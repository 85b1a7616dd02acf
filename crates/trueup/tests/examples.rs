//! The examples that stand outside the workspace. `cargo xtask soak` builds them as crates of their own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use trueup_cli_harness::rustc;

#[test]
fn the_example_of_a_resource_type_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("file");
    let mut compiler = rustc(Path::new(env!("CARGO_MANIFEST_DIR")), &["conformance::Kit"]);
    let compiled = compiler.arg("../../examples/file/src/main.rs").arg("-o").arg(&program).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("my_file.it   deleted"), "{said}");
}
