//! Texts that are too large or too deep: an error like any other, at once, whatever they are.

use std::io::Write;

use crate::binary::{empty, stack};

#[test]
fn a_hundred_megabytes() {
    let folder = empty();
    let mut file = std::fs::File::create(folder.path().join("main.tf")).unwrap();
    file.write_all(b"output \"a\" {\n  value = 1\n}\n").unwrap();
    file.set_len(100 * 1024 * 1024).unwrap();
    let told = folder.run("plan --stage t");
    assert_eq!(told.code, 1);
    insta::assert_snapshot!("large_file", told.err);
    let told = folder.run("fmt");
    assert_eq!(told.code, 1);
    insta::assert_snapshot!("large_file_to_format", told.err);
}

/// None of these overflows the stack.
#[test]
fn deep_expressions() {
    const DEPTH: usize = 100_000;
    let nested = |before: &str, inner: &str, after: &str| {
        let (before, after) = (before.repeat(DEPTH), after.repeat(DEPTH));
        format!("output \"a\" {{\n  value = {before}{inner}{after}\n}}\n")
    };
    for text in [
        nested("(", "1", ")"),
        nested("[", "1", "]"),
        nested("{ a = ", "1", " }"),
        nested("-", "1", ""),
        nested("!", "true", ""),
        nested("\"${", "1", "}\""),
        nested("abs(", "1", ")"),
        nested("", "local.a", "[0]"),
        "a {\n".repeat(DEPTH) + &"}\n".repeat(DEPTH),
    ] {
        let folder = stack(&text);
        let told = folder.run("plan --stage t");
        assert_eq!(told.code, 1, "{}", &text[..80]);
        assert!(told.err.contains("main.tf:"), "{}", &told.err[..told.err.len().min(2_000)]);
        assert!(told.err.contains("error: "));
    }
    // Chains are long, not deep.
    for (text, value) in [(nested("true ? 1 : ", "1", ""), "1"), (nested("1 + ", "1", ""), "100001")] {
        let told = stack(&text).done("plan --stage t");
        assert!(told.out.contains(&format!("a  {value}")), "{}", told.out);
    }
    let folder = empty();
    let (open, close) = ("[".repeat(DEPTH), "]".repeat(DEPTH));
    folder.write("main.tf.json", &format!("{{ \"locals\": {{ \"a\": {open}1{close} }} }}"));
    assert_eq!(folder.run("plan --stage t").code, 1);
}

/// Reporting errors takes time linear in their number; quadratic reporting would take minutes here.
#[test]
fn twenty_thousand_mistakes() {
    const COUNT: usize = 20_000;
    let mistake =
        |at: usize| format!("resource \"terraform_data\" \"a{at}\" {{\n  input = local.none_{at}\n}}\n");
    let told = stack(&(0..COUNT).map(mistake).collect::<String>()).run("plan --stage t");
    assert_eq!(told.code, 1);
    assert!(told.err.contains("20000 errors"), "{}", &told.err[told.err.len() - 200..]);
    assert!(told.err.contains("there is no local value `none_19999`"));
}
