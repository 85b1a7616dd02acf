//! Checking values against a schema: every violation at once, each with its place and a hint (CRUD-11).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trueup_core::schema::{
    Attribute, Block, Checked, Constraint, NestedBlock, Nesting, Presence, Rule, Shape,
};
use trueup_core::{
    Diagnostic, Diagnostics, FieldType, Number, Origin, Path, Report, Secret, SourceMap, Style, Type, Value,
    convert, nearest, value,
};

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
    let main = Shape::Object(Arc::new(listener()));
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

fn with_attribute(name: &str, attribute: Attribute) -> Block {
    let mut block = Block::default();
    block.attributes.insert(name.into(), attribute);
    block
}

fn secret(mut attribute: Attribute) -> Attribute {
    attribute.secret = true;
    attribute
}

fn rendered(sources: &SourceMap, checked: &Checked) -> String {
    assert!(checked.diagnostics.has_errors(), "there is something to report");
    Report::new(sources, Style::Plain).render(&checked.diagnostics)
}

/// SECRET-1: a message about one attribute shows the line on which a secret stands as well.
#[test]
fn a_secret_beside_what_is_wrong_is_not_shown() {
    let mut main = listener();
    main.attributes.insert("password".into(), secret(Attribute::optional(Type::String)));
    let block = with_attribute("main", Attribute::new(Shape::Object(Arc::new(main)), Presence::Optional));
    let mut sources = SourceMap::new();
    let text = "main = { port = 0, password = \"hunter2\" }\n";
    let entries = [("port", "0", value!(0)), ("password", "\"hunter2\"", value!("hunter2"))];
    let main = placed(&mut sources, text, &entries);
    let report = rendered(&sources, &block.check(&Value::object([("main", main)]), "x.y"));
    assert!(report.contains("port = 0") && !report.contains("hunter2"), "{report}");
}

/// SECRET-1: also where its kind is wrong, where no attribute has its name, and where the name is nearly one of a
/// secret attribute.
#[test]
fn a_secret_that_is_itself_wrong_is_not_shown() {
    let nested = Attribute::new(Shape::Object(Arc::new(Block::default())), Presence::Optional);
    let marked = value!("hunter2").into_secret();
    let cases = [
        (with_attribute("creds", secret(nested)), marked.clone()),
        (Block::default(), marked),
        (with_attribute("cred", secret(Attribute::optional(Type::String))), value!("hunter2")),
        (with_attribute("creds", secret(Attribute::optional(Type::map(Type::Bool)))), value!({ hunter2: 1 })),
    ];
    for (block, written) in cases {
        let mut sources = SourceMap::new();
        let written = placed(&mut sources, "creds = \"hunter2\"\n", &[("creds", "\"hunter2\"", written)]);
        let report = rendered(&sources, &block.check(&written, "x.y"));
        assert!(!report.contains("hunter2"), "{report}");
    }
}

/// CRUD-11
#[test]
fn an_unknown_value_that_can_never_fit_is_refused_at_once() {
    let listeners = Shape::List(Arc::new(Shape::Object(Arc::new(Block::default()))));
    let block = with_attribute("main", Attribute::new(listeners, Presence::Optional));
    let errors = |ty: Type| {
        let written = Value::object([("main", Value::unknown(ty))]);
        block.check(&written, "x.y").diagnostics.has_errors()
    };
    assert!(errors(Type::Number));
    assert!(!errors(Type::Any));
    assert!(!errors(Type::list(Type::Any)));
}

/// CRUD-11: what the check lets through, the struct can hold.
#[test]
fn a_null_among_elements_that_are_not_optional_is_found_by_the_check() {
    let checked = |attribute: Attribute| {
        with_attribute("names", attribute).check(&value!({ names: ["a", null] }), "x.y")
    };
    assert!(checked(<Vec<String>>::field_schema().into_input()).diagnostics.has_errors());
    let optional = checked(<Vec<Option<String>>>::field_schema().into_input());
    assert!(optional.diagnostics.is_empty(), "{:?}", optional.diagnostics);
    let names = <Vec<Option<String>>>::decode(optional.value.get("names").unwrap()).unwrap();
    assert_eq!(names, [Some("a".to_owned()), None]);
}

/// SECRET-1
#[test]
fn a_tuple_with_a_secret_part_is_secret() {
    assert!(<(String, Secret<String>)>::field_schema().secret);
    assert!(!<(String, String)>::field_schema().secret);
}

/// As Terraform does, so that the same program means the same text.
#[test]
fn a_number_in_a_text_is_written_without_exponent() {
    let text = |number: &str| {
        let number: Number = number.parse().unwrap();
        convert(&Value::number(number), &Type::String).unwrap()
    };
    assert_eq!(text("1e30"), value!("1000000000000000000000000000000"));
    assert_eq!(text("-2.50e-3"), value!("-0.0025"));
    assert_eq!(text("7"), value!("7"));
}

#[test]
fn a_float_field_takes_the_nearest_float_within_its_range() {
    let number = |text: &str| Value::number(text.parse().unwrap());
    assert_eq!(f64::decode(&number("0.10000000000000001")).unwrap(), 0.1);
    let block = with_attribute("ratio", f64::field_schema().into_input());
    let errors =
        |text: &str| block.check(&Value::object([("ratio", number(text))]), "x.y").diagnostics.has_errors();
    assert!(errors("1e400") && errors("-1e400"));
    assert!(!errors("0.10000000000000001") && !errors("-1.5e300"));
}

/// The suggestion costs nothing where there is none to make, and the message does not quote what would drown it.
#[test]
fn a_huge_text_is_compared_with_no_name() {
    let huge = "x".repeat(5_000_000);
    let allowed = "a_fairly_long_allowed_value_name";
    assert_eq!(nearest(&huge, [allowed, ""]), None);
    assert_eq!(nearest(allowed, [huge.as_str()]), None);
    let block = with_attribute(
        "finish",
        Attribute::required(Type::String).constrained(Constraint::OneOf(vec![value!(allowed)])),
    );
    let checked = block.check(&value!({ finish: huge }), "x.y");
    let message = checked.diagnostics.iter().next().unwrap().to_string();
    assert!(checked.diagnostics.len() == 1 && message.len() < 1_000, "{} bytes", message.len());
}

/// What no record could be read back from is refused where it comes in.
#[test]
fn a_value_that_nests_too_deeply_is_refused() {
    let nested = |depth: usize| (1..depth).fold(value!(1), |value, _| Value::list([value]));
    let block = with_attribute("any", Attribute::optional(Type::Any));
    let errors = |value: Value| block.check(&Value::object([("any", value)]), "x.y").diagnostics.has_errors();
    assert!(!errors(nested(Value::DEPTH_MAX / 2)));
    assert!(errors(nested(Value::DEPTH_MAX + 1)));
    assert!(errors(nested(150)));
}

/// Places at the edges of a text, and words that try to reach the terminal.
#[test]
fn no_place_and_no_text_breaks_a_report() {
    let mut sources = SourceMap::new();
    let places = [
        ("", 0, 0),
        ("abc", 3, 3),
        ("abc", 2, 9),
        ("abc\n", 4, 4),
        ("a\r\nb", 1, 3),
        ("é", 0, 2),
        ("é", 0, 1),
        ("\t\tx", 1, 2),
        ("a\n\n\nb", 0, 4),
    ];
    for (text, start, end) in places {
        let origin = Origin { file: sources.add("main.tf", text), start, end };
        for concealed in [vec![], vec![origin]] {
            let diagnostic = Diagnostic::error("x\ny\u{1b}[31m").at(Path::ROOT, Some(origin)).label("here");
            let diagnostics = Diagnostics::from(diagnostic.concealing(concealed.into()));
            let report = Report::new(&sources, Style::Plain).render(&diagnostics);
            assert!(report.contains("error") && !report.contains('\u{1b}'), "{report:?}");
        }
    }
}

/// OUTPUT-1: the only sequences in a report are those of its own colours, whatever it quotes.
#[test]
fn a_report_quotes_nothing_that_acts_on_a_terminal() {
    let hostile = "\u{1b}[35;7m \u{9b}35m \u{202e} \u{2028} \r \u{200b} \u{7f} \u{e0001}";
    let mut sources = SourceMap::new();
    let text = format!("a = {hostile} b\n");
    let end = u32::try_from(text.len() - 1).unwrap();
    let origin = Origin { file: sources.add(format!("{hostile}\nmain.tf"), text), start: 4, end };
    let placed = Diagnostic::error(hostile).at(Path::ROOT, Some(origin)).label(hostile);
    let unplaced = Diagnostic::error(hostile).about(hostile);
    for diagnostic in [placed, unplaced].map(|it| it.detail(hostile).hint(hostile)) {
        for style in [Style::Plain, Style::Coloured] {
            let report = Report::new(&sources, style).within(60).render(&diagnostic.clone().into());
            assert!(!report.contains("\u{1b}[35"), "{report:?}");
            let acts = |char: char| trueup_core::acts_on_display(char) && !matches!(char, '\n' | '\u{1b}');
            assert!(!report.contains(acts), "{report:?}");
            assert!(style == Style::Coloured || !report.contains('\u{1b}'), "{report:?}");
        }
    }
}
