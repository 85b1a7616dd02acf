//! A plan as policies see it: with what is known, and without what is secret.

use std::collections::BTreeMap;

use smol_str::{SmolStr, ToSmolStr};
use trueup_core::{Change, Kind, Path, Step, Value};
use trueup_engine::{Plan, PlannedAction};

use crate::cel::{Key, Map, Value as Cel};

/// What stands for a secret.
const SECRET: &str = "(secret)";

/// The resources of a plan, in its order.
pub(crate) fn resources(plan: &Plan) -> Vec<Cel> {
    plan.actions.iter().map(resource).collect()
}

/// The plan as a whole, with its resources.
pub(crate) fn whole(plan: &Plan, resources: &[Cel]) -> Cel {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for action in &plan.actions {
        *counts.entry(action.action.name()).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(action, count)| (SmolStr::new(action), Cel::Int(count)));
    map([
        ("stack", text(&plan.scope.stack)),
        ("stage", text(&plan.scope.stage)),
        ("resources", Cel::list(resources.iter().cloned())),
        ("counts", entries(counts)),
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
        ("unknown", Cel::list(unknown.into_iter().map(Cel::String))),
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
    Cel::list(changes.iter().map(change))
}

/// A value. What is unknown is left out of maps and objects, is null in lists, and has its path listed.
fn seen(value: &Value, path: &Path, unknown: &mut Vec<SmolStr>) -> Cel {
    if value.is_unknown() {
        unknown.push(path.to_smolstr());
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
            None => Cel::Double(number.nearest_f64()),
        },
        Kind::String(string) => Cel::String(string.clone()),
        Kind::List(items) | Kind::Set(items) => {
            let item = |(at, item)| seen(item, &path.join(Step::Index(at)), unknown);
            Cel::list((0..).zip(items.iter()).map(item))
        }
        Kind::Map(fields) | Kind::Object(fields) => {
            let mut seen_fields = Vec::with_capacity(fields.len());
            for (key, entry) in fields.iter() {
                let entry_seen = seen(entry, &path.join(Step::Key(key.clone())), unknown);
                if !entry.is_unknown() {
                    seen_fields.push((key.clone(), entry_seen));
                }
            }
            entries(seen_fields)
        }
    }
}

fn text(text: impl std::fmt::Display) -> Cel {
    Cel::String(text.to_smolstr())
}

fn texts(texts: &[impl std::fmt::Display]) -> Cel {
    Cel::list(texts.iter().map(text))
}

fn map<const N: usize>(fields: [(&'static str, Cel); N]) -> Cel {
    entries(fields.map(|(name, value)| (SmolStr::new_static(name), value)))
}

fn entries(entries: impl IntoIterator<Item = (SmolStr, Cel)>) -> Cel {
    let entries = entries.into_iter().map(|(key, value)| (Key::String(key), value)).collect();
    Cel::Map(Map::new(entries).expect("the keys of a map differ"))
}
