//! Schemas in words, for `schema` and for the reference.

use trueup_core::schema::{Attribute, Block, Constraint, NestedBlock, Nesting, Presence, Rule, Shape};

use super::value::one_line;

/// The structure inside all collections.
pub(crate) fn inner(shape: &Shape) -> Option<&Block> {
    match shape {
        Shape::Plain(_) => None,
        Shape::Object(block) => Some(block),
        Shape::List(element) | Shape::Set(element) | Shape::Map(element) => inner(element),
    }
}

fn shape_name(shape: &Shape) -> String {
    match shape {
        Shape::Plain(ty) => ty.to_string(),
        Shape::Object(_) => "object".to_owned(),
        Shape::List(element) => format!("list({})", shape_name(element)),
        Shape::Set(element) => format!("set({})", shape_name(element)),
        Shape::Map(element) => format!("map({})", shape_name(element)),
    }
}

/// What is known of an attribute, in a few words each.
pub(crate) fn facts(attribute: &Attribute) -> Vec<String> {
    let mut facts = vec![shape_name(&attribute.shape)];
    facts.push(
        match attribute.presence {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::OptionalComputed => "optional, else set by the provider",
            Presence::Computed => "set by the provider",
        }
        .to_owned(),
    );
    if let Some(default) = &attribute.default {
        facts.push(format!("default {}", one_line(default)));
    }
    let marks = [
        (attribute.secret, "secret"),
        (attribute.identity, "identity"),
        (attribute.replace, "forces replacement"),
        (attribute.volatile, "volatile"),
        (attribute.informational, "informational"),
        (attribute.create_only, "known from the create alone"),
        (attribute.stable, "stable"),
        (attribute.write_only, "never recorded"),
    ];
    facts.extend(marks.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    if let Some(input) = &attribute.mirrors {
        facts.push(format!("repeats {input}"));
    }
    facts
}

/// What a value must satisfy, and what else is to be said of it.
pub(crate) fn conditions(attribute: &Attribute) -> Vec<String> {
    let all = &attribute.constraints;
    let said =
        all.iter().enumerate().filter(|(at, it)| !all[at + 1..].iter().any(|other| narrows(other, it)));
    let mut told: Vec<String> = said.map(|(_, it)| condition(it)).collect();
    told.extend(attribute.deprecated.iter().map(|why| format!("deprecated: {why}")));
    told
}

/// Whether a range lies in another one, such as the one of the Rust type, which then goes without saying.
fn narrows(constraint: &Constraint, outer: &Constraint) -> bool {
    let (Constraint::Range { min, max }, Constraint::Range { min: least, max: most }) = (constraint, outer)
    else {
        return false;
    };
    least.as_ref().is_none_or(|least| min.as_ref().is_some_and(|min| min >= least))
        && most.as_ref().is_none_or(|most| max.as_ref().is_some_and(|max| max <= most))
}

fn condition(constraint: &Constraint) -> String {
    let between = |min: Option<String>, max: Option<String>| match (min, max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any".to_owned(),
    };
    match constraint {
        Constraint::OneOf(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        Constraint::Pattern(pattern) => format!("matches {}", pattern.as_str()),
        Constraint::Integer => "a whole number".to_owned(),
        Constraint::Range { min, max } => {
            between(min.as_ref().map(ToString::to_string), max.as_ref().map(ToString::to_string))
        }
        Constraint::Length { min, max } => {
            format!("length {}", between(min.map(|it| it.to_string()), max.map(|it| it.to_string())))
        }
        Constraint::NotNull => "not null".to_owned(),
        Constraint::Each(inner) => format!("each {}", condition(inner)),
    }
}

/// How often a block stands.
pub(crate) fn nesting(nested: &NestedBlock) -> &'static str {
    match nested.nesting {
        Nesting::Single | Nesting::Group => "block",
        Nesting::List => "blocks, in order",
        Nesting::Set => "blocks, without order",
        Nesting::Map => "blocks, by label",
    }
}

/// What must hold between attributes.
pub(crate) fn rule(rule: &Rule) -> String {
    let listed = |names: &[smol_str::SmolStr]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match quoted.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [others @ .., last] => format!("{} and {last}", others.join(", ")),
        }
    };
    match rule {
        Rule::ExactlyOneOf(names) => format!("exactly one of {} is set", listed(names)),
        Rule::AtLeastOneOf(names) => format!("at least one of {} is set", listed(names)),
        Rule::AtMostOneOf(names) => format!("at most one of {} is set", listed(names)),
        Rule::AllOrNone(names) => format!("either all of {} are set, or none", listed(names)),
        Rule::RequiredWith(name, others) => format!("where `{name}` is set, {} must be", listed(others)),
    }
}
