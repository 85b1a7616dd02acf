//! Values that are not known yet, and values that are secret.

use std::cell::Cell;

use trueup_core::{Diagnostic, SourceMap, Type, Value, value};
use trueup_lang::eval::{Environment, Reference, Resolved, Surroundings, evaluate, references};
use trueup_lang::syntax::{StaticStep, parse_expression};

/// `unknown`, `unknown_text` …, `secret`, and `object` of which only parts can be had.
struct Names {
    surroundings: Surroundings,
    /// How often a function of a provider was called.
    calls: Cell<usize>,
}

impl Names {
    fn new() -> Self {
        Names { surroundings: Surroundings::default(), calls: Cell::new(0) }
    }
}

impl Environment for Names {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let value = match reference.root {
            "unknown" => Value::unknown(Type::Any),
            "unknown_text" => Value::unknown(Type::String),
            "unknown_number" => Value::unknown(Type::Number),
            "unknown_list" => Value::unknown(Type::list(Type::String)),
            "unknown_object" => Value::unknown(Type::object([("name", Type::String)])),
            "secret" => Value::string("hunter2").into_secret(),
            "secret_list" => value!(["a", "b"]).into_secret(),
            "object" => {
                let [StaticStep::Attribute(first), StaticStep::Index(at), ..] = reference.steps else {
                    return Err(Diagnostic::error("only parts of `object` can be had"));
                };
                let value = value!({ id: (format!("{first}-{at}")) });
                return Ok(Resolved { value, steps_used: 2 });
            }
            other => return Err(Diagnostic::error(format!("there is no `{other}`"))),
        };
        Ok(Resolved { value, steps_used: 0 })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn call(&self, _name: &str, arguments: &[Value]) -> Result<Value, String> {
        self.calls.set(self.calls.get() + 1);
        match arguments {
            [only] if !only.is_secret() => Ok(only.clone()),
            _ => Err("expected one argument without marks".to_owned()),
        }
    }

    fn has_function(&self, name: &str) -> bool {
        name == "provider::test::same"
    }
}

fn outcome(text: &str) -> String {
    outcome_with(text, &Names::new())
}

fn outcome_with(text: &str, names: &Names) -> String {
    let expression = parse_expression(text, SourceMap::new().add("case", text)).expect("an expression");
    let evaluated = evaluate(&expression, names);
    let errors: Vec<_> = evaluated.diagnostics.iter().map(|it| it.summary.clone()).collect();
    if errors.is_empty() { evaluated.value.to_string() } else { errors.join("; ") }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text), expected, "{text}");
}

/// UNKNOWN-4, UNKNOWN-5.
#[test]
fn unknown_operands_give_unknown_results_of_the_best_type() {
    check("unknown + 1", "(unknown number)");
    check("unknown == 1", "(unknown bool)");
    check("unknown_text == 1", "false");
    check("\"a ${unknown}\"", "(unknown string)");
    check("\"${unknown_number}\"", "(unknown number)");
    check("[1, unknown][0]", "1");
    check("{ a = unknown, b = 2 }.b", "2");
    check("unknown_list[0]", "(unknown string)");
    check("unknown_object.name", "(unknown string)");
    check("unknown ? 1 : \"a\"", "(unknown string)");
    check("true ? 1 : unknown", "1");
    check("false && unknown", "false");
    check("unknown && false", "false");
    check("true || unknown", "true");
    check("[for x in unknown : x]", "(unknown any)");
    check("[for x in [1, 2] : x if unknown]", "(unknown any)");
    check("{ for x in [1, 2] : unknown => x }", "(unknown any)");
    check("unknown_list[*]", "(unknown list(string))");
    check("unknown[*].a", "(unknown any)");
    check("{ (unknown) = 1 }", "(unknown any)");
    check("\"%{ for x in unknown }a%{ endfor }\"", "(unknown string)");
    check("max(1, unknown)", "(unknown number)");
    check("max(unknown_list...)", "(unknown any)");
    check("try(unknown.a, 1)", "(unknown any)");
    check("can(unknown.a)", "(unknown bool)");
    check("unknown ? { a = 1, b = unknown, c = [] } : {}", "(unknown map(any))");
    check("unknown ? { a = 1, b = null, c = [] } : {}", "(unknown map(any))");
    check("unknown ? { a = { x = 1 }, b = { x = unknown, y = [] } } : {}", "(unknown map(map(any)))");
}

/// UNKNOWN-5: what is not known yet may be the first text that is not empty.
#[test]
fn an_empty_text_is_passed_over_beside_what_is_unknown() {
    check("coalesce(\"\", unknown)", "(unknown any)");
    check("coalesce(\"\", try(unknown.a, \"b\"))", "(unknown any)");
    check("coalesce(\"\", null, unknown, \"b\")", "(unknown any)");
    check("coalesce(\"a\", unknown)", "\"a\"");
    check("coalesce([], unknown)", "[]");
}

/// UNKNOWN-5: the branch that a known conditional does not take cannot fail it.
#[test]
fn errors_of_the_branch_that_is_not_taken_are_dropped() {
    check("true ? 1 : file(\"missing\")", "1");
    check("false ? 1 / 0 : 2", "2");
    check("true ? 1 : {}.missing", "1");
    check("false && file(\"missing\") == \"\"", "false");
}

/// UNKNOWN-5
#[test]
fn a_function_is_called_for_known_arguments_alone() {
    let calls = |text: &str, expected: &str| {
        let names = Names::new();
        assert_eq!(outcome_with(text, &names), expected, "{text}");
        names.calls.get()
    };
    assert_eq!(calls("provider::test::same(2)", "2"), 1);
    assert_eq!(calls("provider::test::same(unknown)", "(unknown any)"), 0);
    assert_eq!(calls("provider::test::same([1, unknown])", "(unknown any)"), 0);
    assert_eq!(calls("\"a ${provider::test::same(unknown)}\"", "(unknown string)"), 0);
}

/// UNKNOWN-16
#[test]
fn what_is_known_of_unknown_values_settles_what_it_can() {
    for text in [
        "\"p-${unknown}\" != \"\"",
        "\"p-${unknown}\" != null",
        "\"p-${unknown}\" != \"q\"",
        "\"a${\"b-${unknown}\"}\" != \"ac\"",
        "startswith(\"arn:${unknown}\", \"arn:\")",
        "!startswith(\"arn:${unknown}\", \"url:\")",
        "length(\"p-${unknown}\") > 0",
        "length(toset([unknown_text, \"a\"])) <= 2",
        "length(toset([unknown_text])) == 1",
        "length(tolist(toset([unknown_text, \"a\"]))) >= 1",
        "toset([unknown_text]) != toset([])",
        "unknown_number + 1 != null",
        "(unknown == 1) != null",
        "upper(unknown_text) != null",
        "coalesce(unknown_text, \"a\") != null",
        "(unknown ? \"a\" : \"b\") != null",
        "(unknown ? 1 : 2) > 0",
        "(unknown ? 1 : 1) == 1",
        "length(unknown ? tolist([1]) : tolist([2])) == 1",
        "format(\"a-%s\", unknown) != \"\"",
        "jsonencode([unknown]) != \"x\"",
        "unknown_list != [\"a\"]",
        "unknown_list != tolist([1])",
        "unknown_text != 1",
        "unknown_object != {}",
    ] {
        check(text, "true");
    }
    check("length(formatlist(\"%s\", [unknown_text, \"a\"]))", "2");
    check("length(chunklist([unknown_text, \"a\"], 1))", "2");
    check("sort([unknown_text, \"a\"])", "[(unknown string), (unknown string)]");
    check("{ for p in setproduct([\"a\"], [unknown_text]) : p[0] => p[1] }", "{ a = (unknown string) }");
    check("setunion([unknown_text], [\"a\"])", "set[\"a\", (unknown string)]");
    check("setunion(toset(unknown_list), [1]) == toset([\"a\"])", "(unknown bool)");
    check("merge(unknown_object, { a = 1 }).name", "(unknown string)");
    check("keys(unknown_object)", "[\"name\"]");
    check("\"p-${sensitive(unknown)}\" != \"\"", "(secret)");
    // They may all turn out to be null, the same, or anything else.
    for text in [
        "unknown_text != null",
        "unknown_number != null",
        "(unknown ? \"a\" : null) != null",
        "length(toset([unknown_text, \"a\"])) == 2",
        "\"${unknown}-p\" == \"q\"",
        "startswith(\"ar${unknown}\", \"arn:\")",
        "unknown_list == tolist([])",
        "length(unknown_list) > 0",
    ] {
        check(text, "(unknown bool)");
    }
    // Which elements of a set are the same is open, and so how many there are.
    check("tolist(toset([unknown_text, \"a\"]))", "(unknown list(string))");
}

/// UNKNOWN-6.
#[test]
fn mistakes_beside_unknown_values_are_found() {
    check("[unknown, 1 / 0]", "`/` divides by zero");
    check("unknown / 0", "`/` divides by zero");
    check("unknown_list + 1", "`+` needs a number, and this is a value of type list(string)");
    check("unknown_object.nam", "this object has no attribute `nam`");
    check("unknown ? 1 : []", "the two results of this conditional have no type in common");
    check("\"${unknown} ${null}\"", "this is null, which has no text");
    check("[{}.a, {}.b]", "this object has no attribute `a`; this object has no attribute `b`");
    check(
        "max(unknown, \"x\")",
        "`max`: the argument `numbers` does not fit: expected a number, found text that is not a number",
    );
}

/// UNKNOWN-11.
#[test]
fn secrets_make_what_is_made_of_them_secret() {
    for text in [
        "secret",
        "\"a ${secret}\"",
        "secret == \"x\"",
        "secret_list[0]",
        "secret == \"x\" ? 1 : 2",
        "[for x in secret_list : x]",
        "secret_list[*]",
        "{ (secret) = 1 }",
        "try(secret)",
        "\"${unknown}${secret}\"",
        "flatten([[1], sensitive(unknown_list)])",
    ] {
        check(text, "(secret)");
    }
    let both =
        parse_expression("\"${unknown}${secret}\"", SourceMap::new().add("case", "")).expect("an expression");
    let both = evaluate(&both, &Names::new()).value;
    assert!(both.is_unknown() && both.is_secret(), "a value that is both is both");
    check("[secret, 1]", "[(secret), 1]");
    check("[secret, 1][1]", "1");
    check("{ a = secret }", "{ a = (secret) }");
}

#[test]
fn the_environment_is_asked_for_parts() {
    check("object.web[0].id", "\"web-0\"");
    check("object.web[1 + 1].id", "\"web-2\"");
    check("object.web[0].nam", "this object has no attribute `nam`");
    check("object.web", "only parts of `object` can be had");
    check("[for object in [1] : object]", "[1]");
}

#[test]
fn references_are_found_without_evaluation() {
    let text = "[for x in var.list : \"${x.y}-${local.a[each.key].b}\" if x != data.t.n[0][*].id] + f(a.b, {(c) = d.e})";
    let expression = parse_expression(text, SourceMap::new().add("case", text)).unwrap();
    let found: Vec<_> = references(&expression).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["var.list", "local.a", "each.key", "data.t.n[0]", "a.b", "c", "d.e"]);
}

#[test]
fn functions_of_the_environment_see_plain_values() {
    check("provider::test::same(5)", "5");
    check("provider::test::same(unknown)", "(unknown any)");
    check("provider::test::same(secret)", "(secret)");
    check("provider::test::same()", "`provider::test::same`: expected one argument without marks");
    check("provider::test::sane(1)", "there is no function `provider::test::sane`");
}
