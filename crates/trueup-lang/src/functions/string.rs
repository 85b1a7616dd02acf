//! Texts: chomp endswith indent join lower split startswith strcontains strrev substr title trim trimprefix trimspace
//! trimsuffix upper. Characters are what people see as such (grapheme clusters), as in Terraform.

use trueup_core::{Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Call, Function, Outcome, Problem, Returns, Wanted, bounded_list, function, param, refuse_longer_than_max,
};

const STR: &[super::Parameter] = &[param("str", Wanted::Text)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("chomp", STR, Returns::Text, |call| text(call.text(0).trim_end_matches(['\r', '\n']))),
    function(
        "endswith",
        &[param("str", Wanted::Text), param("suffix", Wanted::Text)],
        Returns::Bool,
        |call| Ok(Value::from(call.text(0).ends_with(call.text(1)))),
    ),
    function(
        "startswith",
        &[param("str", Wanted::Text), param("prefix", Wanted::Text)],
        Returns::Bool,
        startswith,
    )
    .with_unknown(),
    function(
        "strcontains",
        &[param("str", Wanted::Text), param("substr", Wanted::Text)],
        Returns::Bool,
        |call| Ok(Value::from(call.text(0).contains(call.text(1)))),
    ),
    function("indent", &[param("spaces", Wanted::Number), param("str", Wanted::Text)], Returns::Text, indent),
    function("join", &[param("separator", Wanted::Text)], Returns::Text, join)
        .more(param("lists", Wanted::Texts)),
    function("lower", STR, Returns::Text, |call| {
        text(&call.text(0).chars().map(|char| single(char, char.to_lowercase())).collect::<String>())
    }),
    function("upper", STR, Returns::Text, |call| {
        text(&call.text(0).chars().map(|char| single(char, char.to_uppercase())).collect::<String>())
    }),
    function("title", STR, Returns::Text, title),
    function("split", &[param("separator", Wanted::Text), param("str", Wanted::Text)], Returns::Texts, split),
    function("strrev", STR, Returns::Text, |call| {
        text(&call.text(0).graphemes(true).rev().collect::<String>())
    }),
    function(
        "substr",
        &[param("str", Wanted::Text), param("offset", Wanted::Number), param("length", Wanted::Number)],
        Returns::Text,
        substr,
    ),
    function("trim", &[param("str", Wanted::Text), param("cutset", Wanted::Text)], Returns::Text, |call| {
        text(call.text(0).trim_matches(|char| call.text(1).contains(char)))
    }),
    function(
        "trimprefix",
        &[param("str", Wanted::Text), param("prefix", Wanted::Text)],
        Returns::Text,
        |call| text(call.text(0).strip_prefix(call.text(1)).unwrap_or(call.text(0))),
    ),
    function(
        "trimsuffix",
        &[param("str", Wanted::Text), param("suffix", Wanted::Text)],
        Returns::Text,
        |call| text(call.text(0).strip_suffix(call.text(1)).unwrap_or(call.text(0))),
    ),
    function("trimspace", STR, Returns::Text, |call| text(call.text(0).trim())),
];

#[allow(clippy::unnecessary_wraps)]
fn text(text: &str) -> Outcome {
    Ok(Value::string(text))
}

/// The character that another becomes, unless that would be several.
fn single(char: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => char,
    }
}

fn indent(call: &Call<'_>) -> Outcome {
    let spaces = call.count(0)?;
    if spaces > 1000 {
        return Err(Problem::at(0, "is more than 1000 spaces"));
    }
    let lines = call.text(1).matches('\n').count();
    refuse_longer_than_max(call.text(1).len() + lines * spaces)?;
    text(&call.text(1).replace('\n', &format!("\n{}", " ".repeat(spaces))))
}

fn join(call: &Call<'_>) -> Outcome {
    if call.arguments.len() < 2 {
        return Err(Problem::new("needs at least one list"));
    }
    let mut texts = Vec::new();
    for (at, list) in call.arguments.iter().enumerate().skip(1) {
        for item in list.as_items().unwrap_or_default() {
            match item.as_str() {
                Some(text) => texts.push(text),
                None => return Err(Problem::at(at, "the list must not hold null")),
            }
        }
    }
    let length: usize = texts.iter().map(|text| text.len() + call.text(0).len()).sum();
    refuse_longer_than_max(length)?;
    text(&texts.join(call.text(0)))
}

/// What is known of the beginning may be enough.
fn startswith(call: &Call<'_>) -> Outcome {
    let [text, wanted] = call.arguments else { return Ok(Value::unknown(Type::Bool)) };
    let open = Value::unknown(Type::Bool).never_null();
    let Some(wanted) = wanted.as_str() else { return Ok(open) };
    if let Some(text) = text.as_str() {
        return Ok(Value::from(text.starts_with(wanted)));
    }
    let known = text.refinement().map_or("", |known| known.prefix.as_str());
    Ok(match known.starts_with(wanted) {
        true => Value::from(true),
        false if known.len() >= wanted.len() => Value::from(false),
        false => open,
    })
}

fn title(call: &Call<'_>) -> Outcome {
    let mut before_word = true;
    let titled = call.text(0).chars().map(|char| {
        let begins = std::mem::replace(&mut before_word, !(char.is_alphanumeric() || char == '_'));
        if begins { single(char, char.to_uppercase()) } else { char }
    });
    text(&titled.collect::<String>())
}

fn split(call: &Call<'_>) -> Outcome {
    let (separator, whole) = (call.text(0), call.text(1));
    match separator.is_empty() {
        true => bounded_list(whole.chars().map(|char| Value::string(char.to_string()))),
        false => bounded_list(whole.split(separator).map(Value::string)),
    }
}

fn substr(call: &Call<'_>) -> Outcome {
    let characters: Vec<&str> = call.text(0).graphemes(true).collect();
    let (offset, length) = (call.integer(1)?, call.integer(2)?);
    let count = i64::try_from(characters.len()).unwrap_or(i64::MAX);
    let start = if offset < 0 { count.saturating_add(offset).max(0) } else { offset.min(count) };
    let end = if length < 0 { count } else { start.saturating_add(length).min(count) };
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    text(&characters[place(start)..place(end)].concat())
}
