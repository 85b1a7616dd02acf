//! A plan as policies see it: secrets as they are, and unknown values as unknown.
//!
//! Policies judge secrets like any other value, or marking one would get it past them. What is said about a judgement
//! never quotes a value where a view holds a secret ([`Seen::is_secret`]).

use std::collections::BTreeMap;

use smol_str::{SmolStr, ToSmolStr};
use trueup_core::{Address, Change, Kind, Path, Step, Value};
use trueup_engine::{Action, FinalChange, Plan, PlannedAction, Reason};

use crate::cel::{Key, Map, Value as Cel};

/// A resource as policies see it.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) view: Cel,
    pub(crate) address: Address,
    /// Whether a secret is part of it.
    pub(crate) is_secret: bool,
    /// Whether some of its inputs are unknown.
    pub(crate) is_unknown: bool,
}

/// The plan as a whole, with its resources.
pub(crate) fn whole(plan: &Plan, resources: &[Seen]) -> Cel {
    let mut counts: BTreeMap<SmolStr, i64> = BTreeMap::new();
    for resource in resources {
        if let Cel::Map(fields) = &resource.view
            && let Some(Cel::String(action)) = fields.field("action")
        {
            *counts.entry(action.clone()).or_default() += 1;
        }
    }
    let counts = counts.into_iter().map(|(action, count)| (action, Cel::Int(count)));
    map([
        ("stack", text(&plan.scope.stack)),
        ("stage", text(&plan.scope.stage)),
        ("resources", Cel::list(resources.iter().map(|it| it.view.clone()))),
        ("counts", entries(counts)),
        ("left_out", texts(&plan.left_out)),
    ])
}

/// The resources as the plan has them, in its order; then the older objects of some of them that it deletes, and the data
/// sources that were read for it.
pub(crate) fn planned(plan: &Plan) -> Vec<Seen> {
    let seen = |action: &PlannedAction| {
        // A plan keeps nothing ephemeral: where an input is, it has a null that is secret.
        let inputs = Paths { is_secret_null_unknown: true, ..Paths::default() };
        resource(action, action.action, (&action.inputs, inputs), changes(&action.changes, None))
    };
    let resources = plan.actions.iter().map(seen);
    let older = plan.actions.iter().flat_map(cleaned_up);
    resources.chain(older).chain(plan.reads.iter().map(seen)).collect()
}

/// The older objects of a resource that goes on to exist: each is deleted, whatever happens to the resource.
fn cleaned_up(planned: &PlannedAction) -> impl Iterator<Item = Seen> {
    let goes_itself = matches!(planned.action, Action::Delete | Action::Forget);
    let older = if goes_itself { &[] } else { planned.deposed.as_slice() };
    older.iter().map(move |_| {
        let reasons = vec![Reason::CleanUp];
        let deleted = PlannedAction { reasons, changes: Vec::new(), drift: Vec::new(), ..planned.clone() };
        resource(&deleted, Action::Delete, (&Value::NULL, Paths::default()), changes(&[], None))
    })
}

/// A resource on final values.
pub(crate) fn decided(action: &PlannedAction, change: &FinalChange<'_>) -> Seen {
    let changes = changes(&action.changes, Some(change.inputs));
    resource(action, change.action, (change.inputs, Paths::default()), changes)
}

fn resource(
    planned: &PlannedAction,
    action: Action,
    (inputs, mut own): (&Value, Paths),
    (changes, secret): (Cel, bool),
) -> Seen {
    let address = &planned.address;
    let mut prior = Paths::default();
    let (drift, secret_drift) = self::changes(&planned.drift, None);
    let view = map([
        ("address", text(address)),
        ("type", text(address.type_name())),
        ("name", text(address.name())),
        ("module", text(address.module())),
        ("action", text(action.name())),
        ("reasons", texts(&planned.reasons)),
        ("inputs", own.see(inputs, &Path::ROOT)),
        ("prior_inputs", prior.see(&planned.prior_inputs, &Path::ROOT)),
        ("prior_outputs", prior.see(&planned.prior_outputs, &Path::ROOT)),
        ("unknown", Cel::list(own.unknown.iter().cloned().map(Cel::String))),
        ("secret", Cel::list(own.secret.iter().cloned().map(Cel::String))),
        ("changes", changes),
        ("drift", drift),
        ("replaced_for", texts(&planned.replace_paths)),
        ("dependencies", texts(&planned.dependencies)),
    ]);
    let is_secret = secret || secret_drift || !own.secret.is_empty() || !prior.secret.is_empty();
    Seen { view, address: address.clone(), is_secret, is_unknown: !own.unknown.is_empty() }
}

/// Changes, and whether there is a secret among them. Where inputs are final, those are what comes after.
fn changes(changes: &[Change], inputs: Option<&Value>) -> (Cel, bool) {
    let mut paths = Paths::default();
    let mut side = |value: Option<&Value>| value.map_or(Cel::Null, |value| paths.see(value, &Path::ROOT));
    let change = |it: &Change| {
        let settled = inputs.and_then(|inputs| inputs.at(&it.path));
        let after = settled.as_ref().or(it.after.as_ref());
        map([("path", text(&it.path)), ("before", side(it.before.as_ref())), ("after", side(after))])
    };
    let seen = Cel::list(changes.iter().map(change));
    (seen, !paths.secret.is_empty())
}

/// The paths in a value that are unknown or secret.
#[derive(Default)]
struct Paths {
    unknown: Vec<SmolStr>,
    secret: Vec<SmolStr>,
    inside_secret: bool,
    /// Whether a null that is secret stands for a value to come.
    is_secret_null_unknown: bool,
}

impl Paths {
    fn see(&mut self, value: &Value, path: &Path) -> Cel {
        let is_secret = value.is_secret() || self.inside_secret;
        let is_to_come = self.is_secret_null_unknown && value.is_null() && is_secret;
        if value.is_unknown() || is_to_come {
            self.unknown.push(path.to_smolstr());
        }
        if !value.is_secret() || self.inside_secret {
            return self.see_kind(value, path);
        }
        self.secret.push(path.to_smolstr());
        self.inside_secret = true;
        let seen = self.see_kind(value, path);
        self.inside_secret = false;
        seen
    }

    fn see_kind(&mut self, value: &Value, path: &Path) -> Cel {
        match value.kind() {
            Kind::Null if self.is_secret_null_unknown && self.inside_secret => Cel::Unknown,
            Kind::Null => Cel::Null,
            Kind::Unknown(_) => Cel::Unknown,
            Kind::Bool(bool) => Cel::Bool(*bool),
            Kind::Number(number) => match number.as_i64() {
                Some(integer) => Cel::Int(integer),
                None => Cel::Double(number.nearest_f64()),
            },
            Kind::String(string) => Cel::String(string.clone()),
            Kind::List(items) | Kind::Set(items) => {
                let item = |(at, item)| self.see(item, &path.join(Step::Index(at)));
                Cel::list((0..).zip(items.iter()).map(item))
            }
            Kind::Map(fields) | Kind::Object(fields) => {
                let field = |(key, entry): (&SmolStr, &Value)| {
                    (key.clone(), self.see(entry, &path.join(Step::Key(key.clone()))))
                };
                entries(fields.iter().map(field))
            }
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
