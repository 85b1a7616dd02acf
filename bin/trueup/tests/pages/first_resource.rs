//! The chapter on a first resource type: its crate is compiled against the library that these tests were built with, as
//! often as its sources change. `cargo xtask soak` builds `examples/first-resource`, which has the same files, with cargo.

use std::path::Path;
use std::process::Command;

use trueup_cli_harness::rustc;

use super::page::{Page, Part};
use super::{check_with, root};

const PAGE: &str = "docs/first-resource.md";

/// The command as a shell reads it.
fn in_shell(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let quoted = words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// `cargo run` and `cargo test` for a crate without dependencies but ours.
fn cargo() -> String {
    let compiler = in_shell(&rustc(Path::new("."), &["lang::cli", "conformance::Kit"]));
    format!(
        "compile() {{ mkdir -p target; if [ ! -e \"$1\" ] || [ -n \"$(find src -newer \"$1\")\" ]; then \
         CARGO_PKG_VERSION=0.1.0 {compiler} -Dwarnings $2 -o \"$1\" src/main.rs; fi; }}\n\
         cargo() {{ case $1 in \
         run) shift 2; compile target/notes ''; target/notes \"$@\";; \
         test) compile target/tests --test; target/tests;; \
         esac; }}\n"
    )
}

/// CRASH-1: what the page deploys is real, what it kills recovers, and its test passes.
#[test]
fn the_chapter_on_a_first_resource_does_what_it_shows() {
    let screen = check_with(PAGE, &cargo());
    for told in ["the process died", "test result: ok. 1 passed", "deleted"] {
        assert!(screen.contains(told), "{told}:\n{screen}");
    }
}

/// The crate of the page is one that cargo builds.
#[test]
fn the_files_of_the_chapter_are_an_example() {
    let example = root().join("examples/first-resource");
    for part in Page::read(&root().join(PAGE)).parts {
        if let Part::File { name, text } = part
            && name != "late.tu.hcl"
        {
            assert_eq!(std::fs::read_to_string(example.join(&name)).unwrap(), text, "{name}");
        }
    }
}

/// The type does what one does in Go, with fewer lines: declarations, the four operations, a plan hook and registration.
#[test]
fn the_type_of_the_chapter_is_short() {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let start = page.find("/// A text file.").unwrap();
    let end = page.find("    // Optional: how the next run").unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = page[start..end].lines().filter(is_code).count();
    assert!(lines <= 40, "{lines} lines");
}
