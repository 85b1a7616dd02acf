//! The commands on real binaries, real files and a real store.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod deploying;
mod looking;
mod new_provider;
mod own_types;
mod rust_stacks;
mod settings;
mod stages;
mod state;
mod texts;

use trueup_cli_harness::Folder;

/// A folder with this text for the binary `lines`.
fn lines(text: &str) -> Folder {
    let folder = no_lines();
    folder.write("stack.lines", text);
    folder
}

/// An empty folder for the binary `lines`.
fn no_lines() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_lines"))
}

/// An empty folder for the stack in Rust.
fn shelf() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_shelf"))
}

/// An empty folder for `trueup` with own types.
fn team() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_team"))
}

/// OUTPUT-13: every read command answers with JSON, which the harness holds against its schema.
#[test]
fn every_read_command_has_json() {
    let folder = lines("stack site\ntest_file a path=a.txt content=hello\noutput a @test_file.a.path\n");
    folder.done("deploy --yes");
    for command in [
        "plan --json",
        "drift --json",
        "output --json",
        "output a --json",
        "show test_file.a --json",
        "why test_file.a --json",
        "state list --json",
        "state show test_file.a --json",
        "history --json",
        "stage list --json",
        "graph --json",
        "schema --json",
        "schema test_file --json",
        "config --json",
        "validate --json",
        "version --json",
        "console @test_file.a.path --json",
    ] {
        folder.json(command);
    }
}
