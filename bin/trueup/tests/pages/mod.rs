//! The commands of the README, the tutorial and the page on JSON, run as a reader would: in their order, in one shell, in a terminal,
//! with an empty home. What a page shows as output must be what stood on the screen.
//!
//! `page` reads a page, `shell` runs it, `comparison` says what counts as the same.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod comparison;
mod first_resource;
mod page;
mod shell;
mod snippets;

use std::net::TcpStream;
use std::path::{Path, PathBuf};

use comparison::assert_shown;
use page::{Page, Part};
use shell::run;
use trueup_test_servers::{JQ, left_out};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// `cargo run` in the checkout: the program is built already, and building it again here would be another build.
const CARGO_RUN: &str = "cargo() { shift 2; target/debug/trueup \"$@\"; }\n";

/// A page, run in a fresh copy of what it needs; what stood on the screen in the end.
fn check(name: &str) -> String {
    check_with(name, CARGO_RUN)
}

/// The same in a shell with these definitions.
fn check_with(name: &str, definitions: &str) -> String {
    let page = Page::read(&root().join(name));
    let ran = run(&page, definitions);
    for (part, screen) in page.parts.iter().zip(&ran.screens) {
        if let Part::Commands { shown: Some(shown), line, .. } = part {
            assert_shown(shown, screen, &format!("{name}:{line}"));
        }
    }
    ran.screens.join("\n")
}

/// The first command builds and deploys; the last leaves nothing behind.
#[test]
fn the_readme_does_what_it_shows() {
    let page = Page::read(&root().join("README.md"));
    let first = page.parts.iter().find_map(|part| match part {
        Part::Commands { script, .. } => Some(script.as_str()),
        Part::File { .. } => None,
    });
    assert!(first.unwrap().starts_with("cargo run -- deploy"), "{first:?}");
    let screen = check("README.md");
    for told in ["No changes", "changed outside trueup", "4 deleted"] {
        assert!(screen.contains(told), "{told}:\n{screen}");
    }
}

/// OUTPUT-10, OUTPUT-11, OUTPUT-12: scripts find what they look for.
#[test]
fn the_page_on_json_does_what_it_shows() {
    if !left_out(JQ) {
        check("docs/json.md");
    }
}

/// OUTPUT-13
#[test]
fn the_page_on_json_links_every_schema() {
    let page = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    for entry in std::fs::read_dir(root().join("docs/reference/json")).unwrap() {
        let link = format!("(reference/json/{})", entry.unwrap().file_name().to_string_lossy());
        assert!(page.contains(&link), "no link: {link}");
    }
}

/// What it deploys is real, and what it starts is stopped.
#[test]
fn the_tutorial_does_what_it_shows() {
    let screen = check("docs/tutorial.md");
    let address = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    let address = address.find(&screen).expect("the address of the server stands on the screen").as_str();
    assert!(TcpStream::connect(address).is_err(), "the server at {address} still runs");
}
