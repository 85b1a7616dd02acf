//! What is done with texts: new ones, mistakes in them, how they are laid out.

use crate::commands::{lines, no_lines};

#[test]
fn init_begins_a_stack_and_overwrites_nothing() {
    let folder = no_lines();
    let told = folder.run("plan");
    assert!(told.code == 1 && told.err.contains("lines init"), "{told:?}");
    let told = folder.done("init site");
    assert!(told.err.contains("wrote stack.lines"), "{told:?}");
    assert!(folder.done("plan").out.starts_with("site · "));
    assert!(folder.run("init").err.contains("already"));
}

#[test]
fn mistakes_are_told_together_with_their_places() {
    let folder = lines("stack site\ntest_file a\nnonsense\n  more\ntest_file b pth=b.txt\n");
    let told = folder.run("validate");
    assert_eq!(told.code, 1);
    insta::assert_snapshot!(told.err);
    folder.write("stack.lines", "stack site\ntest_file a\ntest_file b pth=b.txt\n");
    let told = folder.run("validate");
    insta::assert_snapshot!(told.err);
    assert_eq!(folder.json("validate --json")["valid"], false);
    folder.write("stack.lines", "stack site\ntest_file a path=a.txt\n");
    assert_eq!(folder.done("validate").err, "site is sound: 1 resource\n");
    assert!(!folder.has(".trueup"));
}

#[test]
fn fmt_lays_out_and_check_only_looks() {
    let folder = lines("stack   site\ntest_file  a   path=a.txt\n");
    std::fs::create_dir(folder.path().join("below")).unwrap();
    folder.write("below/stack.lines", "stack   below\n");
    folder.write("notes.txt", "not   ours\n");
    let told = folder.run("fmt --check");
    assert_eq!((told.code, told.out.as_str()), (1, "stack.lines\n"));
    assert!(folder.read("stack.lines").contains("  "));
    let told = folder.done("fmt --diff");
    assert!(told.out.contains("-stack   site\n") && told.out.contains("+stack site\n"), "{told:?}");
    assert_eq!(folder.read("stack.lines"), "stack site\ntest_file a path=a.txt\n");
    assert_eq!(folder.done("fmt").out, "");
    assert_eq!(folder.done("fmt --recursive").out, "below/stack.lines\n");
    assert_eq!(folder.read("notes.txt"), "not   ours\n");
    assert!(folder.run("fmt missing.lines").err.contains("missing.lines"));
}

/// Habits of every shell.
#[test]
fn version_and_help_come_in_every_spelling() {
    let folder = no_lines();
    let version = folder.done("version").out;
    for spelling in ["--version", "-V", "-version"] {
        assert_eq!(folder.done(spelling).out, version, "{spelling}");
    }
    for (command, help) in [
        ("help", "--help"),
        ("help deploy", "deploy --help"),
        ("help state mv", "state mv --help"),
        ("help apply", "apply --help"),
    ] {
        let (told, own) = (folder.done(command), folder.done(help));
        assert_eq!((&told.out, told.err.as_str()), (&own.out, ""), "{command}");
        assert!(told.out.contains("Usage: lines"), "{told:?}");
    }
    let told = folder.run("help state nonsense");
    assert!(told.code == 1 && told.err.contains("nonsense") && told.out.is_empty(), "{told:?}");
    assert_eq!(folder.run("help --json").code, 1);
}
