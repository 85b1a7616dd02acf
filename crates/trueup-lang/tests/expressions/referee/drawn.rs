//! Drawn expressions under both: what Terraform plans for one, with all that is unknown and sensitive in it, we come to too.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Kind as ValueKind, SourceMap, Type, Value, convert};
use trueup_lang::eval::{Constants, Environment, Reference, Resolved, Surroundings, evaluate};
use trueup_lang::syntax::{StaticStep, parse_expression};
use trueup_test_servers::environment::number_variable;
use trueup_test_servers::sized;

use super::plan::{Answer, answers};
use crate::expressions::files;
use crate::stacks::differential::expressions::{KINDS, Kind, Known, Writer};
use crate::stacks::differential::random::Random;

/// The text of the secret.
const SECRET: &str = "hush";

/// Names with values that are known, and the expressions that make them.
const KNOWN: [(&str, Kind, &str); 13] = [
    ("text", Kind::Text, "\"b\""),
    ("number", Kind::Number, "2"),
    ("list", Kind::Texts, "tolist([\"a\", \"b\", \"a\"])"),
    ("empty", Kind::Texts, "tolist(slice([\"a\"], 0, 0))"),
    ("set", Kind::Texts, "toset([\"b\", \"c\"])"),
    ("map", Kind::TextMap, "tomap({ a = \"x\", b = \"y\" })"),
    ("numbers", Kind::Numbers, "tolist([3, 1])"),
    ("objects", Kind::Objects, "tolist([{ a = 1, b = \"o\", c = tolist([\"p\"]) }])"),
    ("secret_text", Kind::Text, "sensitive(\"hush\")"),
    ("secret_number", Kind::Number, "sensitive(1)"),
    ("secret_list", Kind::Texts, "sensitive(tolist([\"a\", \"s\"]))"),
    ("partly_secret", Kind::Texts, "[\"a\", sensitive(\"s\")]"),
    ("secret_map", Kind::TextMap, "{ a = sensitive(\"s\"), b = \"t\" }"),
];

/// Names with values that only an apply knows, and values of their types.
const UNKNOWN: [(&str, Kind, &str); 10] = [
    ("unknown_text", Kind::Text, "\"x\""),
    ("unknown_number", Kind::Number, "1"),
    ("unknown_bool", Kind::Bool, "true"),
    ("unknown_list", Kind::Texts, "tolist([\"a\"])"),
    ("unknown_set", Kind::Texts, "toset([\"a\"])"),
    ("unknown_map", Kind::TextMap, "tomap({ a = \"b\" })"),
    ("unknown_numbers", Kind::Numbers, "tolist([1])"),
    ("unknown_tuple", Kind::Texts, "[\"a\", \"b\"]"),
    ("unknown_object", Kind::Object, "{ a = 1, b = \"b\", c = tolist([\"c\"]) }"),
    ("unknown_objects", Kind::Objects, "tolist([{ a = 1, b = \"b\", c = tolist([\"c\"]) }])"),
];

/// Names whose values are known in part.
const PARTLY_KNOWN: [(&str, Kind, &str); 4] = [
    ("partly_known", Kind::Texts, "[\"a\", local.unknown_text]"),
    ("known_beginning", Kind::Text, "\"arn:${local.unknown_text}\""),
    ("known_keys", Kind::TextMap, "{ a = local.unknown_text, b = \"t\" }"),
    ("secret_unknown", Kind::Text, "sensitive(local.unknown_text)"),
];

/// The kinds of differences that the book lists, under "Where the language differs from Terraform's".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Listed {
    /// The same value, of which other parts are sensitive.
    Sensitivity,
    /// A mistake that we find beside unknown values, and Terraform once they are known.
    FoundEarlier,
    /// A mistake that Terraform finds beside unknown values, and we once they are known.
    FoundLater,
    /// What we know of a result that is unknown to Terraform.
    KnownEarlier,
    /// What Terraform knows of a result that is unknown to us.
    KnownLater,
    /// What the types of empty collections decide.
    EmptyCollections,
    /// A negative index of a tuple's element.
    NegativeIndex,
    /// An argument of `coalesce` that cannot be converted to the type of all.
    Unconvertible,
}

#[test]
fn drawn_expressions_come_to_what_terraform_plans() {
    let (seed, cases) = (number_variable("TRUEUP_SEED").unwrap_or(1), number_variable("TRUEUP_CASES"));
    let expressions = drawn(seed, cases.unwrap_or_else(|| sized(1500, 24_000)));
    let Some(theirs) = answers(&files(), &program(), &expressions) else {
        println!("left out: there is no `terraform` to ask");
        return;
    };
    let names = Names::new();
    let mut listed: BTreeMap<Listed, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    for (expression, theirs) in expressions.iter().zip(&theirs) {
        let ours = names.evaluated(expression);
        // What a secret went into may be open; its text may not.
        if let Some(open) = ours.as_ref().ok().filter(|ours| ours.to_string().to_lowercase().contains(SECRET))
        {
            differences.push(format!("{expression}\n    a secret in the open: {open}"));
        }
        let Some(difference) = difference(&ours, theirs) else { continue };
        match kind_of(expression, &ours, theirs) {
            Some(kind) => *listed.entry(kind).or_default() += 1,
            None => differences.push(format!("{expression}\n    {difference}")),
        }
    }
    let agreeing = expressions.len() - differences.len() - listed.values().sum::<usize>();
    println!("{agreeing} of {} expressions agree; listed differences: {listed:?}", expressions.len());
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
    assert!(agreeing * 10 > expressions.len() * 9, "fewer than nine of ten agree");
}

/// The kind of a difference, if it is one of those that are listed.
fn kind_of(expression: &str, ours: &Result<Value, String>, theirs: &Answer) -> Option<Listed> {
    let mentions = |parts: &[&str]| parts.iter().any(|part| expression.contains(part));
    let beside_unknown = mentions(&["unknown", "known_", "partly_known"]);
    let has_empty = mentions(&["[]", "{}", "local.empty", " if "]);
    match (ours, theirs) {
        (Ok(_), Answer::Refused) if mentions(&["element("]) => Some(Listed::NegativeIndex),
        (Ok(_), Answer::Refused) if beside_unknown => Some(Listed::FoundLater),
        (Ok(_), Answer::Refused) => has_empty.then_some(Listed::EmptyCollections),
        (Err(_), Answer::Planned { .. }) if beside_unknown => Some(Listed::FoundEarlier),
        (Err(_), Answer::Planned { .. }) => mentions(&["coalesce("]).then_some(Listed::Unconvertible),
        (Ok(ours), Answer::Planned { value, unknown, .. }) => {
            let (ours, same) = (ours.without_marks(), |ours: &Value, fits| fit(ours, value, unknown, fits));
            match () {
                () if same(&ours, Fits::Exactly) => Some(Listed::Sensitivity),
                // It tells of sensitivity itself.
                () if mentions(&["issensitive"]) => Some(Listed::Sensitivity),
                () if beside_unknown && same(&ours, Fits::MoreIsKnown) => Some(Listed::KnownEarlier),
                () if mentions(&["matchkeys", "toset", "setunion"]) && same(&ours, Fits::LessIsKnown) => {
                    Some(Listed::KnownLater)
                }
                () if has_empty && (same(&ours, Fits::ByType) || same(&ours, Fits::LessIsKnown)) => {
                    Some(Listed::EmptyCollections)
                }
                () => None,
            }
        }
        (Err(_), Answer::Refused) => None,
    }
}

fn drawn(seed: u64, count: u64) -> Vec<String> {
    let all = KNOWN.iter().chain(&UNKNOWN).chain(&PARTLY_KNOWN).chain(&[("unknown_any", Kind::Text, "")]);
    let names: Vec<Known> = all
        .map(|(name, kind, _)| Known { text: format!("local.{name}"), kind: *kind, at_plan: true })
        .collect();
    let mut random = Random::new(seed);
    let mut expressions = Vec::new();
    for _ in 0..count {
        let kind = *random.one_of(&KINDS);
        let depth = 1 + random.below(3);
        let mut writer = Writer::new(&mut random, names.clone());
        writer.further = 35;
        expressions.push(writer.expression(kind, depth));
    }
    expressions
}

/// The names as Terraform gets to know them.
fn program() -> String {
    let values: String = UNKNOWN.iter().map(|(name, _, value)| format!("    {name} = {value}\n")).collect();
    let mut text = format!("resource \"terraform_data\" \"unknown\" {{\n  input = {{\n{values}  }}\n}}\n");
    text.push_str("resource \"terraform_data\" \"any\" {\n  input = jsondecode(terraform_data.unknown.id)\n}\nlocals {\n");
    for (name, _, value) in KNOWN.iter().chain(&PARTLY_KNOWN) {
        let _ = writeln!(text, "  {name} = {value}");
    }
    for (name, ..) in UNKNOWN {
        let _ = writeln!(text, "  {name} = terraform_data.unknown.output.{name}");
    }
    text.push_str("  unknown_any = terraform_data.any.output\n}\n");
    text
}

/// The same names for our evaluator.
struct Names {
    values: BTreeMap<&'static str, Value>,
    surroundings: Surroundings,
}

impl Names {
    fn new() -> Self {
        let mut names = Names {
            values: BTreeMap::new(),
            surroundings: Surroundings { folder: files(), ..Surroundings::default() },
        };
        names.values.insert("unknown_any", Value::unknown(Type::Any));
        for (name, _, value) in UNKNOWN {
            let ty = Type::of(&names.evaluated(value).expect("a value"));
            names.values.insert(name, Value::unknown(ty));
        }
        for (name, _, value) in KNOWN.into_iter().chain(PARTLY_KNOWN) {
            let value = names.evaluated(value).expect("a value");
            names.values.insert(name, value);
        }
        names
    }

    fn evaluated(&self, text: &str) -> Result<Value, String> {
        let expression = parse_expression(text, SourceMap::new().add("case", text)).expect("an expression");
        let evaluated = evaluate(&expression, self);
        match evaluated.diagnostics.iter().next() {
            Some(mistake) => Err(mistake.to_string()),
            None => Ok(evaluated.value),
        }
    }
}

impl Environment for Names {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let [StaticStep::Attribute(name), ..] = reference.steps else {
            return Constants::default().resolve(reference);
        };
        let value = self.values.get(name.as_str()).expect("a name of the tables").clone();
        Ok(Resolved { value, steps_used: 1 })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}

/// How the answers differ, if they do.
fn difference(ours: &Result<Value, String>, theirs: &Answer) -> Option<String> {
    match (ours, theirs) {
        (Err(_), Answer::Refused) => None,
        (Ok(ours), Answer::Refused) => Some(format!("ours:   {}\n    theirs: refused", revealed(ours))),
        (Err(mistake), Answer::Planned { value, .. }) => {
            Some(format!("ours:   {mistake}\n    theirs: {value}"))
        }
        (Ok(ours), Answer::Planned { value, unknown, sensitive }) => {
            let same = alike(ours, value, unknown, sensitive);
            (!same).then(|| {
                format!(
                    "ours:   {}\n    theirs: {value} unknown {unknown} sensitive {sensitive}",
                    revealed(ours)
                )
            })
        }
    }
}

fn revealed(value: &Value) -> String {
    value.to_json(trueup_core::JsonForm::RECORD)
}

/// How the parts of a value fit those that a plan shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fits {
    Exactly,
    /// What is unknown in the plan may be anything.
    MoreIsKnown,
    /// What is unknown in ours may be anything.
    LessIsKnown,
    /// A number or bool may be the text of it, and a comparison may come to the opposite.
    ByType,
}

/// True if a value is what a plan shows, position by position, with all that is sensitive.
fn alike(ours: &Value, value: &Json, unknown: &Json, sensitive: &Json) -> bool {
    fit(&ours.without_marks(), value, unknown, Fits::Exactly) && equally_sensitive(ours, sensitive)
}

fn equally_sensitive(ours: &Value, sensitive: &Json) -> bool {
    let is = *sensitive == Json::Bool(true);
    if is || ours.is_secret() {
        // The parts of what is sensitive as a whole are no longer told apart.
        return is == ours.is_secret();
    }
    let of = |part: Option<&Json>| part.cloned().unwrap_or(Json::Null);
    match ours.as_entries() {
        Some(entries) => {
            entries.iter().all(|(key, item)| equally_sensitive(item, &of(sensitive.get(key.as_str()))))
        }
        None => ours.children().enumerate().all(|(at, item)| equally_sensitive(item, &of(sensitive.get(at)))),
    }
}

fn fit(ours: &Value, value: &Json, unknown: &Json, fits: Fits) -> bool {
    let is_unknown = *unknown == Json::Bool(true);
    if is_unknown || ours.is_unknown() {
        return is_unknown == ours.is_unknown()
            || (is_unknown && fits == Fits::MoreIsKnown)
            || (ours.is_unknown() && fits == Fits::LessIsKnown);
    }
    let of = |part: Option<&Json>| part.cloned().unwrap_or(Json::Null);
    match (ours.kind(), value) {
        (ValueKind::Map(entries) | ValueKind::Object(entries), Json::Object(theirs)) => {
            let part = |(key, item): (&SmolStr, &Value)| {
                fit(item, &of(value.get(key.as_str())), &of(unknown.get(key.as_str())), fits)
            };
            entries.len() == known_keys(theirs, unknown) && entries.iter().all(part)
        }
        (ValueKind::List(items) | ValueKind::Set(items), Json::Array(theirs)) => {
            let part = |(at, item): (usize, &Value)| fit(item, &theirs[at], &of(unknown.get(at)), fits);
            items.len() == theirs.len() && items.iter().enumerate().all(part)
        }
        _ => {
            let theirs = Value::from_plain_json(&value.to_string()).expect("a value");
            let text = |value: &Value| convert(value, &Type::String);
            let compared = theirs.as_bool().is_some() && ours.as_bool().is_some();
            theirs == *ours || (fits == Fits::ByType && (compared || text(&theirs) == text(ours)))
        }
    }
}

/// How many keys there are: those of unknown values stand in the mask alone.
fn known_keys(value: &serde_json::Map<String, Json>, unknown: &Json) -> usize {
    let unknown = unknown.as_object().into_iter().flatten();
    value.len() + unknown.filter(|(key, _)| !value.contains_key(*key)).count()
}
