//! What is recorded and no longer declared is deleted (PLAN-5).

use trueup_core::Diagnostic;
use trueup_state::Status;

use super::Sources;
use super::trace::lines;
use crate::draft::{Attributes, Draft};
use crate::index::{NodeIndex, PerNode};
use crate::mutations::planted;
use crate::plan::{Action, Reason};

pub(super) fn retire(sources: &Sources<'_>, draft: &mut Draft) {
    let users = users_left_out(draft);
    for (at, user) in users.enumerate() {
        let left_out = !draft.selection.contains(at) && !planted!(RetireLeftOut);
        if draft.nodes[at].is_declared() || left_out {
            continue;
        }
        if let Some(dependent) = user {
            let (address, dependent) = (&draft.nodes[at].address, &draft.nodes[*dependent].address);
            let summary = format!("{address} is kept: {dependent} depends on it and is left out of this run");
            draft.warnings.push(Diagnostic::warning(summary).about(address.to_string()));
            continue;
        }
        let node = &mut draft.nodes[at];
        let Some((record, _)) = &node.record else { continue };
        let why = if sources.kind.is_destroy() { Reason::Destroyed } else { Reason::Undeclared };
        let current = record.current.as_ref();
        let unfinished = current.is_some_and(|current| current.status != Status::Ready);
        node.decision.reasons = vec![why];
        node.decision.reasons.extend(unfinished.then_some(Reason::Recovered));
        let left = sources.program.removed.iter().any(|it| !it.destroy && it.from.covers(&node.address));
        node.decision.action = if record.meta.retain || left { Action::Forget } else { Action::Delete };
        let object = current.and_then(|current| current.object.as_ref());
        node.decision.outputs = object.map(|object| object.outputs.clone()).unwrap_or_default();
        draft.attributes[at] = Some(Attributes::default());
    }
}

/// For each node, one that is left out of the run and depends on it, also through what is kept for its sake (TARGET-2).
pub(super) fn users_left_out(draft: &Draft) -> PerNode<Option<NodeIndex>> {
    let mut users = PerNode::filled(None, draft.nodes.len());
    let left_out = draft.nodes.indices().filter(|at| !draft.selection.contains(*at));
    let mut reached: Vec<(NodeIndex, NodeIndex)> = left_out.map(|at| (at, at)).collect();
    while let Some((at, user)) = reached.pop() {
        let used = draft.recorded_graph.dependencies(at).chain(draft.upstream(at));
        for other in used {
            let is_new = users[other].replace(user).is_none();
            if is_new && draft.selection.contains(other) && !draft.nodes[other].is_declared() {
                reached.push((other, user));
            }
        }
    }
    users
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |_, node| {
        let goes = matches!(node.decision.action, Action::Delete | Action::Forget);
        goes.then(|| node.decision.action.name().to_owned())
    })
}
