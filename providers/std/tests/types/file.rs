//! `std_file`, through its life.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use trueup_conformance::{Kit, Outcome};
use trueup_core::{Value, value};
use trueup_provider::State;

use crate::bench::{Bench, program, referring, resource, secret, std_in};

fn file(path: &str, content: &str) -> Value {
    value!({ path: path, content: content })
}

fn mode(path: PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// CRUD-2, DRIFT-2, ADOPT-2, CRASH-7, SECRET-5
#[test]
fn a_file_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let path_of = {
        let at = at.clone();
        move |state: &State| at.join(state.outputs.get("path").unwrap().as_str().unwrap())
    };
    let removed = path_of.clone();
    let (taken, counted) = (at.join("one.txt"), at.clone());
    let report =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let with_secret = |path: &str, text: &str| value!({ path: path, content: (secret(text)) });
            let kit = Kit::new(std_in(&at), "std_file", with_secret("one.txt", "canary-1")).await.unwrap();
            kit.updated(with_secret("one.txt", "canary-1 and more"))
                .replaced(with_secret("two.txt", "canary-1"))
                .tampered_by(move |state| {
                    let path = path_of(&state);
                    async move { fs::write(path, "by hand").unwrap() }
                })
                .removed_by(move |state| {
                    let path = removed(&state);
                    async move { fs::remove_file(path).unwrap() }
                })
                .taken_by(move |_, _| {
                    let path = taken.clone();
                    async move { fs::write(path, "someone else's").unwrap() }
                })
                .counted_by(move || {
                    let folder = counted.clone();
                    async move { fs::read_dir(folder).unwrap().count() }
                })
                .secret("canary-1")
                // What it says is the mark: a file that says this is ours.
                .marked()
                .imported_as(|_| "one.txt".to_owned())
                .run()
                .await
        });
    report.assert_passed();
    assert!(report.checks.iter().all(|(_, outcome)| *outcome == Outcome::Passed), "{report}");
}

/// PLAN-1, PLAN-2, PLAN-3, PLAN-4: from nothing to nothing.
#[test]
fn a_file_is_made_changed_moved_and_deleted() {
    let bench = Bench::new();
    let first = program([resource("std_file.a", file("deep/down/a.txt", "one"))]);
    insta::assert_snapshot!(bench.plan(&first), @r#"
    + std_file.a (new)
    Plan: 1 to create
    "#);
    bench.deployed(&first);
    assert_eq!(bench.content("deep/down/a.txt"), "one");
    assert_eq!(mode(bench.path("deep/down/a.txt")), 0o644);
    insta::assert_snapshot!(bench.outputs("a"), @r#"{ mode = "0644", path = "deep/down/a.txt", sha256 = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", size = 3 }"#);
    assert!(bench.plan(&first).ends_with("No changes"));
    let second = program([resource("std_file.a", file("deep/down/a.txt", "two"))]);
    insta::assert_snapshot!(bench.plan(&second), @r#"
    ~ std_file.a (inputs)
        content: "one" -> "two"
    Plan: 1 to update
    "#);
    bench.deployed(&second);
    assert_eq!(bench.content("deep/down/a.txt"), "two");
    let moved = program([resource("std_file.a", file("b.txt", "two"))]);
    bench.deployed(&moved);
    assert_eq!((bench.content("b.txt").as_str(), bench.path("deep/down/a.txt").exists()), ("two", false));
    bench.destroyed();
    assert!(!bench.path("b.txt").exists());
    assert!(bench.path("deep/down").is_dir());
}

/// DRIFT-2, DRIFT-3: by content, by mode, by absence.
#[test]
fn a_file_changed_by_hand_is_brought_back() {
    let bench = Bench::new();
    let program = program([resource("std_file.a", value!({ path: "a", content: "one", mode: "600" }))]);
    bench.deployed(&program);
    fs::write(bench.path("a"), "other").unwrap();
    assert!(bench.plan(&program).contains("~ std_file.a (drift)"));
    bench.deployed(&program);
    assert_eq!(bench.content("a"), "one");
    fs::set_permissions(bench.path("a"), fs::Permissions::from_mode(0o666)).unwrap();
    insta::assert_snapshot!(bench.plan(&program), @r#"
    ~ std_file.a (drift)
        mode: "0600" <- "0666"
    Plan: 1 to update
    "#);
    bench.deployed(&program);
    assert_eq!(mode(bench.path("a")), 0o600);
    fs::remove_file(bench.path("a")).unwrap();
    bench.deployed(&program);
    assert_eq!((bench.content("a").as_str(), mode(bench.path("a"))), ("one", 0o600));
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// CRUD-8: another way to write the same mode.
#[test]
fn a_mode_is_the_same_with_or_without_its_zero() {
    let bench = Bench::new();
    let with_mode =
        |mode: &str| program([resource("std_file.a", value!({ path: "a", content: "", mode: mode }))]);
    bench.deployed(&with_mode("0640"));
    assert!(bench.plan(&with_mode("640")).ends_with("No changes"));
    assert!(bench.refused(&with_mode("rw")).contains("mode"));
}

/// CRUD-8, INV-3: another way to write the same path is not another file.
#[test]
fn a_path_is_the_same_however_it_is_written() {
    let bench = Bench::new();
    bench.deployed(&program([resource("std_file.a", file("a/b", "x"))]));
    let respelled = program([resource("std_file.a", file("./a//b", "x"))]);
    assert!(bench.plan(&respelled).ends_with("No changes"));
    let changed = program([resource("std_file.a", file("./a//b", "y"))]);
    bench.deployed(&changed);
    assert_eq!(bench.content("a/b"), "y");
    assert!(bench.plan(&changed).ends_with("No changes"));
}

/// UNKNOWN-1: hash and size are known before the file is.
#[test]
fn what_depends_on_a_hash_is_planned_with_it() {
    let bench = Bench::new();
    let both = |content: &str| {
        let copy = referring("std_file.b", &value!({ path: "b" }), "content", "std_file.a", "sha256");
        program([resource("std_file.a", file("a", content)), copy])
    };
    let plan = bench.try_plan(&both("hello\n")).unwrap();
    let inputs = &plan.action("std_file.b").unwrap().inputs;
    assert!(inputs.to_string().contains("5891b5b522d5df08"), "{inputs}");
    bench.deployed(&both("hello\n"));
    bench.deployed(&both("other"));
    assert!(bench.content("b").starts_with("d9298a10d1b0735837dc4bd85dac641b"));
}

/// A change inside the source is a change, though its path is the same.
#[test]
fn a_source_is_copied_and_watched() {
    let bench = Bench::new();
    fs::write(bench.path("source"), [0, 159, 146, 150]).unwrap();
    let program = program([resource("std_file.a", value!({ path: "a", source: "source" }))]);
    bench.deployed(&program);
    assert_eq!(fs::read(bench.path("a")).unwrap(), [0, 159, 146, 150]);
    assert!(bench.plan(&program).ends_with("No changes"));
    fs::write(bench.path("source"), "new").unwrap();
    assert!(bench.plan(&program).contains("Plan: 1 to update"));
    bench.deployed(&program);
    assert_eq!(bench.content("a"), "new");
    fs::remove_file(bench.path("source")).unwrap();
    assert!(bench.failed(&program).contains("cannot read the source"));
    assert_eq!(bench.content("a"), "new");
}

#[test]
fn bytes_are_given_in_base64() {
    let bench = Bench::new();
    bench.deployed(&program([resource("std_file.a", value!({ path: "a", content_base64: "AJ+Slg==" }))]));
    assert_eq!(fs::read(bench.path("a")).unwrap(), [0, 159, 146, 150]);
    let wrong =
        program([resource("std_file.a", value!({ path: "a", content_base64: (secret("!hunter2")) }))]);
    assert!(bench.failed(&wrong).contains("this is not base64"));
    assert!(!bench.told().contains("hunter2"));
}

/// CRUD-11
#[test]
fn exactly_one_content_is_needed() {
    let bench = Bench::new();
    let refused = |inputs: Value| bench.refused(&program([resource("std_file.a", inputs)]));
    assert!(refused(value!({ path: "a" })).contains("`content`"));
    assert!(refused(value!({ path: "a", content: "x", source: "y" })).contains("`source`"));
    assert!(refused(value!({ path: "", content: "x" })).contains("path"));
}

/// ADOPT-2: nobody's file is overwritten unasked; one that is exactly as wanted counts as ours.
#[test]
fn a_file_that_is_there_is_taken_over_only_if_it_is_the_same_or_by_consent() {
    let mut bench = Bench::new();
    let program = program([resource("std_file.a", file("a", "mine"))]);
    fs::write(bench.path("a"), "theirs").unwrap();
    assert!(bench.refused(&program).contains("already exists and is not managed by this stack"));
    assert_eq!(bench.content("a"), "theirs");
    bench.options.plan.adopt = true;
    bench.deployed(&program);
    assert_eq!(bench.content("a"), "mine");
    bench.options.plan.adopt = false;
    bench.forget();
    bench.deployed(&program);
    assert!(bench.plan(&program).ends_with("No changes"));
    assert_eq!(bench.files(), ["a"]);
}

/// SECRET-1, SECRET-2, SECRET-5
#[test]
fn a_secret_is_in_the_file_and_nowhere_else() {
    let bench = Bench::new();
    let of = |text: &str| {
        program([resource("std_file.a", value!({ path: "a", content: (secret(text)), mode: "0600" }))])
    };
    bench.plan(&of("hunter2"));
    bench.deployed(&of("hunter2"));
    assert_eq!(bench.content("a"), "hunter2");
    assert!(bench.plan(&of("hunter2")).ends_with("No changes"));
    assert!(bench.plan(&of("hunter3")).contains("Plan: 1 to update"));
    fs::write(bench.path("a"), "hunter4").unwrap();
    bench.plan(&of("hunter3"));
    bench.deployed(&of("hunter3"));
    fs::remove_file(bench.path("a")).unwrap();
    fs::create_dir(bench.path("a")).unwrap();
    bench.refused(&of("hunter3"));
    fs::remove_dir(bench.path("a")).unwrap();
    bench.deployed(&of("hunter3"));
    bench.destroyed();
    let told = bench.told();
    assert!(!told.contains("hunter"));
    // The hash of a short secret gives it away.
    assert!(!told.contains("f52fbd32b2b3b86f"));
}

/// DRIFT-5: what is in the way is never taken for the file or for its absence.
#[test]
fn a_directory_or_link_in_the_way_is_told() {
    let bench = Bench::new();
    let program = program([resource("std_file.a", file("a", "x"))]);
    fs::create_dir(bench.path("a")).unwrap();
    assert!(bench.refused(&program).contains("there is a directory at"));
    fs::remove_dir(bench.path("a")).unwrap();
    fs::write(bench.path("other"), "precious").unwrap();
    symlink(bench.path("other"), bench.path("a")).unwrap();
    assert!(bench.refused(&program).contains("there is a symbolic link at"));
    fs::remove_file(bench.path("a")).unwrap();
    bench.deployed(&program);
    fs::remove_file(bench.path("a")).unwrap();
    symlink(bench.path("other"), bench.path("a")).unwrap();
    assert!(bench.refused(&program).contains("there is a symbolic link at"));
    assert_eq!(bench.content("other"), "precious");
}

/// ADOPT-7
#[test]
fn a_file_is_imported_by_its_path() {
    use trueup_program::ImportDeclaration;
    let bench = Bench::new();
    fs::write(bench.path("a"), "theirs").unwrap();
    let mut program = program([resource("std_file.a", file("a", "mine"))]);
    let (to, id) = (crate::bench::address("std_file.a"), Value::from("a").into());
    program.imports.push(ImportDeclaration::new(to, id));
    bench.deployed(&program);
    assert_eq!(bench.content("a"), "mine");
}
