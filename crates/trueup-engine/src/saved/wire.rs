//! The form in which a saved plan is written: types of their own, so that what the engine uses can change without what
//! is on disk. Values stand there with their secrets, marked; whoever writes them seals them.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{Address, AddressRange, Change, Diagnostic, Diagnostics, Path, Value};
use trueup_provider::GenerationNumber;
use trueup_state::Scope;

use super::{KeptAnswer, Premise, Reach, SavedOptions, SavedPlan};
use crate::plan::{Action, Plan, PlannedAction, PlannedMove, Reason, ReplaceOrder};
use crate::run_kind::RunKind;

/// A saved plan.
#[derive(Serialize, Deserialize)]
pub(super) struct Body {
    run: SmolStr,
    /// In milliseconds since 1970.
    made_at: u64,
    destroy: bool,
    options: Options,
    premises: Vec<Premise>,
    actions: Vec<WrittenAction>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reads: Vec<WrittenAction>,
    moves: Vec<PlannedMove>,
    left_out: Vec<Address>,
    #[serde(with = "trueup_core::recorded")]
    outputs: Value,
    #[serde(with = "trueup_core::recorded")]
    recorded_outputs: Value,
    warnings: Vec<Warning>,
    reach: Reach,
    observations: Vec<KeptAnswer>,
}

#[derive(Serialize, Deserialize)]
struct Options {
    drift: bool,
    force: bool,
    adopt: bool,
    targets: Vec<String>,
    excludes: Vec<String>,
    replace: Vec<String>,
}

/// Without its place: the text it refers to is not in the file.
#[derive(Serialize, Deserialize)]
struct Warning {
    summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

/// What happens to one resource.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct WrittenAction(#[serde(with = "ActionForm")] pub(super) PlannedAction);

#[derive(Serialize, Deserialize)]
#[serde(remote = "PlannedAction")]
struct ActionForm {
    address: Address,
    action: Action,
    reasons: Vec<Reason>,
    #[serde(with = "changes")]
    changes: Vec<Change>,
    #[serde(with = "changes")]
    drift: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "changes")]
    drifted_inputs: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "changes")]
    bindings: Vec<Change>,
    replace_paths: Vec<Path>,
    replace_order: Option<ReplaceOrder>,
    #[serde(with = "trueup_core::recorded")]
    inputs: Value,
    #[serde(with = "trueup_core::recorded")]
    outputs: Value,
    #[serde(with = "trueup_core::recorded")]
    prior_inputs: Value,
    #[serde(with = "trueup_core::recorded")]
    prior_outputs: Value,
    dependencies: Vec<Address>,
    deposed: Vec<GenerationNumber>,
    unreadable: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    adopts_only: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Change")]
struct ChangeForm {
    path: Path,
    #[serde(with = "trueup_core::recorded")]
    before: Option<Value>,
    #[serde(with = "trueup_core::recorded")]
    after: Option<Value>,
    certain: bool,
}

/// Changes, each in its form.
mod changes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use trueup_core::Change;

    #[derive(Serialize, Deserialize)]
    struct Written(#[serde(with = "super::ChangeForm")] Change);

    pub(super) fn serialize<S: Serializer>(changes: &[Change], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(changes.iter().cloned().map(Written))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Change>, D::Error> {
        let written = Vec::<Written>::deserialize(deserializer)?;
        Ok(written.into_iter().map(|Written(change)| change).collect())
    }
}

impl From<&SavedPlan> for Body {
    fn from(saved: &SavedPlan) -> Self {
        let SavedPlan { run, made_at, kind, options, premises, plan, reach, observations } = saved;
        let texts = |ranges: &[AddressRange]| ranges.iter().map(ToString::to_string).collect();
        let made_at = made_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Body {
            run: run.clone(),
            made_at: u64::try_from(made_at.as_millis()).unwrap_or(u64::MAX),
            destroy: kind.is_destroy(),
            options: Options {
                drift: options.drift,
                force: options.force,
                adopt: options.adopt,
                targets: texts(&options.targets),
                excludes: texts(&options.excludes),
                replace: texts(&options.replace),
            },
            premises: premises.clone(),
            actions: plan.actions.iter().cloned().map(WrittenAction).collect(),
            reads: plan.reads.iter().cloned().map(WrittenAction).collect(),
            moves: plan.moves.clone(),
            left_out: plan.left_out.clone(),
            outputs: plan.outputs.clone(),
            recorded_outputs: plan.recorded_outputs.clone(),
            warnings: plan.warnings.iter().map(Warning::from).collect(),
            reach: reach.clone(),
            observations: observations.clone(),
        }
    }
}

impl Body {
    /// The saved plan for a scope, or what in it does not read.
    pub(super) fn into_saved(self, scope: Scope) -> Result<SavedPlan, String> {
        let ranges = |texts: Vec<String>| -> Result<Vec<AddressRange>, String> {
            let range = |text: &String| text.parse().map_err(|error| format!("`{text}`: {error}"));
            texts.iter().map(range).collect()
        };
        let made_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.made_at));
        let Options { drift, force, adopt, targets, excludes, replace } = self.options;
        let mut warnings = Diagnostics::new();
        warnings.extend(self.warnings.into_iter().map(Diagnostic::from));
        Ok(SavedPlan {
            run: self.run,
            made_at: made_at.ok_or("it was made at no time that there is")?,
            kind: if self.destroy { RunKind::Destroy } else { RunKind::Deploy },
            options: SavedOptions {
                drift,
                force,
                adopt,
                targets: ranges(targets)?,
                excludes: ranges(excludes)?,
                replace: ranges(replace)?,
            },
            premises: self.premises,
            plan: Plan {
                scope,
                actions: self.actions.into_iter().map(|WrittenAction(action)| action).collect(),
                reads: self.reads.into_iter().map(|WrittenAction(read)| read).collect(),
                moves: self.moves,
                left_out: self.left_out,
                outputs: self.outputs,
                recorded_outputs: self.recorded_outputs,
                warnings,
                read_set: Vec::new(),
            },
            reach: self.reach,
            observations: self.observations,
        })
    }
}

impl From<&Diagnostic> for Warning {
    fn from(told: &Diagnostic) -> Self {
        Warning { summary: told.summary.clone(), subject: told.subject.clone(), hints: told.hints.clone() }
    }
}

impl From<Warning> for Diagnostic {
    fn from(Warning { summary, subject, hints }: Warning) -> Self {
        Diagnostic { subject, hints, ..Diagnostic::warning(summary) }
    }
}
