//! Plans: what would be done, why, and what may be done at most. Data without behaviour beyond reading it.

mod text;
mod verdict;

pub(crate) use verdict::{action_of, updated_instead};

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{Address, Change, Diagnostics, Path, Step, Value};
use trueup_provider::GenerationNumber;
use trueup_state::{RecordId, Scope, Version};

/// A plan for one scope.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The stack and stage.
    pub scope: Scope,
    /// What happens to each resource and data source, in the order of their addresses.
    pub actions: Vec<PlannedAction>,
    /// Data sources that planning has read, in the order of their addresses and without their outputs. They are not part
    /// of what the plan does; policies judge them.
    pub reads: Vec<PlannedAction>,
    /// Resources that get another address, in order.
    pub moves: Vec<PlannedMove>,
    /// What the run is not about, in order (TARGET-5).
    pub left_out: Vec<Address>,
    /// The stack's outputs as far as they are known.
    pub outputs: Value,
    /// The stack's outputs as the last run left them.
    pub recorded_outputs: Value,
    /// What to tell the user, short of an error.
    pub warnings: Diagnostics,
    /// The records the plan follows from, in the order of their ids.
    pub read_set: Vec<(RecordId, Version)>,
}

/// What happens to one resource.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlannedAction {
    /// The resource.
    pub address: Address,
    /// What happens.
    pub action: Action,
    /// Why.
    pub reasons: Vec<Reason>,
    /// Where the inputs changed.
    pub changes: Vec<Change>,
    /// Where the object drifted from its record: before is recorded, after is observed.
    pub drift: Vec<Change>,
    /// The recorded inputs that a drifted object no longer has, as far as its type can tell and its outputs don't. They
    /// decide nothing.
    pub drifted_inputs: Vec<Change>,
    /// Where the bindings of others to it changed, below the key of each binding.
    pub bindings: Vec<Change>,
    /// The changed inputs that force a replacement, or may.
    pub replace_paths: Vec<Path>,
    /// In which order a replacement goes.
    pub replace_order: Option<ReplaceOrder>,
    /// The inputs to come, with defaults; null for a delete.
    pub inputs: Value,
    /// The outputs to expect; for a delete the recorded ones.
    pub outputs: Value,
    /// The recorded inputs; null if there are none.
    pub prior_inputs: Value,
    /// The recorded outputs; null if there are none.
    pub prior_outputs: Value,
    /// What it depends on, sorted.
    pub dependencies: Vec<Address>,
    /// Older generations that are to be deleted.
    pub deposed: Vec<GenerationNumber>,
    /// Whether its type cannot be read, so that drift goes unseen (DRIFT-4).
    pub unreadable: bool,
    /// Whether an object that exists becomes ours, and no field of it is to change (ADOPT-10).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts_only: bool,
}

/// A resource that gets another address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedMove {
    /// Its record.
    pub id: RecordId,
    /// From where.
    pub from: Address,
    /// To where.
    pub to: Address,
}

/// What happens to a resource. *May* means: decided at apply, on real values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing.
    NoOp,
    /// A data source is read at apply.
    Read,
    /// Perhaps brought up to date in place.
    MayUpdate,
    /// Brought up to date in place.
    Update,
    /// Perhaps replaced by a new object.
    MayReplace,
    /// Replaced by a new object.
    Replace,
    /// Made.
    Create,
    /// Removed.
    Delete,
    /// No longer kept track of; the object stays.
    Forget,
}

/// Why something happens (PLAN-19).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is declared and not recorded.
    New,
    /// Its inputs changed.
    Inputs,
    /// What others attach to it changed.
    Bindings,
    /// It was changed outside.
    Drift,
    /// It was removed outside.
    Gone,
    /// The run was told to.
    Forced,
    /// It exists already and becomes ours.
    Adopted,
    /// An operation on it was interrupted.
    Recovered,
    /// Its create failed half-way and the type cannot go on from there.
    Tainted,
    /// Something changes that it is said to be replaced with.
    Triggered,
    /// Something it depends on is replaced.
    UpstreamReplaced,
    /// Something it depends on is not known yet.
    OutputUnknown,
    /// Its record is of an older schema version.
    Migrated,
    /// It has another address.
    Moved,
    /// It is recorded and no longer declared.
    Undeclared,
    /// The whole stack is destroyed.
    Destroyed,
    /// Its provider is configured otherwise, and does not find the object any more, which is still there.
    ProviderChanged,
    /// The configuration of its provider is not known yet, and may lead to another place.
    ProviderUnknown,
    /// Its identity does not change, so the old object must go first.
    SameIdentity,
    /// Older generations of it wait to be deleted.
    CleanUp,
}

/// In which order a replacement goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplaceOrder {
    /// The new object is made, dependents move over, the old one is deleted.
    CreateFirst,
    /// The old object is deleted, then the new one is made.
    DeleteFirst,
}

/// What may be done to a resource at most (UNKNOWN-10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// Nothing.
    NoOp,
    /// Changes in place.
    Update,
    /// A new object, or the adoption of one, then changes in place.
    Create,
    /// A new object, changes in place, and the deletion of recorded ones.
    Replace,
    /// Deletion.
    Delete,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::New => "new",
            Reason::Inputs => "inputs",
            Reason::Bindings => "bindings",
            Reason::Drift => "drift",
            Reason::Gone => "gone",
            Reason::Forced => "forced",
            Reason::Adopted => "adopted",
            Reason::Recovered => "recovered",
            Reason::Tainted => "tainted",
            Reason::Triggered => "triggered",
            Reason::UpstreamReplaced => "upstream-replaced",
            Reason::OutputUnknown => "output-unknown",
            Reason::Migrated => "migrated",
            Reason::Moved => "moved",
            Reason::Undeclared => "undeclared",
            Reason::Destroyed => "destroyed",
            Reason::ProviderChanged => "provider-changed",
            Reason::ProviderUnknown => "provider-unknown",
            Reason::SameIdentity => "same-identity",
            Reason::CleanUp => "clean-up",
        })
    }
}

impl Action {
    /// The word by which people and machines know the action.
    pub fn name(self) -> &'static str {
        match self {
            Action::NoOp => "no-op",
            Action::Read => "read",
            Action::MayUpdate => "may-update",
            Action::Update => "update",
            Action::MayReplace => "may-replace",
            Action::Replace => "replace",
            Action::Create => "create",
            Action::Delete => "delete",
            Action::Forget => "forget",
        }
    }

    /// What the action grants.
    pub fn grant(self) -> Grant {
        match self {
            Action::NoOp | Action::Read => Grant::NoOp,
            Action::MayUpdate | Action::Update => Grant::Update,
            Action::MayReplace | Action::Replace => Grant::Replace,
            Action::Create => Grant::Create,
            Action::Delete | Action::Forget => Grant::Delete,
        }
    }
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
            && self.actions.iter().all(|it| it.action == Action::NoOp && it.deposed.is_empty())
            && self.output_changes().is_empty()
    }

    /// The outputs of the stack that change, or may once they are known, in the order of their names.
    pub fn output_changes(&self) -> Vec<Change> {
        let names = |outputs: &Value| -> Vec<SmolStr> {
            outputs.as_entries().map(|entries| entries.keys().cloned().collect()).unwrap_or_default()
        };
        let all: BTreeSet<SmolStr> =
            names(&self.recorded_outputs).into_iter().chain(names(&self.outputs)).collect();
        let changed = all.into_iter().filter_map(|name| {
            let side = |outputs: &Value| outputs.get(&name).filter(|value| !value.is_null()).cloned();
            let (before, after) = (side(&self.recorded_outputs), side(&self.outputs));
            let known = after.as_ref().is_none_or(Value::is_wholly_known);
            let same = before.clone().unwrap_or_default().same(&after.clone().unwrap_or_default());
            let path = Path::ROOT.join(Step::Key(name));
            (!(known && same)).then_some(Change { path, before, after, certain: known })
        });
        changed.collect()
    }

    /// Whether the records, in the order of their ids, are still those the plan was made from.
    pub fn follows_from(&self, recorded: &[(RecordId, Version)]) -> bool {
        recorded == self.read_set
    }

    /// The action of a resource.
    pub fn action(&self, address: &str) -> Option<&PlannedAction> {
        self.actions.iter().find(|action| action.address.to_string() == address)
    }

    /// How many resources each action has, in the order they are told.
    pub fn counts(&self) -> Vec<(usize, &'static str)> {
        let told = [
            (Action::Create, "to create"),
            (Action::Update, "to adopt"),
            (Action::Update, "to update"),
            (Action::MayUpdate, "may update"),
            (Action::Replace, "to replace"),
            (Action::MayReplace, "may replace"),
            (Action::Delete, "to delete"),
            (Action::Forget, "to forget"),
        ];
        let is_counted = |it: &PlannedAction, action, words| {
            it.action == action && it.adopts_only == (words == "to adopt")
        };
        let counts = told.map(|(action, words)| {
            (self.actions.iter().filter(|it| is_counted(it, action, words)).count(), words)
        });
        let deposed = self.actions.iter().map(|it| it.deposed.len()).sum();
        let moved = self.moves.len();
        let others = [(moved, "to move"), (deposed, "to clean up")];
        counts.into_iter().chain(others).filter(|(count, _)| *count > 0).collect()
    }

    /// The summary line (PLAN-18).
    pub fn summary(&self) -> String {
        let counts: Vec<String> =
            self.counts().iter().map(|(count, words)| format!("{count} {words}")).collect();
        // What becomes of outputs follows from the rest, if there is any.
        match (counts.is_empty(), self.output_changes().len()) {
            (true, 0) => "No changes".to_owned(),
            (true, 1) => "Plan: 1 output to change".to_owned(),
            (true, many) => format!("Plan: {many} outputs to change"),
            (false, _) => format!("Plan: {}", counts.join(", ")),
        }
    }
}

impl PlannedAction {
    /// The name of the action as events tell it (EVENT-4).
    ///
    /// One of `create`, `update`, `noop`, `replace`, `delete`, `drift-recreate`, `drift-update`, `adopt`, and the
    /// `may-` variants.
    pub fn decision(&self) -> SmolStr {
        let name = match self.action {
            Action::Create if self.reasons.contains(&Reason::Gone) => "drift-recreate",
            Action::Create => "create",
            _ if self.reasons.contains(&Reason::Adopted) => "adopt",
            Action::Update if self.changes.is_empty() && !self.drift.is_empty() => "drift-update",
            // The reconciler's decision table spells this one in one word.
            Action::NoOp => "noop",
            action => action.name(),
        };
        SmolStr::new_static(name)
    }
}
