//! Writing the plan down.

use trueup_core::{Address, Change, Diagnostic, Diagnostics, Mode, Value, diff};
use trueup_program::DriftPolicy;
use trueup_provider::{Binding, GenerationNumber};

use super::short_secrets::short_secrets;
use super::{Sources, connect};
use crate::draft::Draft;
use crate::draft::node::{Node, Sight, Start};
use crate::index::NodeIndex;
use crate::outputs::stack_outputs;
use crate::plan::{Action, Plan, PlannedAction, Reason};

pub(super) async fn conclude(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<Plan, Diagnostics> {
    let outputs = stack_outputs(&sources.calls, sources.program, sources.kind, draft).await?;
    draft.warnings.extend(tolerated_drift(draft));
    draft.warnings.extend(short_secrets(draft));
    draft.warnings.extend(sources.calls.warnings.take());
    if !sources.kind.is_destroy() {
        let checked = sources.calls.answered(&draft.answers, || draft.checks(sources.program)).await;
        draft.warnings.extend(checked);
    }
    let mut nodes: Vec<(&Address, NodeIndex)> =
        draft.nodes.enumerate().map(|(at, node)| (&node.address, at)).collect();
    // Addresses are sorted before anything is made of them, because actions are large to move.
    nodes.sort_unstable();
    let left_out = nodes.iter().filter(|(_, at)| !draft.selection.contains(*at));
    let left_out: Vec<Address> = left_out.map(|(address, _)| (*address).clone()).collect();
    nodes.retain(|(_, at)| draft.selection.contains(*at));
    // Data sources that were read already are no part of what would be done, and what is opened for a run never is.
    let is_planned = |(address, at): &&(&Address, NodeIndex)| match address.mode() {
        Mode::Resource => true,
        Mode::Data => draft.nodes[*at].decision.action == Action::Read,
        Mode::Ephemeral => false,
    };
    let actions = nodes.iter().filter(is_planned).map(|(_, at)| action(draft, *at)).collect();
    let reads = nodes.iter().filter(|(address, _)| address.mode() == Mode::Data);
    let reads = reads.filter_map(|(_, at)| finished_read(draft, *at)).collect();
    let mut read_set: Vec<_> = draft
        .nodes
        .iter()
        .filter_map(|node| node.record.as_ref().map(|(record, version)| (record.id, *version)))
        .collect();
    read_set.sort_unstable();
    Ok(Plan {
        scope: draft.scope.clone(),
        actions,
        reads,
        moves: draft.relocation.moves.clone(),
        left_out,
        outputs,
        recorded_outputs: recorded_outputs(sources, draft),
        warnings: std::mem::take(&mut draft.warnings),
        read_set,
    })
}

/// Drift that the program wants told and not repaired (DRIFT-7).
fn tolerated_drift(draft: &Draft) -> Vec<Diagnostic> {
    let told = draft.nodes.iter().filter_map(|node| {
        let tolerant = node.declared()?.options.drift == DriftPolicy::Warn;
        let (Some(seen), Some(recorded), true) = (node.compared(), node.object(), tolerant) else {
            return None;
        };
        let paths: Vec<String> =
            node.handler()?.drift(recorded, &seen).iter().map(|change| change.path.to_string()).collect();
        let summary = format!("{} was changed outside: {}", node.address, paths.join(", "));
        (!paths.is_empty()).then(|| Diagnostic::warning(summary).about(node.address.to_string()))
    });
    told.collect()
}

/// The stack's outputs as the last run left them. That those of a stack which is destroyed go need not be told.
fn recorded_outputs(sources: &Sources<'_>, draft: &Draft) -> Value {
    let recorded = draft.recorded_outputs.clone().filter(|_| !sources.kind.is_destroy());
    recorded.unwrap_or_else(|| Value::object::<&str>([]))
}

/// A data source, if planning has read it.
fn finished_read(draft: &Draft, at: NodeIndex) -> Option<PlannedAction> {
    let decision = &draft.nodes[at].decision;
    let is_read = decision.action == Action::NoOp && !decision.outputs.is_null();
    is_read.then(|| PlannedAction { action: Action::Read, outputs: Value::NULL, ..action(draft, at) })
}

/// Where the bindings of others to a resource change.
fn binding_changes(node: &Node<'_>) -> Vec<Change> {
    let keeps_bindings = matches!(node.decision.action, Action::NoOp | Action::Read);
    let goes = matches!(node.decision.action, Action::Delete | Action::Forget);
    let recorded = node.record.as_ref().and_then(|(record, _)| record.current.as_ref());
    let recorded = recorded.map_or(&[][..], |current| &current.bindings);
    if keeps_bindings || goes || recorded == node.bindings {
        return Vec::new();
    }
    diff(&Binding::as_value(recorded), &Binding::as_value(&node.bindings).without_ephemeral())
}

fn action(draft: &Draft, at: NodeIndex) -> PlannedAction {
    let node = &draft.nodes[at];
    let decision = &node.decision;
    let object = node.object();
    let recorded = object.and_then(|object| object.inputs.as_ref());
    let deposed = node.record.iter().flat_map(|(record, _)| &record.deposed);
    let found = match &node.decision.start {
        Start::Adopt(found) => found.older.as_slice(),
        _ => &[],
    };
    let found = found.iter().map(|(_, number, _)| *number);
    let deposed: Vec<GenerationNumber> = deposed.map(|generation| generation.number).chain(found).collect();
    let mut reasons = decision.reasons.clone();
    if draft.relocation.moves.binary_search_by(|moved| moved.to.cmp(&node.address)).is_ok() {
        reasons.push(Reason::Moved);
    }
    if !deposed.is_empty() {
        reasons.push(Reason::CleanUp);
    }
    PlannedAction {
        address: node.address.clone(),
        action: decision.action,
        reasons,
        changes: decision.changes.clone(),
        drift: decision.drift.clone(),
        drifted_inputs: decision.drifted_inputs.clone(),
        bindings: binding_changes(node),
        replace_paths: decision.replace_paths.clone(),
        replace_order: decision.order,
        inputs: node.desired.as_ref().map(|it| it.effective.without_ephemeral()).unwrap_or_default(),
        outputs: decision.outputs.clone(),
        prior_inputs: recorded.map(|inputs| inputs.effective.clone()).unwrap_or_default(),
        prior_outputs: object.map(|object| object.outputs.clone()).unwrap_or_default(),
        dependencies: connect::dependencies(draft, at),
        deposed,
        unreadable: node.sight == Sight::Unreadable,
        adopts_only: node.only_adopts(),
    }
}
