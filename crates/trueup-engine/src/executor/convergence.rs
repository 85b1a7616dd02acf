//! The second pass over cycles: what was applied with values that stood in for others is applied again, until nothing
//! changes.

use std::collections::BTreeSet;
use std::pin::pin;

use futures_util::future::{Either, select};
use trueup_core::{Failure, FailureClass};
use trueup_provider::Binding;

use super::prepare::inputs_now;
use super::report::Outcome;
use super::run_loop::Progress;
use super::tasks::again_tasks;
use crate::draft::Draft;
use crate::draft::node::Start;
use crate::events::{EventKind, Operation};
use crate::index::NodeIndex;
use crate::inputs::NodeInputs;
use crate::plan::{Action, Grant};

/// A cycle that has not settled by then alternates.
const CONVERGENCE_ROUNDS_MAX: usize = 10;

impl Progress<'_> {
    /// The second pass (BIND-6): what was applied with values that have changed since is reconciled once more, in
    /// place, until nothing changes.
    pub(super) async fn converge(&mut self, draft: &mut Draft<'_>) {
        if draft.loose.is_empty() {
            return;
        }
        for _ in 0..CONVERGENCE_ROUNDS_MAX {
            let changed = self.outdated(draft).await;
            if changed.is_empty() || self.stopping() {
                return;
            }
            for &at in &changed {
                let decision = &mut draft.nodes[at].decision;
                decision.start = Start::Record;
                decision.action =
                    if decision.action.grant() == Grant::NoOp { Action::NoOp } else { Action::Update };
            }
            let tasks = again_tasks(draft, &changed);
            self.run_tasks(draft, &tasks).await;
        }
        for at in self.outdated(draft).await {
            let (before, bound_before) = self.used[at].clone().unwrap_or_default();
            let now = self.inputs_now(draft, at).await.and_then(Result::ok);
            let (after, bound_after) =
                now.map(|now| (now.values.effective, now.bindings)).unwrap_or_default();
            let message = match before == after {
                false => format!("it does not settle: its inputs alternate between {before} and {after}"),
                true => format!(
                    "it does not settle: its bindings alternate between {} and {}",
                    shown(&bound_before),
                    shown(&bound_after)
                ),
            };
            let failure =
                Failure::new(FailureClass::Conflict, message).hint("remove one of the bindings of the cycle");
            self.failed = true;
            let (operation, told) = (Operation::Update, failure.clone());
            self.run.emit(Some(&draft.nodes[at].address), EventKind::Failed { operation, failure: told });
            self.outcomes[at] = Some(failure.into());
        }
    }

    /// The resources that were applied with other inputs or bindings than they would be now.
    pub(super) async fn outdated(&self, draft: &Draft<'_>) -> Vec<NodeIndex> {
        let mut outdated = Vec::new();
        for &at in draft.order.iter().filter(|at| draft.nodes[**at].declared().is_some()) {
            let (Some((inputs, bindings)), Some(Outcome::Done(_))) = (&self.used[at], &self.outcomes[at])
            else {
                continue;
            };
            let is_outdated = match self.inputs_now(draft, at).await {
                Some(Ok(now)) => !now.values.effective.same(inputs) || now.bindings != *bindings,
                // Applied once more, it says what is wrong.
                Some(Err(_)) => true,
                None => false,
            };
            outdated.extend(is_outdated.then_some(at));
        }
        outdated
    }

    /// The inputs and bindings that something declared would be applied or read with now, or what is wrong with them.
    pub(super) async fn inputs_now(
        &self,
        draft: &Draft<'_>,
        at: NodeIndex,
    ) -> Option<Result<NodeInputs, Failure>> {
        let evaluating = pin!(self.run.calls.answered(&draft.answers, || inputs_now(draft, at)));
        match select(evaluating, pin!(self.run.cancellation.finish.cancelled())).await {
            Either::Left((now, _)) => now,
            // What cannot be judged before the run is stopped is judged by the next plan.
            Either::Right(_) => None,
        }
    }
}

/// The nodes that are in a cycle which was opened, or depend on one.
pub(super) fn provisional(draft: &Draft<'_>) -> BTreeSet<NodeIndex> {
    let mut found = BTreeSet::new();
    let mut reached: Vec<NodeIndex> = draft.loose.iter().map(|(from, _)| *from).collect();
    while let Some(at) = reached.pop() {
        if found.insert(at) {
            reached.extend(draft.graph.dependents(at));
        }
    }
    found
}

/// Bindings as a message quotes them. Secret payloads are hidden.
fn shown(bindings: &[Binding]) -> String {
    let each: Vec<String> = bindings.iter().map(|it| format!("{} = {}", it.key, it.payload)).collect();
    format!("{{ {} }}", each.join(", "))
}
