//! A stack in Rust as its users meet it: variables, outputs, and a program with mistakes.

use crate::commands::shelf;

/// Variables are the fields of a struct, with its defaults and constraints; all mistakes are reported together.
#[test]
fn variables_are_typed_and_checked_together() {
    let folder = shelf();
    let told = folder.run_with(
        "plan --stage t --var more=[\"a\",\"b\",\"c\",\"d\"]",
        &[("TRUEUP_VAR_password", "h2"), ("TF_VAR_unasked", "1")],
    );
    assert_eq!(told.code, 1);
    for part in ["`more` in the variables must", "`password` in the variables must", "--var NAME=VALUE"] {
        assert!(told.err.contains(part), "{part}: {}", told.err);
    }
    assert!(!told.err.contains("h2"), "{}", told.err);
    let told = folder.run("plan --stage t --var more=a --var greetin=x");
    assert!(told.code == 1 && told.err.contains("the variable `more` is not written as JSON"), "{told:?}");
    let told = folder.run("plan --stage t --var greetin=x");
    assert!(told.code == 1 && told.err.contains("has no variable `greetin`"), "{told:?}");
    assert!(told.err.contains("did you mean `greeting`?"), "{told:?}");
    let told = folder.done("plan --stage t --var text=x");
    assert!(told.err.contains("`text` in the variables is deprecated"), "{told:?}");
    let environment = [("TRUEUP_VAR_password", "hunter22")];
    let told = folder.run_with("deploy --stage t --yes --var more=[\"a\",\"b\"]", &environment);
    assert!(told.code == 0 && !format!("{told:?}").contains("hunter22"), "{told:?}");
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), ("a".to_owned(), "b".to_owned()));
    assert!(folder.done("state list").out.contains("test_file.more[\"a\"]"));
}

/// DELETE-4, DELETE-8, APPLY-12: outputs are gone with the stack, and neither a second destroy nor a program with mistakes
/// is an error.
#[test]
fn outputs_end_with_the_stack_and_mistakes_do_not_keep_it() {
    let folder = shelf();
    folder.done("deploy --stage t --yes");
    assert_eq!(folder.json("output --json"), serde_json::json!({ "about": "about.txt" }));
    assert_eq!(folder.run("plan --var more=nonsense").code, 1);
    folder.done("destroy --yes --var more=nonsense");
    assert!(!folder.has("index.txt") && !folder.has("about.txt"));
    assert_eq!(folder.json("output --json"), serde_json::json!({}));
    assert!(folder.done("destroy --yes").out.contains("No changes"));
    assert_eq!(folder.done("output").out, "");
    folder.done("deploy --yes");
    assert_eq!(folder.done("output --raw about").out, "about.txt");
}
