//! The JSON form of the language.

use trueup_core::{Diagnostics, SourceMap};
use trueup_lang::syntax::{BlockShape, BodyShape, parse_source};

use crate::syntax::outline::outline_body;

const SHAPE: BodyShape<'static> = BodyShape {
    blocks: &[
        BlockShape { name: "resource", labels: 2 },
        BlockShape { name: "locals", labels: 0 },
        BlockShape { name: "variable", labels: 1 },
    ],
};

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut sources = SourceMap::new();
    let parsed = parse_source(&mut sources, "main.tf.json", text.as_bytes());
    let mut diagnostics = parsed.diagnostics;
    let body = parsed.tree.shaped(SHAPE, &mut diagnostics);
    let found = if diagnostics.is_empty() { outline_body(&body) } else { told(&diagnostics) };
    assert_eq!(found, expected);
}

fn told(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn named_properties_become_blocks() {
    check(
        r#"{ "//": "a comment", "resource": { "t": { "n": { "a": "${b}", "c": [1.50, null] } } }, "x": true }"#,
        r#"resource "t" "n" {a = (template b); c = [1.5 null]}; x = true"#,
    );
    check(
        r#"{ "locals": [{ "a": 1 }, { "b": 2 }], "variable": { "v": [{ "d": "a\u00e9\n" }], "w": {} } }"#,
        r#"locals {a = 1}; locals {b = 2}; variable "v" {d = "aé\n"}; variable "w" {}"#,
    );
}

#[test]
fn keys_within_expressions_are_templates() {
    check(r#"{"x": {"${a}": 1, "b": 2}}"#, r#"x = {(template a): 1 "b": 2}"#);
}

#[test]
fn defaults_and_descriptions_are_texts() {
    check(
        r#"{"variable": {"v": [{"default": {"${a}": ["${b}", "%{if"]}, "description": "${c}"}]}}"#,
        r#"variable "v" {default = {"${a}": ["${b}" "%{if"]}; description = "${c}"}"#,
    );
    check(
        r#"{"locals": {"variable": {"v": {"default": "${a}"}}}, "variable": {"v": {"validation": "${b}"}}}"#,
        r#"locals {variable = {"v": {"default": (template a)}}}; variable "v" {validation = (template b)}"#,
    );
}

#[test]
fn a_quoted_reference_is_one() {
    let mut sources = SourceMap::new();
    let parsed = parse_source(&mut sources, "a.tf.json", br#"{"depends_on": ["aws_instance.x[0]"]}"#);
    let items = parsed.tree.attribute("depends_on").unwrap().value.as_tuple().unwrap();
    let traversal = items[0].as_static_traversal().unwrap();
    assert_eq!(traversal.to_string(), "aws_instance.x[0]");
    assert_eq!((traversal.origin.start, traversal.origin.end), (17, 34));
}

#[test]
fn what_is_no_json_is_told() {
    check("[1]", "error: a file in JSON holds an object");
    check(r#"{"a" 1}"#, "error: expected `:` and a value after the key, found `1`");
    check(r#"{"a": "x"#, "error: this string is not closed on its line");
    check(r#"{"resource": {"t": 1}}"#, "error: the block `resource` is an object whose keys are its label");
    check(
        r#"{"a": "${b"}"#,
        "error: expected `}` to end what `${` begins, found the end of the text (to have `${` as text, double its first character)",
    );
}
