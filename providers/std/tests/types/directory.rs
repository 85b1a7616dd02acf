//! `std_directory`, through its life.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use trueup_conformance::{Kit, Outcome};
use trueup_core::value;

use crate::bench::{Bench, program, resource, std_in};

/// CRUD-2, DRIFT-2, ADOPT-2, CRASH-7
#[test]
fn a_directory_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let [tampered, removed, taken] = [at.join("one"), at.join("one"), at.join("one")];
    let counted = at.clone();
    let report =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let kit =
                Kit::new(std_in(&at), "std_directory", value!({ path: "one", force: true })).await.unwrap();
            kit.updated(value!({ path: "one", mode: "0700", force: true }))
                .replaced(value!({ path: "two", force: true }))
                .tampered_by(move |_| {
                    let path = tampered.clone();
                    async move { fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap() }
                })
                .removed_by(move |_| {
                    let path = removed.clone();
                    async move { fs::remove_dir(path).unwrap() }
                })
                .taken_by(move |_, _| {
                    let path = taken.clone();
                    async move { fs::create_dir_all(path.join("inside")).unwrap() }
                })
                .counted_by(move || {
                    let folder = counted.clone();
                    async move { fs::read_dir(folder).unwrap().count() }
                })
                .imported_as(|_| "one".to_owned())
                .run()
                .await
        });
    report.assert_passed();
    let expected = |why: &str| why.contains("secret") || why.contains("bear a mark");
    let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped(why) if !expected(why));
    assert!(!report.checks.iter().any(|(_, outcome)| skipped(outcome)), "{report}");
}

/// DELETE-3
#[test]
fn a_directory_is_deleted_only_when_it_is_empty_or_by_force() {
    let bench = Bench::new();
    let of = |force: bool| program([resource("std_directory.a", value!({ path: "a/b", force: force }))]);
    let fill = || {
        for name in ["one", "two", "three", "four", "five", "six"] {
            fs::write(bench.path("a/b").join(name), "").unwrap();
        }
    };
    bench.deployed(&of(false));
    fill();
    let failed = bench.failed(&program([]));
    let expected = "is not empty: it holds `five`, `four`, `one`, `six`, `three` and 1 more";
    assert!(failed.contains(expected), "{failed}");
    assert!(bench.path("a/b/one").exists());
    fs::remove_dir_all(bench.path("a/b")).unwrap();
    bench.destroyed();
    bench.deployed(&of(false));
    fill();
    bench.deployed(&of(true));
    bench.destroyed();
    assert!(!bench.path("a/b").exists() && bench.path("a").is_dir());
}

/// DRIFT-2; and a file in its place is not taken for it.
#[test]
fn a_directory_is_brought_back() {
    let bench = Bench::new();
    let program = program([resource("std_directory.a", value!({ path: "a", mode: "0750" }))]);
    bench.deployed(&program);
    fs::set_permissions(bench.path("a"), fs::Permissions::from_mode(0o700)).unwrap();
    insta::assert_snapshot!(bench.plan(&program), @r#"
    ~ std_directory.a (drift)
        mode: "0750" <- "0700"
    Plan: 1 to update
    "#);
    bench.deployed(&program);
    fs::remove_dir(bench.path("a")).unwrap();
    bench.deployed(&program);
    assert_eq!(fs::metadata(bench.path("a")).unwrap().permissions().mode() & 0o7777, 0o750);
    fs::remove_dir(bench.path("a")).unwrap();
    fs::write(bench.path("a"), "").unwrap();
    assert!(bench.refused(&program).contains("there is a file at"));
}

/// A slip in a path must not take the program with it.
#[test]
fn a_directory_that_holds_the_stack_is_never_deleted_by_force() {
    let mut bench = Bench::new();
    bench.options.plan.adopt = true;
    let own = bench.path("");
    let inputs = value!({ path: (own.to_str().unwrap()), force: true, mode: "0700" });
    bench.deployed(&program([resource("std_directory.a", inputs)]));
    assert!(bench.failed(&program([])).contains("holds the stack itself"));
    assert!(own.is_dir());
}
