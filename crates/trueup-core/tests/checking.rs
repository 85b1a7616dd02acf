//! Checking values against a schema: every violation at once, each with its place and a hint (CRUD-11).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trueup_core::schema::{Attribute, Block, Constraint, NestedBlock, Nesting, Presence, Rule, Shape};
use trueup_core::{Origin, Report, SourceMap, Style, Type, Value, value};

fn listener() -> Block {
    let mut block = Block::default();
    let port = Constraint::Range { min: Some(1.into()), max: Some(65_535.into()) };
    block.attributes.insert("port".into(), Attribute::required(Type::Number).constrained(port));
    let mut protocol = Attribute::optional(Type::String);
    protocol.default = Some(value!("tcp"));
    block.attributes.insert("protocol".into(), protocol);
    block
}

fn server() -> Block {
    let mut block = Block::default();
    let mut name = Attribute::required(Type::String).constrained(Constraint::pattern("^[a-z]+$"));
    name.doc = "The name under which it is reached.\nMore text.".to_owned();
    block.attributes.insert("name".into(), name);
    let size = Constraint::OneOf(vec![value!("small"), value!("large")]);
    block.attributes.insert("size".into(), Attribute::optional(Type::String).constrained(size));
    let mut password =
        Attribute::optional(Type::String).constrained(Constraint::Length { min: Some(8), max: None });
    password.secret = true;
    block.attributes.insert("password".into(), password);
    block.attributes.insert("key_file".into(), Attribute::optional(Type::String));
    block.attributes.insert("tags".into(), Attribute::optional(Type::map(Type::String)));
    let main = Shape::Nested(Nesting::Single, Arc::new(listener()));
    block.attributes.insert("main".into(), Attribute::new(main, Presence::Optional));
    block.attributes.insert("id".into(), Attribute::computed(Type::String));
    let listeners =
        NestedBlock { nesting: Nesting::List, block: Arc::new(listener()), items_min: 0, items_max: Some(2) };
    block.blocks.insert("listener".into(), listeners);
    block.rules.push(Rule::ExactlyOneOf(vec!["password".into(), "key_file".into()]));
    block
}

/// Reads a small stack text, giving each value the place at which its text stands.
fn placed(sources: &mut SourceMap, text: &str, entries: &[(&str, &str, Value)]) -> Value {
    let file = sources.add("main.tf", text);
    let place = |needle: &str| {
        let start = text.find(needle).unwrap() as u32;
        Origin { file, start, end: start + needle.len() as u32 }
    };
    let entries = entries.iter().map(|(key, needle, value)| (*key, value.clone().with_origin(place(needle))));
    Value::object(entries).with_origin(place(text.lines().next().unwrap()))
}

#[test]
fn all_violations_come_in_one_report_with_their_places_and_hints() {
    let mut sources = SourceMap::new();
    let text = "resource \"x_server\" \"web\" {\n  nmae = \"web\"\n  size = \"huge\"\n  tags = [1]\n  password = \"short\"\n  key_file = \"k\"\n}\n";
    let written = placed(
        &mut sources,
        text,
        &[
            ("nmae", "nmae = \"web\"", value!("web")),
            ("size", "\"huge\"", value!("huge")),
            ("tags", "[1]", value!([1])),
            ("password", "\"short\"", value!("short")),
            ("key_file", "\"k\"", value!("k")),
        ],
    );
    let checked = server().check(&written, "x_server.web");
    let report = Report::new(&sources, Style::Plain).render(&checked.diagnostics);
    assert!(!report.contains("short"), "the source line of a secret is not shown");
    insta::assert_snapshot!(report);
}

#[test]
fn without_a_source_the_position_is_named() {
    let checked = server().check(&value!({ main: { port: 0, prot: "x" }, key_file: "k" }), "x_server.web");
    insta::assert_snapshot!(Report::new(&SourceMap::new(), Style::Plain).render(&checked.diagnostics));
}

#[test]
fn what_fits_is_converted_and_its_secrets_are_marked() {
    let written = value!({ name: "web", password: "longenough", tags: { a: 1 }, listener: [{ port: "80" }], size: null });
    let checked = server().check(&written, "x_server.web");
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    insta::assert_snapshot!(checked.value, @r#"{ listener = [{ port = 80 }], name = "web", password = (secret), tags = map{ a = "1" } }"#);
    insta::assert_snapshot!(server().with_defaults(&checked.value), @r#"{ listener = [{ port = 80, protocol = "tcp" }], name = "web", password = (secret), tags = map{ a = "1" } }"#);
}

/// CRUD-11: what is unknown passes at plan; the same check finds it at apply.
#[test]
fn unknown_values_pass_until_they_are_known() {
    let unknown = || Value::unknown(Type::Any);
    let planned = Value::object([("name", unknown()), ("password", unknown()), ("listener", unknown())]);
    let checked = server().check(&planned, "x_server.web");
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    assert_eq!(checked.value.get("name").unwrap().to_string(), "(unknown string)");
    let resolved = value!({ name: "WEB", password: "short", listener: [{}, {}, {}] });
    let summaries: Vec<_> =
        server().check(&resolved, "x_server.web").diagnostics.into_iter().map(|it| it.summary).collect();
    insta::assert_snapshot!(summaries.join("\n"), @r#"
    `name` in x_server.web must match `^[a-z]+$`, not "WEB"
    `password` in x_server.web must have a length of at least 8
    x_server.web takes at most 2 `listener` block(s), found 3
    missing attribute `port` in x_server.web
    missing attribute `port` in x_server.web
    missing attribute `port` in x_server.web
    "#);
}

#[test]
fn rules_between_attributes_hold_both_ways() {
    let rule = |rule: Rule, value: &Value| {
        let mut block = Block { rules: vec![rule], ..Block::default() };
        for name in ["a", "b", "c"] {
            block.attributes.insert(name.into(), Attribute::optional(Type::Any));
        }
        let summaries = block.check(value, "x").diagnostics.into_iter().map(|it| it.summary);
        summaries.collect::<Vec<_>>().join("; ")
    };
    let names = || vec!["a".into(), "b".into()];
    let unknown = Value::object([("a", value!(1)), ("b", Value::unknown(Type::Any))]);
    let (none, one, both) = (value!({}), value!({ a: 1 }), value!({ a: 1, b: 2 }));
    assert_eq!(rule(Rule::ExactlyOneOf(names()), &none), "one of `a`, `b` must be set in x");
    assert_eq!(rule(Rule::ExactlyOneOf(names()), &one), "");
    assert_eq!(rule(Rule::ExactlyOneOf(names()), &both), "only one of `a`, `b` may be set in x");
    assert_eq!(rule(Rule::ExactlyOneOf(names()), &unknown), "");
    assert_eq!(rule(Rule::AtLeastOneOf(names()), &none), "at least one of `a`, `b` must be set in x");
    assert_eq!(rule(Rule::AtMostOneOf(names()), &both), "at most one of `a`, `b` may be set in x");
    assert_eq!(rule(Rule::AtMostOneOf(names()), &none), "");
    assert_eq!(rule(Rule::AllOrNone(names()), &one), "`a`, `b` must be set together in x");
    assert_eq!(rule(Rule::AllOrNone(names()), &unknown), "");
    assert_eq!(
        rule(Rule::RequiredWith("a".into(), vec!["b".into(), "c".into()]), &both),
        "`a` needs `c` as well in x"
    );
    assert_eq!(rule(Rule::RequiredWith("a".into(), vec!["b".into()]), &none), "");
}

#[test]
fn what_only_the_provider_sets_and_what_is_deprecated_is_said() {
    let mut block = server();
    block.attributes["size"].deprecated = Some("use `class`".to_owned());
    let checked = block.check(&value!({ name: "a", key_file: "k", id: "x", size: "small" }), "x_server.web");
    let lines: Vec<_> = checked.diagnostics.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    warning: `size` in x_server.web is deprecated (use `class`)
    error: `id` in x_server.web cannot be set (the provider decides it; remove it)
    ");
    assert!(block.check(&value!([]), "x_server.web").diagnostics.has_errors());
}
