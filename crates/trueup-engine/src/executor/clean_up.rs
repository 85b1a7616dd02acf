//! What goes in the clean-up: older generations, and what only those still used.

use trueup_state::Generation;

use super::report::Outcome;
use super::run_loop::Progress;
use super::tasks::{Task, UsedAddresses, late_deletes};
use crate::draft::Draft;
use crate::index::{NodeIndex, PerNode};
use crate::mutations::planted;
use crate::plan::Action;

impl Progress<'_> {
    /// What goes in the clean-up: older generations, and what waits for these (DELETE-3). Nothing that something uses which
    /// has to stay.
    pub(super) fn going(&mut self, draft: &Draft) -> PerNode<bool> {
        let late = late_deletes(draft);
        let (nodes, outcomes) = (draft.nodes.indices(), &self.outcomes);
        let is_undone = |user: &NodeIndex| match &outcomes[*user] {
            None => draft.nodes[*user].decision.action != Action::NoOp && !late[*user],
            Some(outcome) => !matches!(outcome, Outcome::Done(_)),
        };
        let mut going: PerNode<bool> =
            nodes.clone().map(|at| late[at] || self.may_clean_up(draft, at)).collect();
        let mut causes: PerNode<Option<NodeIndex>> = PerNode::filled(None, draft.nodes.len());
        for at in nodes.clone().filter(|at| late[*at]) {
            causes[at] = draft.recorded_graph.dependents(at).find(is_undone);
            going[at] = causes[at].is_none();
        }
        let waits = |at: NodeIndex| late[at] || !self.writers[at].deposed().is_empty();
        let mut staying: Vec<NodeIndex> = nodes.filter(|at| waits(*at) && !going[*at]).collect();
        while let Some(user) = staying.pop() {
            let used = draft.recorded_graph.dependencies(user).chain(draft.upstream(user));
            for at in used.filter(|at| *at != user) {
                if std::mem::replace(&mut going[at], false) {
                    causes[at] = Some(user);
                    staying.push(at);
                }
            }
        }
        for (at, cause) in causes.enumerate().filter(|(at, _)| late[*at]) {
            if let Some(cause) = cause {
                self.skip(draft, Task::Delete(at), &draft.nodes[*cause].address.clone());
            }
        }
        going
    }

    /// Whether the older generations of a node may go: it and all that used them are done (REPLACE-5).
    pub(super) fn may_clean_up(&self, draft: &Draft, at: NodeIndex) -> bool {
        let node = &draft.nodes[at];
        if !node.is_declared() || self.writers[at].deposed().is_empty() {
            return false;
        }
        let settled = |other: NodeIndex| match &self.outcomes[other] {
            _ if planted!(CleanUpEarly) => true,
            // What is no longer declared, and kept for the sake of something that is left out, uses what it used.
            None => draft.nodes[other].is_declared() || draft.nodes[other].decision.action != Action::NoOp,
            Some(outcome) => matches!(outcome, Outcome::Done(_)),
        };
        let selected = |other: NodeIndex| draft.selection.contains(other);
        // Who used it when it was last recorded uses it still, unless its own change is done.
        let mut users = draft.downstream(at).chain(draft.recorded_graph.dependents(at));
        selected(at)
            && settled(at)
            && users.all(|other| selected(other) && settled(other))
            && !self.stopping()
    }

    /// What the generations that a task of the clean-up deletes may use.
    pub(super) fn used_by_what_goes(&self, task: Task) -> UsedAddresses {
        let Some(record) = self.writers[task.node()].record() else { return UsedAddresses::default() };
        let goes = |it: &&Generation| !matches!(task, Task::CleanUp(_)) || record.deposed.contains(it);
        let mut used = UsedAddresses::default();
        for generation in record.generations().filter(goes) {
            match &generation.dependencies {
                Some(own) => used.firm.extend(own.iter().cloned()),
                None => {
                    used.firm.extend(record.meta.firm_dependencies().cloned());
                    used.circular.extend(record.meta.circular.iter().cloned());
                }
            }
        }
        used
    }
}
