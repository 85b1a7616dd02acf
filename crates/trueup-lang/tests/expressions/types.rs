//! Types as programs write them, and the defaults within them.

use trueup_core::{SourceMap, Value, value};
use trueup_lang::types::parse_type_expression;

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = match parse_type_expression(text, SourceMap::new().add("case", text)) {
        Ok(constraint) => constraint.ty.to_string(),
        Err(told) => told.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn types_are_read_in_all_their_forms() {
    for text in [
        "any",
        "bool",
        "number",
        "string",
        "list(string)",
        "set(number)",
        "map(list(any))",
        "tuple([string, number])",
        "object({ a = string, b = optional(number) })",
        "list(object({ a = optional(string) }))",
        "object({})",
    ] {
        check(text, text);
    }
    check("list", "list(any)");
    check("\"map(string)\"", "map(string)");
    check("object({ a = optional(number, 1) })", "object({ a = optional(number) })");
}

#[test]
fn what_is_no_type_is_told() {
    check("strin", "error: there is no type `strin` (did you mean `string`?)");
    check("list()", "error: the type `list` takes one argument (for example list(string))");
    check("string(5)", "error: the type `string` takes no arguments (leave the parentheses out)");
    check(
        "optional(string)",
        "error: `optional` stands only for an attribute of an object type (for example object({ name = optional(string) }))",
    );
    check("5", "error: this is no type (a type is written as in list(string))");
    check(
        "object({ a = optional(number, \"x\") })",
        "error: this default does not fit its type: expected a number, found text that is not a number (change the default or the type)",
    );
    check(
        "object({ a = optional(string, var.x) })",
        "error: `var` is not known here: this value must be constant",
    );
}

#[track_caller]
fn converts(ty: &str, given: &Value, expected: &str) {
    let constraint = parse_type_expression(ty, SourceMap::new().add("case", ty)).expect("a type");
    let found = match constraint.convert(given) {
        Ok(value) => value.to_string(),
        Err(mismatches) => mismatches.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; "),
    };
    assert_eq!(found, expected);
}

#[test]
fn defaults_take_the_place_of_what_is_missing_or_null() {
    let ty = "object({ a = optional(string, \"x\"), b = optional(object({ c = optional(number, 5) }), {}), d = optional(bool) })";
    converts(ty, &value!({}), "{ a = \"x\", b = { c = 5 }, d = null }");
    converts(ty, &value!({ a: null, b: { c: 1 } }), "{ a = \"x\", b = { c = 1 }, d = null }");
    converts("list(object({ a = optional(number, 1) }))", &value!([{}, { a: 2 }]), "[{ a = 1 }, { a = 2 }]");
    converts("map(object({ a = optional(number, 1) }))", &value!({ x: {} }), "map{ x = { a = 1 } }");
    converts(
        "tuple([object({ a = optional(number, 1) }), string])",
        &value!([{}, "z"]),
        "[{ a = 1 }, \"z\"]",
    );
    converts(ty, &value!(null), "null");
}

#[test]
fn elements_of_any_type_come_to_one() {
    converts("list(any)", &value!([1, "a"]), "[\"1\", \"a\"]");
    converts("map(any)", &value!({ a: 1, b: true }), "the elements have no type in common");
    converts("set(any)", &value!([2, 1, 2]), "set[1, 2]");
    converts("object({ l = list(any) })", &value!({ l: [1, "x"] }), "{ l = [\"1\", \"x\"] }");
}
