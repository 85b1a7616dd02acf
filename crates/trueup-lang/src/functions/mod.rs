//! The functions that expressions can call, a file per family.
//!
//! Each family has a table of functions: name, parameters, the type of its results, and the function itself.
//! `call` does for all what they have in common: it counts the arguments, refuses null, converts to the parameters'
//! types, answers with an unknown value where an argument is not known, and carries secret marks to the result. So the
//! functions themselves see known, plain values of the right types, unless they ask for more.

mod collection;
mod compare;
mod crypto;
mod csv;
mod date;
mod encoding;
mod filesystem;
mod format;
mod glob;
mod hash;
mod json;
mod network;
mod notation;
mod numeric;
mod parameter;
mod pattern;
mod rsa;
mod sequence;
mod set;
mod string;
mod template;
mod tfvars;
mod timestamp;
mod type_conversion;
mod yaml;
mod yaml_write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use trueup_core::{Excess, Marks, Origin, Value};

use crate::eval::{Environment, Surroundings};
use crate::limits::{TEXT_BYTES_MAX, too_long};
use crate::normal_form::normal_text;
use crate::types::convert_unified;

pub(crate) use json::json_text;
pub(crate) use parameter::{Function, Parameter, Returns, Wanted, any, function, nullable, param};

/// An argument as the caller evaluated it.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Why a call has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    /// The argument it is about.
    pub(crate) argument: Option<usize>,
    /// What is wrong. One that was put together may quote an argument, and is not shown if one of them is secret.
    pub(crate) message: Cow<'static, str>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Problem { argument: None, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn at(argument: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Problem { argument: Some(argument), message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same as may be shown where an argument is secret: texts, keys and types of arguments stand only in messages
    /// that were put together.
    fn without_secrets(self) -> Self {
        match self.message {
            Cow::Borrowed(_) => self,
            Cow::Owned(_) => Problem {
                argument: self.argument,
                ..Problem::new("has no result; the reason is not shown, because an argument is secret")
            },
        }
    }
}

/// A number of things, in words.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A call under way: arguments of the right number and types.
pub(crate) struct Call<'a> {
    pub(crate) arguments: &'a [Value],
    pub(crate) environment: &'a dyn Environment,
    /// The arguments with their marks.
    marked: &'a [Value],
}

impl Call<'_> {
    /// A text argument.
    pub(crate) fn text(&self, at: usize) -> &str {
        self.arguments.get(at).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number argument that must be whole and fit.
    pub(crate) fn integer(&self, at: usize) -> Result<i64, Problem> {
        self.arguments
            .get(at)
            .and_then(Value::as_number)
            .and_then(trueup_core::Number::as_i64)
            .ok_or_else(|| Problem::at(at, "must be a whole number"))
    }

    /// A number argument that must be whole and not negative.
    pub(crate) fn count(&self, at: usize) -> Result<usize, Problem> {
        let number = self.integer(at)?;
        usize::try_from(number).map_err(|_| Problem::at(at, "must not be negative"))
    }

    /// Whether an argument is secret, so that no message may quote one. Looks at all of them: ask only when needed.
    pub(crate) fn concealed(&self) -> bool {
        self.marked.iter().any(Value::contains_secret)
    }

    /// The marks of all arguments.
    pub(crate) fn marks(&self) -> Marks {
        all_marks(self.marked)
    }

    /// A bit of an argument for a message, unless that is secret.
    pub(crate) fn shown(&self, text: &str) -> String {
        if self.concealed() { "(secret)".to_owned() } else { format!("{text:?}") }
    }

    /// A number of an argument for a message, unless that is secret.
    pub(crate) fn shown_number(&self, number: i128) -> String {
        if self.concealed() { "(secret)".to_owned() } else { number.to_string() }
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        self.environment.surroundings()
    }
}

/// Refuses a result that would be longer than any text may become.
fn refuse_longer_than_max(length: usize) -> Result<(), Problem> {
    if length <= TEXT_BYTES_MAX { Ok(()) } else { Err(Problem::new(format!("the result {}", too_long()))) }
}

/// A list, unless it has more elements than any value may hold.
fn bounded_list(items: impl Iterator<Item = Value>) -> Outcome {
    let items: Vec<Value> = items.take(Value::POSITIONS_MAX + 1).collect();
    match items.len() > Value::POSITIONS_MAX {
        true => Err(Problem::new(format!("the result {}", Excess::Positions))),
        false => Ok(Value::list(items)),
    }
}

/// What functions return.
pub(crate) type Outcome = Result<Value, Problem>;

/// The functions of each family, under what its members have in common.
static FAMILIES: [(&str, &[Function]); 16] = [
    ("Numbers", numeric::FUNCTIONS),
    ("Texts", string::FUNCTIONS),
    ("Texts by a format", format::FUNCTIONS),
    ("Patterns", pattern::FUNCTIONS),
    ("Collections", collection::FUNCTIONS),
    ("Sequences", sequence::FUNCTIONS),
    ("Sets", set::FUNCTIONS),
    ("Types and marks", type_conversion::FUNCTIONS),
    ("Encodings", encoding::FUNCTIONS),
    ("Digests", hash::FUNCTIONS),
    ("Secrets and randomness", crypto::FUNCTIONS),
    ("Dates and times", date::FUNCTIONS),
    ("Files", filesystem::FUNCTIONS),
    ("Templates", template::FUNCTIONS),
    ("Network addresses", network::FUNCTIONS),
    ("Values as texts of the language", tfvars::FUNCTIONS),
];

static ALL: LazyLock<BTreeMap<&'static str, &'static Function>> = LazyLock::new(|| {
    let functions = FAMILIES.iter().flat_map(|(_, functions)| functions.iter());
    functions.map(|function| (function.name, function)).collect()
});

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    ALL.get(name).copied()
}

/// The names of all built-in functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    // These two decide for themselves what to evaluate, so the evaluator holds them.
    ALL.keys().copied().chain(["can", "try"])
}

/// How each function is called, such as `join(separator, lists...)`, by family.
pub fn signatures() -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let families = FAMILIES.iter().map(|(family, functions)| {
        let mut signatures: Vec<String> = functions.iter().map(Function::signature).collect();
        signatures.sort();
        (*family, signatures)
    });
    // The evaluator's own.
    let fallbacks = ["can(expression)".to_owned(), "try(expressions...)".to_owned()];
    families.chain([("Fallbacks", fallbacks.into())])
}

/// What to use in place of a function that older versions of the language had.
pub(crate) fn removed(name: &str) -> Option<&'static str> {
    match name {
        "list" => Some("write a list in brackets: tolist([a, b])"),
        "map" => Some("write a map in braces: tomap({ a = 1 })"),
        "defaults" => Some("give defaults in the type of the variable: optional(string, \"default\")"),
        _ => None,
    }
}

/// Calls a function. `ambient` are marks that arguments have lost on the way.
pub(crate) fn call(
    function: &Function,
    arguments: &[Argument],
    environment: &dyn Environment,
    ambient: Marks,
) -> Outcome {
    called(function, arguments, environment).map_err(|problem| {
        let secret = |argument: &Argument| argument.value.contains_secret();
        let concealed = ambient != Marks::NONE || arguments.iter().any(secret);
        if concealed { problem.without_secrets() } else { problem }
    })
}

fn called(function: &Function, arguments: &[Argument], environment: &dyn Environment) -> Outcome {
    function.check_count(arguments.len())?;
    let mut values = Vec::with_capacity(arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        values.push(accept(function.parameter(at), at, &argument.value)?);
    }
    // Arguments can be large, so they are looked through only where the function does not do that itself.
    let marks = if function.sees_secrets { Marks::NONE } else { all_marks(&values) };
    if !function.sees_unknown && !values.iter().all(Value::is_wholly_known) {
        return Ok(Value::unknown(function.returns.ty(&values)).never_null().with_marks(all_marks(&values)));
    }
    let plain: Vec<Value>;
    let visible = if marks != Marks::NONE {
        plain = values.iter().map(Value::without_marks).collect();
        &plain
    } else {
        &values
    };
    let result = (function.call)(&Call { arguments: visible, environment, marked: &values })?;
    let result = normal_text(result);
    Ok(result.with_marks(marks))
}

fn all_marks(values: &[Value]) -> Marks {
    values.iter().fold(Marks::NONE, |marks, value| marks | value.all_marks())
}

fn accept(parameter: &Parameter, at: usize, value: &Value) -> Outcome {
    if value.is_null() && !parameter.nullable {
        return Err(Problem::at(at, format!("the argument `{}` must not be null", parameter.name)));
    }
    let Some(wanted) = parameter.wanted.ty() else { return Ok(value.clone()) };
    let value = match value.is_unknown() && !parameter.nullable {
        true => &value.clone().never_null(),
        false => value,
    };
    convert_unified(value, &wanted).map_err(|mismatches| {
        let first = mismatches.into_iter().next();
        let message = first.map_or_else(
            || format!("expected {wanted}"),
            |mismatch| {
                let place =
                    if mismatch.path.is_root() { String::new() } else { format!("{}: ", mismatch.path) };
                format!("{place}{}", mismatch.message)
            },
        );
        Problem::at(at, format!("the argument `{}` does not fit: {message}", parameter.name))
    })
}
