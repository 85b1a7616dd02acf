//! The orders between tasks: those that must hold, and those that are kept wherever they fit.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::Address;
use trueup_provider::StubInputs;

use super::{Task, Tasks, recorded_dependents, uses_by_older};
use crate::draft::Draft;
use crate::graph::Graph;
use crate::index::{NodeIndex, PerNode, PerTask, TaskIndex};
use crate::mutations::planted;
use crate::plan::ReplaceOrder;

/// What waits, and for what.
type Order = (TaskIndex, TaskIndex);

/// Tasks in the making, with the orders between them.
pub(super) struct TaskOrders {
    pub(super) tasks: PerTask<Task>,
    edges: Vec<Order>,
    pub(super) apply: PerNode<Option<TaskIndex>>,
    pub(super) delete: PerNode<Option<TaskIndex>>,
}

impl TaskOrders {
    pub(super) fn new(nodes: usize) -> Self {
        TaskOrders {
            tasks: PerTask::default(),
            edges: Vec::new(),
            apply: PerNode::filled(None, nodes),
            delete: PerNode::filled(None, nodes),
        }
    }

    pub(super) fn add(&mut self, task: Task) -> Option<TaskIndex> {
        Some(self.tasks.push(task))
    }

    /// Deletes older generations before the clean-up where they use something that is deleted before it. Those of what
    /// goes itself, or is made anew beside them, go with it.
    pub(super) fn clean_up_early(&mut self, draft: &Draft) {
        let mut going: Vec<NodeIndex> =
            draft.nodes.indices().filter(|at| self.delete[*at].is_some()).collect();
        while let Some(used) = going.pop() {
            for at in recorded_dependents(draft, used) {
                let stays = draft.nodes[at].is_declared() && self.delete[at].is_none();
                // What this run replaces create-first uses what it used until the clean-up.
                let leaves_old =
                    |user: NodeIndex| draft.nodes[user].decision.order == Some(ReplaceOrder::CreateFirst);
                let is_free = !recorded_dependents(draft, at).any(leaves_old);
                if stays && is_free && draft.selection.contains(at) && uses_by_older(draft, at, used) {
                    self.delete[at] = self.add(Task::CleanUp(at));
                    going.push(at);
                }
            }
        }
    }

    /// Opens the ephemeral resources that something which runs depends on, now or in the clean-up.
    pub(super) fn open_what_is_needed(&mut self, draft: &Draft, late: &PerNode<bool>) {
        for &at in draft.order.iter().rev().filter(|at| draft.nodes[**at].is_ephemeral()) {
            let runs = |user: NodeIndex| {
                let node = &draft.nodes[user];
                let cleaned_up = node.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
                self.apply[user].is_some() || self.delete[user].is_some() || late[user] || cleaned_up
            };
            if draft.graph.dependents(at).any(runs) {
                self.apply[at] = self.add(Task::Apply(at));
            }
        }
    }

    /// The orders that must hold: creates follow deletes, and programs have no cycle. What records say was told at different
    /// times: of that, no more than fits together, the latest first; what is about older generations always does. Of
    /// bindings that go in circles, no more than fits together with all of these.
    pub(super) fn must(&mut self, draft: &Draft) {
        let (mut latest, mut older, mut circular) = (Vec::new(), Vec::new(), Vec::new());
        for at in draft.nodes.indices() {
            if let Some(apply) = self.apply[at] {
                // A node starts when all it depends on are done (APPLY-1), and after what it replaces is gone.
                let upstream = draft.graph.dependencies(at).filter_map(|other| self.apply[other]);
                let replaced = self.delete[at].filter(|delete| !self.cleans_up(*delete));
                self.edges.extend(upstream.chain(replaced).map(|other| (apply, other)));
            }
            if let Some(delete) = self.delete[at] {
                // Dependents are deleted before what they use (DELETE-1).
                for dependent in recorded_dependents(draft, at) {
                    let Some(other) = self.delete[dependent] else { continue };
                    let Some((record, _)) = &draft.nodes[dependent].record else { continue };
                    let said = |said: &[Address]| said.contains(&draft.nodes[at].address);
                    // Records tell who uses a resource, not which generation: for an older one they matter least.
                    let is_circular = said(&record.meta.circular) || self.cleans_up(delete);
                    let order = (delete, other);
                    match planted!(DeleteBeforeDependents) {
                        true => self.edges.push((other, delete)),
                        false if is_circular && !uses_by_older(draft, dependent, at) => circular.push(order),
                        false if said(&record.meta.dependencies) && !is_circular => latest.push(order),
                        false => older.push(order),
                    }
                }
            }
        }
        planted!(CutInputs => std::mem::swap(&mut latest, &mut circular));
        self.add_or_fit(latest);
        self.add_or_split(draft, older);
        self.add_where_possible(circular);
    }

    fn cleans_up(&self, task: TaskIndex) -> bool {
        matches!(self.tasks[task], Task::CleanUp(_))
    }

    /// Adds orders that nearly never contradict each other; only if they do, one after another.
    pub(super) fn add_or_fit(&mut self, orders: Vec<Order>) {
        if orders.is_empty() {
            return;
        }
        let all = [self.edges.as_slice(), &orders].concat();
        match Graph::new(self.tasks.len(), all.clone()).order() {
            Ok(_) => self.edges = all,
            Err(_) => drop(self.add_where_possible(orders)),
        }
    }

    /// Adds orders of deletes that follow from earlier uses. A resource may depend on one whose older generation still uses
    /// it: where such orders contradict each other, older generations go by themselves, before the rest.
    fn add_or_split(&mut self, draft: &Draft, orders: Vec<Order>) {
        let (mut split, mut added) = (BTreeMap::new(), Vec::new());
        for (task, after) in self.add_where_possible(orders) {
            let [used, user] = [task, after].map(|it| self.tasks[it].node());
            if !self.cleans_up(after) && uses_by_older(draft, user, used) {
                added
                    .push((task, *split.entry(user).or_insert_with(|| self.tasks.push(Task::CleanUp(user)))));
            }
        }
        // Who used those generations goes before them, as far as that is possible.
        for (at, older) in &split {
            for user in recorded_dependents(draft, *at) {
                let deletes = split.get(&user).copied().into_iter().chain(self.delete[user]);
                added.extend(deletes.map(|delete| (*older, delete)));
            }
        }
        self.add_where_possible(added);
    }

    /// Adds orders one after another, but for those that contradict what is there, and returns these.
    pub(super) fn add_where_possible(&mut self, orders: Vec<Order>) -> Vec<Order> {
        let mut contradicting = Vec::new();
        if orders.is_empty() {
            return contradicting;
        }
        let mut waits_for: PerTask<Vec<TaskIndex>> = PerTask::filled(Vec::new(), self.tasks.len());
        for (task, after) in &self.edges {
            waits_for[*task].push(*after);
        }
        for (task, after) in orders {
            if reaches(&waits_for, after, task) {
                contradicting.push((task, after));
            } else {
                waits_for[task].push(after);
                self.edges.push((task, after));
            }
        }
        contradicting
    }

    /// The orders that are kept unless they contradict those that must hold, or one that matters more.
    pub(super) fn wish(&mut self, draft: &Draft) {
        let (mut gone_first, mut moved_off_first, mut upstream_first) = (Vec::new(), Vec::new(), Vec::new());
        // What the provider's configuration needs is open before anything is deleted by it.
        let mut opened_first = Vec::new();
        for at in draft.nodes.indices() {
            let may_delete = draft.nodes[at].decision.order == Some(ReplaceOrder::DeleteFirst);
            if let (Some(apply), None, true) = (self.apply[at], self.delete[at], may_delete) {
                // It may turn out to delete first: then its dependents that go must be gone.
                let going = recorded_dependents(draft, at).filter_map(|other| self.delete[other]);
                gone_first.extend(going.map(|other| (apply, other)));
            }
            let Some(delete) = self.delete[at] else { continue };
            let opened = draft.graph.dependencies(at).filter(|other| draft.nodes[*other].is_ephemeral());
            opened_first.extend(opened.filter_map(|it| self.apply[it]).map(|other| (delete, other)));
            let replaced = matches!(self.tasks[delete], Task::DeleteOld(_));
            if self.cleans_up(delete) {
                // What is older goes when what replaced it is settled (REPLACE-5).
                moved_off_first.extend(self.apply[at].map(|apply| (delete, apply)));
            }
            for consumer in recorded_dependents(draft, at) {
                let still_uses = draft.upstream(consumer).any(|other| other == at);
                if self.delete[consumer].is_none() && !(replaced && still_uses) {
                    // A consumer is moved off before what it used goes (APPLY-9).
                    moved_off_first.extend(self.apply[consumer].map(|other| (delete, other)));
                }
            }
            if replaced {
                // Nothing is torn down before its own upstream is known to be there.
                let upstream = draft.graph.dependencies(at).filter_map(|other| self.apply[other]);
                upstream_first.extend(upstream.map(|other| (delete, other)));
            }
        }
        // Only what is deleted before it is made again can contradict: without that, deletes come after applies.
        let contradictable = self.tasks.iter().any(|task| matches!(task, Task::DeleteOld(_)))
            || draft.nodes.iter().any(|node| node.decision.order == Some(ReplaceOrder::DeleteFirst));
        let wishes = [opened_first, gone_first, moved_off_first, upstream_first].concat();
        if !contradictable {
            self.edges.extend(wishes);
            return;
        }
        self.add_where_possible(wishes);
    }

    /// Where a cycle was opened, who refers to what is made later waits for its stub.
    pub(super) fn connect_stubs(&mut self, draft: &Draft) {
        let mut stubs = Vec::new();
        for &(from, target) in &draft.loose {
            let Some(user) = self.apply[from] else { continue };
            if let Some(stub) = self.stub_of(draft, target, &mut stubs) {
                self.edges.push((user, stub));
            }
        }
        // A stub whose inputs do not suffice yet waits for what they refer to: for the object, or if that waits for this
        // stub itself, for a stub of it.
        while let Some((stub, at)) = stubs.pop() {
            let node = &draft.nodes[at];
            let suffices = node.config.is_some()
                && node.handler().zip(node.desired.as_ref()).is_some_and(|(handler, desired)| {
                    !matches!(handler.stub_inputs(desired), StubInputs::Lacking(_))
                });
            if suffices {
                continue;
            }
            for upstream in draft.upstream(at) {
                let Some(apply) = self.apply[upstream] else { continue };
                let contradicting = self.add_where_possible(vec![(stub, apply)]);
                if !contradicting.is_empty()
                    && let Some(other) = self.stub_of(draft, upstream, &mut stubs)
                {
                    self.add_where_possible(vec![(stub, other)]);
                }
            }
        }
    }

    /// The task that makes a stub of a node, if one is needed and possible. A new one is told.
    fn stub_of(
        &mut self,
        draft: &Draft,
        at: NodeIndex,
        told: &mut Vec<(TaskIndex, NodeIndex)>,
    ) -> Option<TaskIndex> {
        let known = self.tasks.enumerate().find(|(_, task)| **task == Task::Precreate(at));
        if let Some((known, _)) = known {
            return Some(known);
        }
        let (node, apply) = (&draft.nodes[at], self.apply[at]?);
        if node.stand_in().is_some() || !node.makes_stub() {
            return None;
        }
        let stub = self.add(Task::Precreate(at))?;
        self.edges.push((apply, stub));
        self.edges.extend(self.delete[at].map(|delete| (stub, delete)));
        told.push((stub, at));
        Some(stub)
    }

    pub(super) fn finish(self) -> Tasks {
        Tasks { graph: Graph::new(self.tasks.len(), self.edges), tasks: self.tasks }
    }
}

/// Whether a task waits for another already, directly or not.
fn reaches(waits_for: &PerTask<Vec<TaskIndex>>, from: TaskIndex, to: TaskIndex) -> bool {
    let mut seen = BTreeSet::new();
    let mut reached = vec![from];
    while let Some(task) = reached.pop() {
        if task == to {
            return true;
        }
        if seen.insert(task) {
            reached.extend(&waits_for[task]);
        }
    }
    false
}
