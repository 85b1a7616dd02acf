//! What is recorded of a resource, as people read it.

use trueup_core::{Address, Value};
use trueup_state::{Generation, Record, Status};

use super::value::lines;
use crate::ui::{Look, Meaning, padded, width, wrapped};

/// Fields with their values, names in one column.
pub(crate) fn field_lines(fields: &[(String, Value)], indent: usize, look: Look) -> Vec<String> {
    let column = fields.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let told = fields.iter().flat_map(|(name, value)| {
        let head = format!("{}{}  ", " ".repeat(indent), padded(name, column));
        let beside = " ".repeat(width(&head));
        let mut told = lines(value, look.columns.saturating_sub(width(&head))).into_iter();
        let first = format!("{head}{}", told.next().unwrap_or_default());
        std::iter::once(first).chain(told.map(move |line| format!("{beside}{line}"))).collect::<Vec<_>>()
    });
    told.collect()
}

/// The record as lines.
pub(crate) fn record_lines(record: &Record, dependents: &[&Address], look: Look) -> Vec<String> {
    let mut told = vec![look.paint(Meaning::Strong, &record.address.to_string())];
    let mut facts = vec![("provider".to_owned(), record.meta.provider.to_string())];
    if record.origin != record.address {
        facts.push(("first created as".to_owned(), record.origin.to_string()));
    }
    for (holds, word) in [(record.meta.protect, "protected"), (record.meta.retain, "retained")] {
        if holds {
            facts.push((word.to_owned(), "yes".to_owned()));
        }
    }
    let joined = |addresses: Vec<String>| addresses.join(", ");
    if !record.meta.dependencies.is_empty() {
        let on = record.meta.dependencies.iter().map(ToString::to_string).collect();
        facts.push(("depends on".to_owned(), joined(on)));
    }
    if !dependents.is_empty() {
        facts.push(("needed by".to_owned(), joined(dependents.iter().map(ToString::to_string).collect())));
    }
    let column = facts.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    for (name, fact) in facts {
        let mut lines = wrapped(&fact, look.columns.saturating_sub(column + 4)).into_iter();
        told.push(format!("  {}  {}", padded(&name, column), lines.next().unwrap_or_default()));
        told.extend(lines.map(|line| format!("{}{line}", " ".repeat(column + 4))));
    }
    if let Some(current) = &record.current {
        told.extend(generation_lines(current, "now", look));
    }
    for generation in &record.deposed {
        told.extend(generation_lines(generation, "deposed, waits to be deleted", look));
    }
    told
}

fn generation_lines(generation: &Generation, what: &str, look: Look) -> Vec<String> {
    let status = match &generation.status {
        Status::Ready => "",
        Status::Creating(_) if generation.object.is_none() => ", its create was begun, outcome unknown",
        Status::Creating(_) => ", its create is not finished",
        Status::Updating(_) => ", an update is not finished",
        Status::Deleting => ", its delete is not finished",
    };
    let mut told = vec![format!("  generation {} ({what}{status})", generation.number)];
    let mut section = |name: &str, value: &Value| {
        let entries = value.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
        let fields: Vec<(String, Value)> = entries
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect();
        if !fields.is_empty() {
            told.push(format!("    {name}"));
            told.extend(field_lines(&fields, 6, look));
        }
    };
    if let Some(inputs) = generation.inputs() {
        section("inputs", &inputs.effective);
    }
    if let Some(object) = &generation.object {
        section("outputs", &object.outputs);
    }
    told
}
