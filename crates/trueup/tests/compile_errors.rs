//! Mistakes in the structs and programs of users are compile errors that say what to do.
//! Each file of `compile_fail` has its message.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use trueup_cli_harness::rustc;

#[test]
fn mistakes_do_not_compile_and_say_why() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        let name = case.file_stem().unwrap().to_str().unwrap();
        insta::assert_snapshot!(name, compile_error(name));
    }
}

/// The compiler's complaint about a case, without the parts that differ between machines.
fn compile_error(name: &str) -> String {
    let target = tempfile::tempdir().unwrap();
    let output = rustc(Path::new(env!("CARGO_MANIFEST_DIR")), &[])
        // To code, because some constants are evaluated only then.
        .args(["--emit=obj", "--cap-lints=allow", "--color=never", "--diagnostic-width=140", "--out-dir"])
        .arg(target.path())
        .arg(format!("tests/compile_fail/{name}.rs"))
        .output()
        .expect("rustc can be started");
    assert!(!output.status.success(), "{name} compiles");
    without_places(&String::from_utf8(output.stderr).unwrap())
}

/// Without the path of the checkout, line numbers outside the case, and the closing summary.
fn without_places(text: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let text = text.replace(root.to_str().unwrap(), "$WORKSPACE");
    let text = match text.split_once("/rustc/") {
        // Where the standard library lies depends on its version.
        Some((_, rest)) => text.replace(&rest[..rest.find('/').unwrap_or_default()], "VERSION"),
        None => text,
    };
    let lines = text.lines().take_while(|line| !line.starts_with("error: aborting due to"));
    let mut kept = Vec::new();
    let mut elsewhere = false;
    let mut in_list = false;
    for line in lines {
        // Which types implement a trait depends on what else is built.
        in_list = line.contains("the following other types implement trait")
            || in_list && line.starts_with("          ");
        if in_list {
            continue;
        }
        if line.contains("--> ") {
            elsewhere = !line.contains("--> tests/compile_fail/");
        } else if line.is_empty() || line.starts_with("note:") || line.trim_start().starts_with('=') {
            elsewhere = false;
        }
        kept.push(if elsewhere { without_numbers(line) } else { line.to_owned() });
    }
    kept.join("\n")
}

fn without_numbers(line: &str) -> String {
    match line.split_once("--> ") {
        Some((_, place)) => format!("--> {}", place.split(':').next().unwrap_or(place)),
        None => line.trim_start_matches(|it: char| it.is_ascii_digit() || it == ' ').to_owned(),
    }
}
