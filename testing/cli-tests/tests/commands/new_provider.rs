//! The crate that `new provider` writes: it builds without a warning, and its tests pass as they are written.

use std::path::{Path, PathBuf};
use std::process::Command;

use trueup_cli_harness::{Folder, rustc};

use crate::commands::team;

/// Runs a command that must succeed.
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}:\n{told}");
    told
}

/// The compiler in the new crate, as cargo would call it.
fn compiler(folder: &Path) -> Command {
    let mut command = rustc(folder, &["lang::cli", "conformance::Kit"]);
    command.arg("-Dwarnings").env("CARGO_MANIFEST_DIR", folder);
    command.env("CARGO_PKG_NAME", "acme").env("CARGO_PKG_VERSION", "0.1.0");
    command
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn a_new_provider_builds_and_passes_its_tests() {
    let folder = team();
    let told = folder.done(&format!("new provider acme --source {}", checkout().display()));
    assert!(told.err.contains("Next: cd acme && cargo test"), "{told:?}");
    let folder = folder.path().join("acme");
    assert!(std::fs::read_to_string(folder.join("Cargo.toml")).unwrap().contains("path = \""));
    for file in ["src/lib.rs", "src/main.rs", "tests/conformance.rs", "tests/example.rs"] {
        succeeds(Command::new("rustfmt").args(["--check", "--edition=2024", file]).current_dir(&folder));
    }
    let built = folder.join("built");
    succeeds(compiler(&folder).args([
        "--crate-type=lib",
        "--crate-name=acme",
        "src/lib.rs",
        "--out-dir=built",
    ]));
    let own = format!("--extern=acme={}", built.join("libacme.rlib").display());
    succeeds(compiler(&folder).args(["src/main.rs", "-obuilt/acme", &own]));
    for test in ["conformance", "example"] {
        let (source, output) = (format!("tests/{test}.rs"), format!("-obuilt/{test}"));
        let mut test_compiler = compiler(&folder);
        test_compiler.env("CARGO_BIN_EXE_acme", built.join("acme"));
        succeeds(test_compiler.args(["--test", &source, &output, &own]));
        let told = succeeds(Command::new(built.join(test)).current_dir(&folder));
        assert!(told.contains("test result: ok") && !told.contains("0 passed"), "{told}");
    }
}

#[test]
fn a_new_provider_needs_a_name_and_an_empty_place() {
    let folder = team();
    for name in ["Acme", "std", "../acme"] {
        assert_eq!(folder.run(&format!("new provider {name}")).code, 1, "{name}");
    }
    let told = folder.run("new provider acme --source .");
    assert!(told.err.contains("is no checkout of trueup") && !folder.has("acme"), "{told:?}");
    folder.done("new provider acme");
    assert!(folder.read("acme/Cargo.toml").contains("version = \"0.1.0\", features"));
    assert!(folder.run("new provider acme").err.contains("exists already"));
    // A stack file can be laid out as it is.
    let example = Folder::of(folder.binary());
    example.write("main.tu.hcl", &folder.read("acme/example/main.tu.hcl"));
    example.done("fmt --check");
}
