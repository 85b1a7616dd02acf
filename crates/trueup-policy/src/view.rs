//! A plan as policies see it: with what is known, and without what is secret.
#![allow(clippy::disallowed_types, reason = "CEL's own maps; nothing is listed in their order")]

use std::collections::HashMap;

use cel::Value as Cel;

use trueup_core::{Change, Kind, Path, Step, Value};
use trueup_engine::{Plan, PlannedAction};

/// What stands for a secret.
const SECRET: &str = "(secret)";

/// The resources of a plan, in its order.
pub(crate) fn resources(plan: &Plan) -> Vec<Cel> {
    plan.actions.iter().map(resource).collect()
}

/// The plan as a whole, with its resources.
pub(crate) fn whole(plan: &Plan, resources: &[Cel]) -> Cel {
    let mut counts: HashMap<String, i64> = HashMap::new();
    for action in &plan.actions {
        *counts.entry(action.action.name().to_owned()).or_default() += 1;
    }
    map([
        ("stack", text(&plan.scope.stack)),
        ("stage", text(&plan.scope.stage)),
        ("resources", Cel::from(resources.to_vec())),
        ("counts", Cel::from(counts)),
        ("left_out", texts(&plan.left_out)),
    ])
}

fn resource(action: &PlannedAction) -> Cel {
    let address = &action.address;
    let mut unknown = Vec::new();
    map([
        ("address", text(address)),
        ("type", text(address.type_name())),
        ("name", text(address.name())),
        ("module", text(address.module())),
        ("action", text(action.action.name())),
        ("reasons", texts(&action.reasons)),
        ("inputs", seen(&action.inputs, &Path::ROOT, &mut unknown)),
        ("prior_inputs", seen(&action.prior_inputs, &Path::ROOT, &mut Vec::new())),
        ("prior_outputs", seen(&action.prior_outputs, &Path::ROOT, &mut Vec::new())),
        ("unknown", Cel::from(unknown)),
        ("changes", changes(&action.changes)),
        ("drift", changes(&action.drift)),
        ("replaced_for", texts(&action.replace_paths)),
        ("dependencies", texts(&action.dependencies)),
    ])
}

fn changes(changes: &[Change]) -> Cel {
    let side = |value: &Option<Value>| {
        value.as_ref().map_or(Cel::Null, |value| seen(value, &Path::ROOT, &mut Vec::new()))
    };
    let change = |it: &Change| {
        map([("path", text(&it.path)), ("before", side(&it.before)), ("after", side(&it.after))])
    };
    Cel::from(changes.iter().map(change).collect::<Vec<_>>())
}

/// A value. What is unknown is left out of maps and objects, is null in lists, and has its path listed.
fn seen(value: &Value, path: &Path, unknown: &mut Vec<String>) -> Cel {
    if value.is_unknown() {
        unknown.push(path.to_string());
        return Cel::Null;
    }
    if value.is_secret() {
        return text(SECRET);
    }
    match value.kind() {
        Kind::Null | Kind::Unknown(_) => Cel::Null,
        Kind::Bool(bool) => Cel::Bool(*bool),
        Kind::Number(number) => match number.as_i64() {
            Some(integer) => Cel::Int(integer),
            None => Cel::Float(number.nearest_f64()),
        },
        Kind::String(string) => text(string),
        Kind::List(items) | Kind::Set(items) => {
            let item = |(at, item)| seen(item, &path.join(Step::Index(at)), unknown);
            Cel::from((0..).zip(items.iter()).map(item).collect::<Vec<_>>())
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            let mut seen_entries = HashMap::new();
            for (key, entry) in entries.iter() {
                let entry_seen = seen(entry, &path.join(Step::Key(key.clone())), unknown);
                if !entry.is_unknown() {
                    seen_entries.insert(key.to_string(), entry_seen);
                }
            }
            Cel::from(seen_entries)
        }
    }
}

fn text(text: impl std::fmt::Display) -> Cel {
    Cel::from(text.to_string())
}

fn texts(texts: &[impl std::fmt::Display]) -> Cel {
    Cel::from(texts.iter().map(text).collect::<Vec<_>>())
}

fn map<const N: usize>(entries: [(&str, Cel); N]) -> Cel {
    Cel::from(HashMap::from(entries.map(|(name, value)| (name.to_owned(), value))))
}
