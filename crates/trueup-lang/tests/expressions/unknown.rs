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
