//! From a plan to tasks: what has to run, and after what.
//!
//! Some orders must hold: upstream before downstream, dependents deleted before what they use, what is deleted first
//! before what replaces it. Others are kept wherever they do not contradict those: a consumer is moved off before what
//! it used goes, and nothing is torn down before its own upstream is there.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::Address;
use trueup_provider::StubInputs;
use trueup_state::{Generation, Status};

use crate::draft::node::{Node, NodeKind, Sight, Start};
use crate::draft::{Draft, metadata};
use crate::graph::Graph;
use crate::mutations::planted;
use crate::plan::{Action, ReplaceOrder};

/// Something to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Make a stub to which others of a cycle refer (BIND-5).
    Precreate(usize),
    /// Bring a declared node to where it should be.
    Apply(usize),
    /// Delete what a replacement replaces, before it, or finish an interrupted delete of what is wanted again.
    DeleteOld(usize),
    /// Delete what is no longer declared, all its generations.
    Delete(usize),
    /// Delete generations that were replaced.
    CleanUp(usize),
}

impl Task {
    /// The node it is about.
    pub(crate) fn node(self) -> usize {
        match self {
            Task::Precreate(node)
            | Task::Apply(node)
            | Task::DeleteOld(node)
            | Task::Delete(node)
            | Task::CleanUp(node) => node,
        }
    }
}

/// Tasks with their dependencies.
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<Task>,
    pub(crate) graph: Graph,
}

/// The tasks that carry the plan out, up to the clean-up.
pub(crate) fn main_tasks(draft: &Draft) -> Tasks {
    let late = late_deletes(draft);
    let mut builder = Builder::new(draft.nodes.len());
    let selected = |at: usize| draft.selection.contains(at) || planted!(RetireLeftOut);
    for (at, node) in draft.nodes.iter().enumerate().filter(|(at, _)| selected(*at)) {
        match node.decision.action {
            // Opened if something needs it, which is known below.
            _ if node.is_ephemeral() => {}
            Action::Delete | Action::Forget if late[at] => {}
            Action::Delete | Action::Forget => builder.delete[at] = builder.add(Task::Delete(at)),
            _ if node.is_declared() && has_work(draft, at) => {
                builder.apply[at] = builder.add(Task::Apply(at));
                // A delete that was interrupted keeps its place in the order: what it used may go too.
                let unfinished = node.decision.start == Start::FinishDelete && node.object().is_some();
                if node.is_deleted_first() || unfinished {
                    builder.delete[at] = builder.add(Task::DeleteOld(at));
                }
            }
            _ => {}
        }
    }
    builder.clean_up_early(draft);
    builder.open_what_is_needed(draft, &late);
    builder.must(draft);
    builder.connect_stubs(draft);
    builder.wish(draft);
    builder.finish()
}

/// The tasks that apply some nodes once more, in the order of their dependencies.
pub(crate) fn again_tasks(draft: &Draft, nodes: &[usize]) -> Tasks {
    let mut builder = Builder::new(draft.nodes.len());
    for &at in nodes {
        builder.apply[at] = builder.add(Task::Apply(at));
    }
    builder.must(draft);
    builder.finish()
}

/// The tasks that delete older generations and what only those still used, dependents first: by what the generations
/// that go may use themselves, whatever the resources they are of depend on by now (DELETE-1).
pub(crate) fn clean_up_tasks(
    draft: &Draft,
    goes: impl Fn(usize) -> bool,
    used: impl Fn(Task) -> Used,
) -> Tasks {
    let late = late_deletes(draft);
    let mut builder = Builder::new(draft.nodes.len());
    for (at, late) in late.into_iter().enumerate().filter(|(at, _)| goes(*at)) {
        builder.delete[at] = builder.add(if late { Task::Delete(at) } else { Task::CleanUp(at) });
    }
    let (mut orders, mut circular) = (Vec::new(), Vec::new());
    for (number, task) in builder.tasks.iter().enumerate() {
        let used = used(*task);
        let deleted = |address: &Address| {
            let at = draft.index.get(address).copied().filter(|at| *at != task.node())?;
            Some((builder.delete[at]?, number as u32))
        };
        orders.extend(used.firm.iter().filter_map(deleted));
        circular.extend(used.circular.iter().filter_map(deleted));
    }
    builder.add_or_fit(orders);
    builder.add_where_possible(circular);
    builder.finish()
}

/// What something that is deleted may use; of what is circular, no more is heeded than is possible.
#[derive(Default)]
pub(crate) struct Used {
    pub(crate) firm: Vec<Address>,
    pub(crate) circular: Vec<Address>,
}

/// What is no longer declared, and an older generation of something else still uses until the clean-up: it must outlive
/// that generation, and so must all that it uses itself, unless that is deleted first.
pub(crate) fn late_deletes(draft: &Draft) -> Vec<bool> {
    let mut late = vec![false; draft.nodes.len()];
    let leaves_old = |node: &Node| {
        let create_first = node.decision.order == Some(ReplaceOrder::CreateFirst);
        let waiting = node.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
        node.is_declared() && (create_first || waiting)
    };
    let goes = |at: usize| matches!(draft.nodes[at].decision.action, Action::Delete | Action::Forget);
    let mut reached: Vec<usize> = (0..draft.nodes.len()).filter(|at| leaves_old(&draft.nodes[*at])).collect();
    while let Some(user) = reached.pop() {
        let used = draft.nodes[user].record.iter().flat_map(|(record, _)| record.dependencies());
        for at in used.filter_map(|address| draft.index.get(address).copied()) {
            if goes(at) && !late[at] {
                late[at] = true;
                reached.push(at);
            }
        }
    }
    // What is deleted first does not wait for a clean-up, and so neither does what stands on it.
    let mut going: Vec<usize> =
        (0..draft.nodes.len()).filter(|at| draft.nodes[*at].is_deleted_first()).collect();
    while let Some(at) = going.pop() {
        for user in recorded_dependents(draft, at) {
            if std::mem::replace(&mut late[user], false) {
                going.push(user);
            }
        }
    }
    late
}

/// Whether a declared node has anything to run for: an action, or something else to record.
fn has_work(draft: &Draft, at: usize) -> bool {
    let node = &draft.nodes[at];
    if node.decision.action != Action::NoOp || node.decision.start != Start::Record {
        return true;
    }
    match &node.kind {
        NodeKind::Data { .. } | NodeKind::Ephemeral { .. } => false,
        NodeKind::Resource { .. } => {
            let Some((record, _)) = &node.record else { return true };
            let unfinished = record.current.as_ref().is_none_or(|current| current.status != Status::Ready);
            unfinished || !record.meta.is_like(&metadata(draft, at)) || refreshes(node)
        }
    }
}

/// Whether what was seen differs from the record in a way that is no drift but worth recording. Drift that is only
/// warned of is drift all the same: recorded, it would pass for wanted (DRIFT-7).
pub(super) fn refreshes(node: &Node) -> bool {
    match (&node.sight, node.object(), node.handler()) {
        (Sight::Present(seen), Some(recorded), Some(handler)) => {
            node.decision.drift.is_empty()
                && seen.outputs != recorded.outputs
                && handler.drift(recorded, seen).is_empty()
        }
        _ => false,
    }
}

/// The nodes whose records depend on a node.
fn recorded_dependents(draft: &Draft, at: usize) -> impl Iterator<Item = usize> {
    draft.recorded_graph.dependents(at).filter(move |other| *other != at)
}

/// Whether an older generation of a node uses another, by more than a binding that went in circles.
fn uses_by_older(draft: &Draft, at: usize, used: usize) -> bool {
    let used = &draft.nodes[used].address;
    draft.nodes[at].record.iter().any(|(record, _)| {
        let uses = |generation: &Generation| match &generation.dependencies {
            Some(own) => own.contains(used),
            None => record.meta.firm_dependencies().any(|it| it == used),
        };
        record.deposed.iter().any(uses)
    })
}

struct Builder {
    tasks: Vec<Task>,
    edges: Vec<(u32, u32)>,
    apply: Vec<Option<u32>>,
    delete: Vec<Option<u32>>,
}

impl Builder {
    fn new(nodes: usize) -> Self {
        Builder { tasks: Vec::new(), edges: Vec::new(), apply: vec![None; nodes], delete: vec![None; nodes] }
    }

    fn add(&mut self, task: Task) -> Option<u32> {
        Some(self.push(task))
    }

    fn push(&mut self, task: Task) -> u32 {
        self.tasks.push(task);
        self.tasks.len() as u32 - 1
    }

    /// Deletes older generations before the clean-up where they use something that is deleted before it. Those of what
    /// goes itself, or is made anew beside them, go with it.
    fn clean_up_early(&mut self, draft: &Draft) {
        let mut going: Vec<usize> = (0..draft.nodes.len()).filter(|at| self.delete[*at].is_some()).collect();
        while let Some(used) = going.pop() {
            for at in recorded_dependents(draft, used) {
                let stays = draft.nodes[at].is_declared() && self.delete[at].is_none();
                // What this run replaces create-first uses what it used until the clean-up.
                let leaves_old =
                    |user: usize| draft.nodes[user].decision.order == Some(ReplaceOrder::CreateFirst);
                let is_free = !recorded_dependents(draft, at).any(leaves_old);
                if stays && is_free && draft.selection.contains(at) && uses_by_older(draft, at, used) {
                    self.delete[at] = self.add(Task::CleanUp(at));
                    going.push(at);
                }
            }
        }
    }

    /// Opens the ephemeral resources that something which runs depends on, now or in the clean-up.
    fn open_what_is_needed(&mut self, draft: &Draft, late: &[bool]) {
        for &at in draft.order.iter().rev().filter(|at| draft.nodes[**at].is_ephemeral()) {
            let runs = |user: usize| {
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
    fn must(&mut self, draft: &Draft) {
        let (mut latest, mut older, mut circular) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..draft.nodes.len() {
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

    fn cleans_up(&self, task: u32) -> bool {
        matches!(self.tasks[task as usize], Task::CleanUp(_))
    }

    /// Adds orders that nearly never contradict each other; only if they do, one after another.
    fn add_or_fit(&mut self, orders: Vec<(u32, u32)>) {
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
    fn add_or_split(&mut self, draft: &Draft, orders: Vec<(u32, u32)>) {
        let (mut split, mut added) = (BTreeMap::new(), Vec::new());
        for (task, after) in self.add_where_possible(orders) {
            let [used, user] = [task, after].map(|it| self.tasks[it as usize].node());
            if !self.cleans_up(after) && uses_by_older(draft, user, used) {
                added.push((task, *split.entry(user).or_insert_with(|| self.push(Task::CleanUp(user)))));
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
    fn add_where_possible(&mut self, orders: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let mut contradicting = Vec::new();
        if orders.is_empty() {
            return contradicting;
        }
        let mut waits_for: Vec<Vec<u32>> = vec![Vec::new(); self.tasks.len()];
        for (task, after) in &self.edges {
            waits_for[*task as usize].push(*after);
        }
        for (task, after) in orders {
            if reaches(&waits_for, after, task) {
                contradicting.push((task, after));
            } else {
                waits_for[task as usize].push(after);
                self.edges.push((task, after));
            }
        }
        contradicting
    }

    /// The orders that are kept unless they contradict those that must hold, or one that matters more.
    fn wish(&mut self, draft: &Draft) {
        let (mut gone_first, mut moved_off_first, mut upstream_first) = (Vec::new(), Vec::new(), Vec::new());
        // What the provider's configuration needs is open before anything is deleted by it.
        let mut opened_first = Vec::new();
        for at in 0..draft.nodes.len() {
            let may_delete = draft.nodes[at].decision.order == Some(ReplaceOrder::DeleteFirst);
            if let (Some(apply), None, true) = (self.apply[at], self.delete[at], may_delete) {
                // It may turn out to delete first: then its dependents that go must be gone.
                let going = recorded_dependents(draft, at).filter_map(|other| self.delete[other]);
                gone_first.extend(going.map(|other| (apply, other)));
            }
            let Some(delete) = self.delete[at] else { continue };
            let opened = draft.graph.dependencies(at).filter(|other| draft.nodes[*other].is_ephemeral());
            opened_first.extend(opened.filter_map(|it| self.apply[it]).map(|other| (delete, other)));
            let replaced = matches!(self.tasks[delete as usize], Task::DeleteOld(_));
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
    fn connect_stubs(&mut self, draft: &Draft) {
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
    fn stub_of(&mut self, draft: &Draft, at: usize, told: &mut Vec<(u32, usize)>) -> Option<u32> {
        let known = self.tasks.iter().position(|task| *task == Task::Precreate(at));
        if let Some(known) = known {
            return Some(known as u32);
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

    fn finish(self) -> Tasks {
        Tasks { graph: Graph::new(self.tasks.len(), self.edges), tasks: self.tasks }
    }
}

/// Whether a task waits for another already, directly or not.
fn reaches(waits_for: &[Vec<u32>], from: u32, to: u32) -> bool {
    let mut seen = BTreeSet::new();
    let mut reached = vec![from];
    while let Some(task) = reached.pop() {
        if task == to {
            return true;
        }
        if seen.insert(task) {
            reached.extend(&waits_for[task as usize]);
        }
    }
    false
}
