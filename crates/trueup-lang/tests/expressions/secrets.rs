//! Secrets in every place of every expression: no message quotes one, and what depends on one is marked.
//!
//! Each expression is evaluated in two worlds that differ in their secrets alone: in texts, keys, lengths and numbers. What
//! everyone may see must be the same in both.

use trueup_core::{Diagnostic, SourceMap, Type, Value, value};
use trueup_lang::eval::{Environment, Evaluated, Reference, Resolved, Surroundings, evaluate};
use trueup_lang::functions;
use trueup_lang::syntax::parse_expression;

/// One of two worlds.
struct World {
    second: bool,
    surroundings: Surroundings,
}

/// What stands in secrets, in the first world and in the second.
const TELLTALES: [&str; 4] = ["canary", "zq7", "8317264055", "wombat"];

impl World {
    fn new(second: bool) -> Self {
        let moment = trueup_lang::eval::Moment {
            now: std::time::UNIX_EPOCH,
            random: std::sync::Arc::new(|bytes: &mut [u8]| bytes.fill(7)),
        };
        let surroundings = Surroundings {
            folder: crate::expressions::files(),
            plan_time: Some(std::time::UNIX_EPOCH),
            moment: Some(moment),
            ..Surroundings::default()
        };
        World { second, surroundings }
    }

    fn value(&self, name: &str) -> Option<Value> {
        let pick = |first: Value, second: Value| if self.second { second } else { first };
        let secret = |first: Value, second: Value| pick(first, second).into_secret();
        let keys = |text: Value| {
            secret(value!({ canarykey: (text.clone()), "canary/2": "x" }), value!({ wombat: (text) }))
        };
        Some(match name {
            "text" => secret(value!("canarytext"), value!("a,wombat,b")),
            "short" => secret(value!("zq7"), value!("")),
            "digits" => secret(value!("8317264055"), value!("wombat")),
            "number" => secret(value!(8317264055_u64), value!(1)),
            "truth" => secret(value!(true), value!(false)),
            "nothing" => secret(value!(null), value!(null)),
            "list" => secret(value!(["canaryone", "canarytwo"]), value!([])),
            "set" => secret(Value::set([value!("canaryone")]), Value::set([value!("a"), value!("wombat")])),
            "map" => {
                secret(Value::map([("canarykey", value!("canary"))]), Value::map([("a", value!("wombat"))]))
            }
            "object" => keys(value!("canaryvalue")),
            "inside" => value!({ open: (keys(value!(1))), other: [(secret(value!("canary"), value!("a")))] }),
            "items" => value!(["a", (secret(value!("canary"), value!("a"))), "b"]),
            "yaml" => secret(value!("!canarytag x"), value!("a: !!wombat [")),
            "json" => secret(value!("{\"canarykey\": canary"), value!("{\"wombat\": [1, 2]}")),
            "template" => secret(value!("${canaryname}"), value!("${1 + wombat}")),
            "pattern" => secret(value!("(?P<canary>[a)"), value!("^a")),
            "unknown" => Value::unknown(Type::object([("canarykey", Type::Number)])).into_secret(),
            "open" => value!("a"),
            "word" => value!({ a: ["a", "b"], b: [] }),
            "one" => value!(1),
            _ => return None,
        })
    }
}

const NAMES: [&str; 20] = [
    "text", "short", "digits", "number", "truth", "nothing", "list", "set", "map", "object", "inside",
    "items", "yaml", "json", "template", "pattern", "unknown", "open", "word", "one",
];

impl Environment for World {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        // As resources are resolved: with their keys.
        if reference.root == "instance" {
            return match reference.steps {
                [] => Ok(Resolved { value: value!({ a: 1 }), steps_used: 0 }),
                [step, ..] => Err(Diagnostic::error(format!("there is no instance{step}"))),
            };
        }
        let value = self.value(reference.root);
        let value = value.ok_or_else(|| Diagnostic::error(format!("there is no `{}`", reference.root)))?;
        Ok(Resolved { value, steps_used: 0 })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}

struct Worlds([World; 2]);

impl Worlds {
    fn new() -> Self {
        Worlds([World::new(false), World::new(true)])
    }

    /// Evaluates an expression in both worlds, and holds what can be seen against each other.
    fn check(&self, text: &str) {
        let file = SourceMap::new().add("case", text);
        let expression = parse_expression(text, file).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        let seen = self.0.each_ref().map(|world| {
            let Evaluated { value, diagnostics } = evaluate(&expression, world);
            let told: String = diagnostics.iter().map(said).collect();
            let shown = if diagnostics.has_errors() { None } else { Some(value.to_string()) };
            for telltale in TELLTALES {
                assert!(!told.to_lowercase().contains(telltale), "{text} tells {telltale}:\n{told}");
                assert!(!shown.iter().any(|it| it.contains(telltale)), "{text} shows {telltale}: {shown:?}");
            }
            shown
        });
        if let [Some(first), Some(second)] = seen {
            assert_eq!(first, second, "{text} depends on a secret and is not marked");
        }
    }

    /// An expression by itself, and in places that turn mistakes into values.
    fn check_everywhere(&self, text: &str) {
        self.check(text);
        self.check(&format!("can({text})"));
        self.check(&format!("try({text}, \"otherwise\")"));
    }
}

/// All words of a diagnostic.
fn said(diagnostic: &Diagnostic) -> String {
    let Diagnostic { summary, label, detail, hints, .. } = diagnostic;
    let more = label.iter().chain(detail).chain(hints);
    std::iter::once(summary).chain(more).map(|text| format!("{text}\n")).collect()
}

/// Whose purpose is to tell of a value what others keep to themselves.
const TELLING: [&str; 3] = ["nonsensitive", "issensitive", "type"];

/// SECRET-13, UNKNOWN-11
#[test]
fn no_function_tells_a_secret() {
    let worlds = Worlds::new();
    for signature in functions::signatures().flat_map(|(_, signatures)| signatures) {
        let (name, parameters) = signature.trim_end_matches(')').split_once('(').unwrap();
        // Each hash takes as long as it is meant to.
        if TELLING.contains(&name) || matches!(name, "can" | "try" | "bcrypt") {
            continue;
        }
        let fixed = parameters.split(", ").filter(|it| !it.is_empty() && !it.ends_with("...")).count();
        let counts = if parameters.contains("...") { fixed.max(1)..=fixed.max(1) + 1 } else { fixed..=fixed };
        for count in counts {
            for_each_call(count, &mut |arguments| {
                worlds.check_everywhere(&format!("{name}({})", arguments.join(", ")));
            });
        }
    }
}

/// All lists of so many names; of three and more, each position in turn with the others at their likeliest.
fn for_each_call(count: usize, call: &mut dyn FnMut(&[&str])) {
    match count {
        0 => call(&[]),
        1 => NAMES.iter().for_each(|name| call(&[name])),
        2 => NAMES.iter().for_each(|first| NAMES.iter().for_each(|second| call(&[first, second]))),
        _ => {
            for filler in ["open", "one", "word", "text", "number"] {
                for (at, name) in (0..count).flat_map(|at| NAMES.iter().map(move |name| (at, name))) {
                    let mut arguments = vec![filler; count];
                    arguments[at] = name;
                    call(&arguments);
                }
            }
        }
    }
}

/// SECRET-13, UNKNOWN-11
#[test]
fn no_operator_tells_a_secret() {
    let worlds = Worlds::new();
    for left in NAMES {
        for form in [
            "!{}",
            "-{}",
            "\"${{}}\"",
            "\"a${{}}\"",
            "{}.absent",
            "{}.b.x",
            "{}.open.absent",
            "{}.other[5]",
            "{}[*].a",
            "{}[*]",
            "[for x in {} : x]",
            "[for k, v in {} : tonumber(k)]",
            "[for k, v in {} : word[k]]",
            "[for k, v in {} : instance[k]]",
            "[for k, v in {} : v.x]",
            "[for k, v in {} : word.a[k]]",
            "[for v in {} : 1 if v == \"a\"]",
            "[for k, v in {} : templatestring(\"$${${k}}\", {})]",
            "{for k, v in {} : k => v}",
            "{for k, v in {} : \"a\" => k}",
            "{for k, v in {} : k => v...}",
            "{for v in {} : \"x\" => 1 if v == \"canaryone\"}",
            "\"%{for x in {}}y%{endfor}\"",
            "\"%{for k, x in {}}${tobool(k)}%{endfor}\"",
            "\"%{if {}}y%{endif}\"",
            "{ ({}) = 1 }",
            "{ ({}) = 1, a = 2 }.b",
            "{} ? 1 : 2",
            "{} ? [1] : { a = 1 }",
            "instance[{}]",
            "concat({}...)",
            "toset([{}, \"a\"])",
            "length(toset([{}, \"a\", \"canarytext\"]))",
            "[for x in toset([{}, \"a\"]) : 1]",
            "toset([{}, \"a\"])[*]",
            "one(toset([{}, \"a\"]))",
            "reverse(toset([{}, \"a\"]))",
            "flatten([toset([{}, \"a\"])])",
            "keys({ ({}) = 1 })",
        ] {
            let text = form.replace("$${", "\u{1}").replace("{}", left).replace('\u{1}', "$${");
            worlds.check_everywhere(&text);
        }
        for right in NAMES {
            for operator in ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"] {
                worlds.check_everywhere(&format!("{left} {operator} {right}"));
            }
            for form in ["{}[{}]", "true ? {} : {}", "truth ? {} : {}", "[{}, {}]", "try({}.a, {})"] {
                worlds.check_everywhere(&form.replacen("{}", left, 1).replacen("{}", right, 1));
            }
        }
    }
}
