//! Expressions made to hurt: deep, long, nested loops, nonsense for arguments.

use std::time::UNIX_EPOCH;

use proptest::prelude::*;
use trueup_core::{Diagnostic, SourceMap, Type, Value, value};
use trueup_lang::eval::{Environment, Moment, Reference, Resolved, Surroundings, evaluate};
use trueup_lang::functions;
use trueup_lang::syntax::{DEPTH_MAX, parse_expression};

/// Half the stack that threads usually have; debug builds need the most of it.
const STACK_BYTES: usize = 1024 * 1024;

struct Names(Surroundings);

impl Environment for Names {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let value = match reference.root {
            "a" => value!([1, { b: "x" }, null]),
            "s" => value!({ b: ["y"] }).into_secret(),
            "u" => Value::unknown(Type::Any),
            "t" => Value::unknown(Type::list(Type::String)).into_secret(),
            // A list of two of a list of two, 40 times.
            "doubled" => (0..40).fold(Value::from(1), |value, _| Value::list([value.clone(), value])),
            "thousands" => Value::list((0..10_000).map(|_| Value::NULL)),
            "mebibyte" => Value::string("x".repeat(1 << 20)),
            "lines" => Value::string("\n".repeat(1 << 20)),
            "characters" => Value::string("x".repeat(4_000_001)),
            other => return Err(Diagnostic::error(format!("there is no `{other}`"))),
        };
        Ok(Resolved { value, steps_used: 0 })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.0
    }
}

fn names() -> Names {
    let random: std::sync::Arc<trueup_front_end::RandomBytes> =
        std::sync::Arc::new(|bytes: &mut [u8]| bytes.fill(7));
    let moment = Moment { now: UNIX_EPOCH, random };
    Names(Surroundings {
        folder: crate::expressions::files(),
        home: Some("/home/someone".into()),
        plan_time: Some(UNIX_EPOCH),
        reads: trueup_lang::eval::Reads::default(),
        moment: Some(moment),
        secrets: Default::default(),
    })
}

fn evaluate_text(text: &str) -> Option<Value> {
    let mut sources = SourceMap::new();
    let file = sources.add("case", text);
    let expression = parse_expression(text, file).ok()?;
    let evaluated = evaluate(&expression, &names());
    let style = trueup_core::Style::Plain;
    trueup_core::Report::new(&sources, style).render(&evaluated.diagnostics);
    (!evaluated.diagnostics.has_errors()).then_some(evaluated.value)
}

#[test]
fn the_deepest_expressions_are_evaluated_on_a_small_stack() {
    let work = || {
        // What is around a literal counts as a level too; values have a bound of their own.
        let (many, values) = (DEPTH_MAX - 2, Value::DEPTH_MAX - 2);
        let deep = [
            format!("{}1{}", "(".repeat(many), ")".repeat(many)),
            format!("{}1{}", "[".repeat(values), "]".repeat(values)),
            format!("{}1{}", "length([".repeat(many / 2), "])".repeat(many / 2)),
            format!("{}1{}", "max(".repeat(many), ")".repeat(many)),
            format!("{}1{}", "try(".repeat(many), ")".repeat(many)),
            format!("{}1{}", "[for x in [1] : ".repeat(values), "]".repeat(values)),
            format!("{}\"x\"{}", "\"a${".repeat(many), "}\"".repeat(many)),
            format!("{}1", "-".repeat(many)),
            format!("{}1{}", "true ? ".repeat(many), " : 1".repeat(many)),
            format!("{}1", "false ? 1 : ".repeat(100_000)),
            format!("1{}", " + 1".repeat(100_000)),
            format!("true{}", " && true".repeat(100_000)),
        ];
        for text in deep {
            assert!(evaluate_text(&text).is_some(), "{}", &text[..20]);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
    thread.join().expect("the work succeeds");
}

#[test]
fn loops_within_loops_come_to_an_end() {
    let text = "[for l in [range(1000)] : [for a in l : [for b in l : [for c in l : 1 if false]]]]";
    assert_eq!(evaluate_text(text), None);
}

#[test]
fn a_few_lines_that_stand_for_billions_of_values_are_refused() {
    let mut yaml = String::from("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\\n");
    for at in 1..10 {
        let alias = format!("*a{}", at - 1);
        let aliases = vec![alias; 10].join(",");
        yaml.push_str(&format!("a{at}: &a{at} [{aliases}]\\n"));
    }
    assert_eq!(evaluate_text(&format!("yamldecode(\"{yaml}\")")), None);
}

/// The first thing that is wrong with an expression.
fn told(text: &str) -> String {
    let file = SourceMap::new().add("case", text);
    let expression = parse_expression(text, file).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
    let evaluated = evaluate(&expression, &names());
    let first = evaluated.diagnostics.iter().next().map(|it| it.summary.clone());
    first.unwrap_or_else(|| panic!("{text} has a value"))
}

/// BOUND-3: a short text can stand for a value that has no end.
#[test]
fn values_that_grow_beyond_bounds_are_refused() {
    let many = "holds more than 4000000 values";
    let long = "becomes longer than 128 MiB";
    let literal = format!("\"%{{ for i in range(1000) }}{}%{{ endfor }}\"", "y".repeat(200_000));
    let rows = [
        ("doubled", many),
        ("[doubled]", many),
        ("{ a = { b = doubled } }", many),
        ("length([for i in range(1024) : [for j in range(1024) : thousands]])", many),
        ("length([for i in range(300) : mebibyte])", "holds more than 256 MiB of text"),
        ("length(concat([for i in range(1000) : thousands]...))", many),
        ("length(split(\"\", characters))", many),
        ("length(join(\"\", [for i in range(200) : mebibyte]))", long),
        ("length(join(mebibyte, [for i in range(200) : \"\"]))", long),
        ("length(replace(mebibyte, \"x\", mebibyte))", long),
        ("length(replace(mebibyte, \"\", mebibyte))", long),
        ("length(replace(mebibyte, \"/x/\", mebibyte))", long),
        ("length(replace(mebibyte, \"/(x+)/\", join(\"\", [for i in range(200) : \"$1\"])))", long),
        ("length(indent(1000, lines))", long),
        ("length(\"%{ for i in range(200) }${mebibyte}%{ endfor }\")", long),
        (&*literal, long),
        ("format(\"%99999999s\", 1)", ""),
        ("range(2000)", "a range has at most 1024 elements"),
        ("setproduct([for i in range(1024) : [1]]...)", "combines more than 1000 lists"),
        ("setproduct(range(1000), range(1000), range(1000))", "more than 1000000 combinations"),
    ];
    for (text, expected) in rows {
        let told = told(text);
        assert!(told.contains(expected), "{}: {told}", &text[..text.len().min(80)]);
    }
}

/// BOUND-2: what is no file is not opened, and what is too large is not read.
#[cfg(unix)]
#[test]
fn only_files_of_a_bounded_size_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    std::os::unix::fs::symlink(at("pipe"), at("link")).expect("a link");
    std::os::unix::fs::symlink(at("circle"), at("circle")).expect("a link");
    std::fs::create_dir(at("folder")).expect("a folder");
    let large = std::fs::File::create(at("large")).expect("a file");
    large.set_len(128 * 1024 * 1024 + 1).expect("a sparse file");
    let paths = [
        (at("pipe"), "is a socket, pipe or device, not a file"),
        (at("link"), "is a socket, pipe or device, not a file"),
        (at("socket"), "is a socket, pipe or device, not a file"),
        ("/dev/zero".into(), "is a socket, pipe or device, not a file"),
        (at("folder"), "is a folder, not a file"),
        (at("large"), "is larger than 128 MiB"),
        (at("circle"), "oo many levels of symbolic links"),
        (at("folder/../circle"), "oo many levels of symbolic links"),
        ("/dev/tty".into(), "is a socket, pipe or device, not a file"),
        ("/proc/self/mem".into(), ""),
    ];
    let readers = functions::names()
        .filter(|name| name.starts_with("file") && !matches!(*name, "fileset" | "fileexists"));
    let calls = readers.map(|name| (name, "")).chain([("templatefile", ", {}")]);
    for (name, more) in calls {
        for (path, expected) in &paths {
            let told = told(&format!("{name}(\"{}\"{more})", path.display()));
            assert!(told.contains(expected), "{name} of {}: {told}", path.display());
        }
    }
}

fn argument() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "null",
        "true",
        "0",
        "1",
        "-1",
        "2.5",
        "1e300",
        "99999999999999999999",
        "\"\"",
        "\"x\"",
        "\"%d%s%[9]v\"",
        "\"/(a/\"",
        "\"10.0.0.0/8\"",
        "\"fd00::/8\"",
        "\"2020-02-30T00:00:00Z\"",
        "\"2020-02-20T00:00:00Z\"",
        "\"1h\"",
        "\"a,b\\n1,2\"",
        "\"{\\\"a\\\":1}\"",
        "\"a: [1\"",
        "\"&a [*a]\"",
        "\"hello.txt\"",
        "\"**\"",
        "\"[\"",
        "\"é☃😀\"",
        "[]",
        "[1, 2]",
        "[\"a\", null]",
        "[[1], [\"x\"]]",
        "{}",
        "{ a = 1 }",
        "{ a = [\"x\"] }",
        "toset([\"a\"])",
        "tomap({ a = \"b\" })",
        "a",
        "s",
        "u",
        "t",
        "s.b",
        "a[1]",
        "sensitive(\"x\")",
        "[u]",
        "{ a = u }",
        "\"UTF-16LE\"",
        "\"YYYY'\"",
    ])
    .prop_map(str::to_owned)
}

fn call() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = functions::names().filter(|name| *name != "bcrypt").collect();
    (prop::sample::select(names), prop::collection::vec(argument(), 0..4), any::<bool>()).prop_map(
        |(name, arguments, expand)| {
            let dots = if expand && !arguments.is_empty() { "..." } else { "" };
            format!("{name}({}{dots})", arguments.join(", "))
        },
    )
}

fn expression() -> impl Strategy<Value = String> {
    prop_oneof![argument(), call()].prop_recursive(4, 24, 3, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            inner.clone().prop_map(|a| format!("({a})[*].b")),
            inner.clone().prop_map(|a| format!("({a}).b")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("[for k, v in {a} : [k, v, {b}] if v != {b}]")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("{{for v in {a} : \"${{v}}\" => {b}...}}")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("\"x${{{a}}}%{{ for z in {b} }}${{z}}%{{ endfor }}\"")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{ ({a}) = {b}, c = [{a}] }}")),
            inner.clone().prop_map(|a| format!("!{a}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("try({a}, can({b}))")),
        ]
    })
}

/// SECRET-9: the type of an object names its keys.
#[test]
fn the_type_of_an_object_with_a_secret_key_is_secret() {
    let is_secret = |text: &str| {
        let file = SourceMap::new().add("case", text);
        evaluate(&parse_expression(text, file).expect("an expression"), &names()).value.is_secret()
    };
    assert!(is_secret(r#"type({ (sensitive("hunter2hunter2")) = 1 })"#));
    assert!(is_secret(r#"type([sensitive({ a = 1 })])"#));
    assert!(!is_secret(r#"type(sensitive("hunter2hunter2"))"#));
    assert!(!is_secret("type({ a = 1 })"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trueup_test_servers::sized(300, 5_000)))]

    #[test]
    fn no_expression_makes_the_evaluator_panic(text in expression()) {
        evaluate_text(&text);
    }

    #[test]
    fn no_arguments_make_a_function_panic(text in call()) {
        evaluate_text(&text);
    }

    /// What was secret is never told.
    #[test]
    fn no_message_tells_a_secret(name in prop::sample::select(functions::names().collect::<Vec<_>>()), more in prop::collection::vec(argument(), 0..2)) {
        let arguments = ["sensitive(\"hunter2hunter2\")".to_owned()].into_iter().chain(more);
        let text = format!("{name}({})", arguments.collect::<Vec<_>>().join(", "));
        let file = SourceMap::new().add("case", text.as_str());
        let evaluated = evaluate(&parse_expression(&text, file).expect("a call"), &names());
        for told in evaluated.diagnostics.iter() {
            prop_assert!(!format!("{told} {:?}", told.detail).contains("hunter2"), "{text}: {told}");
        }
    }
}
