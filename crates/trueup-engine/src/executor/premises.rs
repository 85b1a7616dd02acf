//! Premises of a plan: what was known when it was made must come out so (PLANFILE-3, UNKNOWN-13).

use smol_str::SmolStr;
use trueup_core::{Change, Entries, Failure, FailureClass, Path, Step, Value, diff};
use trueup_provider::{Binding, InputValues};

use super::report::Outcome;
use super::run_loop::Progress;
use crate::call::contained_now;
use crate::draft::Draft;
use crate::draft::node::{Node, NodeKind};
use crate::index::NodeIndex;
use crate::plan::Action;

impl Progress<'_> {
    /// What was applied with values that stood in for others is held to the plan when those are settled (PLANFILE-3).
    pub(super) async fn hold_provisional_premises(&mut self, draft: &Draft<'_>) {
        for &at in draft.provisional.iter().filter(|_| self.run.bound) {
            if !matches!(self.outcomes[at], Some(Outcome::Done(_))) {
                continue;
            }
            let Some(now) = self.inputs_now(draft, at).await else { continue };
            let hold = || now.and_then(|now| hold_premise(&draft.nodes[at], &now.values));
            if let Err(failure) = contained_now(hold).unwrap_or_else(|panic| Err(panic.into())) {
                self.failed = true;
                self.outcomes[at] = Some(failure.into());
            }
        }
    }

    /// What was to stay as it is follows from values that were to stay too, and so does what planning read. Where one of
    /// them changed all the same, it is out of date, and only another plan may bring it along (UNKNOWN-13).
    pub(super) async fn hold_kept_premises(&mut self, draft: &Draft<'_>) {
        let kept: Vec<NodeIndex> = draft
            .nodes
            .indices()
            // What a saved plan does not look at again stays all the same; what the run was told to leave out may not.
            .filter(|at| draft.selection.contains(*at) || !draft.selection.is_partial())
            .filter(|at| self.is_kept_beside_changes(draft, *at))
            .collect();
        let mut stale = Vec::new();
        for at in kept {
            let Some(now) = self.inputs_now(draft, at).await else { continue };
            let hold = || {
                let now = now?;
                hold_premise(&draft.nodes[at], &now.values)?;
                hold_bindings(&draft.nodes[at], &now.bindings)
            };
            let held = contained_now(hold).unwrap_or_else(|panic| Err(panic.into()));
            stale.extend(held.err().map(|failure| (at, failure)));
        }
        for (at, failure) in stale {
            let address = draft.nodes[at].address.clone();
            self.fail(draft, &address, failure);
        }
    }

    /// Whether a node stayed as it is though something that it depends on changed.
    fn is_kept_beside_changes(&self, draft: &Draft<'_>, at: NodeIndex) -> bool {
        let changed =
            |at: NodeIndex| matches!(&self.outcomes[at], Some(Outcome::Done(it)) if *it != Action::NoOp);
        let node = &draft.nodes[at];
        let is_there = node.record.is_some() || matches!(node.kind, NodeKind::Data { .. });
        let stays = node.is_declared() && node.decision.action == Action::NoOp && is_there;
        let undisturbed = matches!(self.outcomes[at], None | Some(Outcome::Done(Action::NoOp)));
        stays && undisturbed && draft.upstream(at).any(changed)
    }
}

/// Refuses inputs that were known when the plan was made and come out otherwise (PLANFILE-3). What was not known then may
/// become anything.
pub(super) fn hold_premise(node: &Node<'_>, now: &InputValues) -> Result<(), Failure> {
    let recorded = node.object().and_then(|object| object.inputs.as_ref());
    let Some(planned) = node.desired.as_ref().or(recorded) else { return Ok(()) };
    // What is of one run alone may be another in the next.
    let (planned, now) = (&planned.without_ephemeral(), &now.without_ephemeral());
    let ignored = node.declared().map_or(&[][..], |declared| &declared.options.ignore_changes);
    let broken: Vec<String> = broken_premises(node, planned, now)
        .iter()
        .filter(|change| !ignored.iter().any(|path| path.covers(&change.path)))
        .map(|change| {
            let side =
                |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), ToString::to_string);
            format!("{}: {} -> {}", change.path, side(&change.before), side(&change.after))
        })
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    let message = format!("its inputs are others than were planned: {}", broken.join("; "));
    Err(Failure::new(FailureClass::Conflict, message).hint("plan again"))
}

/// Refuses bindings that come out otherwise than they were planned for what stays as it is.
pub(super) fn hold_bindings(node: &Node<'_>, now: &[Binding]) -> Result<(), Failure> {
    let differs = |planned: &Binding| {
        let now = now.iter().find(|it| it.key == planned.key);
        planned.payload.is_wholly_known() && now.is_some_and(|now| !now.payload.same(&planned.payload))
    };
    match node.bindings.iter().find(|planned| differs(planned)) {
        None => Ok(()),
        Some(Binding { key, .. }) => {
            let message = format!("its binding `{key}` has another payload than was planned");
            Err(Failure::new(FailureClass::Conflict, message).hint("plan again"))
        }
    }
}

/// Where inputs that were known differ, equivalent ones left aside.
fn broken_premises(node: &Node<'_>, planned: &InputValues, now: &InputValues) -> Vec<Change> {
    // A type judges values that it can decode: where the plan knew less, it is given what there is now.
    let settled = |planned: &Value, now: &Value| -> Value {
        let Some(entries) = planned.as_entries() else { return planned.clone() };
        let entry = |(name, value): (&SmolStr, &Value)| {
            let value = if value.is_wholly_known() { Some(value) } else { now.get(name) };
            (name.clone(), value.cloned().unwrap_or_default())
        };
        Value::object(entries.iter().map(entry))
    };
    let mut broken = match node.handler() {
        Some(handler) => {
            let known = InputValues {
                written: settled(&planned.written, &now.written),
                effective: settled(&planned.effective, &now.effective),
            };
            handler.input_changes(&known, now)
        }
        None => diff(&settled(&planned.effective, &now.effective), &now.effective),
    };
    // Of what was known in part, that part counts.
    let fields = planned.effective.as_entries().into_iter().flat_map(Entries::iter);
    for (name, before) in fields.filter(|(_, value)| !value.is_wholly_known()) {
        let after = now.effective.get(name).cloned().unwrap_or_default();
        let known =
            |change: &Change| change.certain && change.before.as_ref().is_none_or(Value::is_wholly_known);
        let under = |change: Change| Change {
            path: Path::ROOT
                .join(Step::Key(name.clone()))
                .steps()
                .iter()
                .chain(change.path.steps())
                .cloned()
                .collect(),
            ..change
        };
        broken.extend(diff(before, &after).into_iter().filter(known).map(under));
    }
    broken
}
