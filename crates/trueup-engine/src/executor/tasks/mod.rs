//! From a plan to tasks: what has to run, and after what.
//!
//! Some orders must hold: upstream before downstream, dependents deleted before what they use, what is deleted first
//! before what replaces it. Others are kept wherever they do not contradict those: a consumer is moved off before what
//! it used goes, and nothing is torn down before its own upstream is there.

mod orders;
mod outcome;

use trueup_core::Address;
use trueup_state::{Generation, Status};

use self::orders::TaskOrders;
pub(super) use self::outcome::operation_of;
pub(crate) use self::outcome::{TaskError, TaskResult};
use crate::draft::node::{Node, NodeKind, Sight, Start};
use crate::draft::{Draft, metadata};
use crate::graph::Graph;
use crate::index::{NodeIndex, PerNode, PerTask, TaskIndex};
use crate::mutations::planted;
use crate::plan::{Action, ReplaceOrder};

/// Something to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Make a stub to which others of a cycle refer (BIND-5).
    Precreate(NodeIndex),
    /// Bring a declared node to where it should be.
    Apply(NodeIndex),
    /// Delete what a replacement replaces, before it, or finish an interrupted delete of what is wanted again.
    DeleteOld(NodeIndex),
    /// Delete what is no longer declared, all its generations.
    Delete(NodeIndex),
    /// Delete generations that were replaced.
    CleanUp(NodeIndex),
}

impl Task {
    /// The node it is about.
    pub(crate) fn node(self) -> NodeIndex {
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
    pub(crate) tasks: PerTask<Task>,
    pub(crate) graph: Graph<TaskIndex>,
}

/// The tasks that carry the plan out, up to the clean-up.
pub(crate) fn main_tasks(draft: &Draft) -> Tasks {
    let late = late_deletes(draft);
    let mut orders = TaskOrders::new(draft.nodes.len());
    let selected = |at: NodeIndex| draft.selection.contains(at) || planted!(RetireLeftOut);
    for (at, node) in draft.nodes.enumerate().filter(|(at, _)| selected(*at)) {
        match node.decision.action {
            // Opened if something needs it, which is known below.
            _ if node.is_ephemeral() => {}
            Action::Delete | Action::Forget if late[at] => {}
            Action::Delete | Action::Forget => orders.delete[at] = orders.add(Task::Delete(at)),
            _ if node.is_declared() && has_work(draft, at) => {
                orders.apply[at] = orders.add(Task::Apply(at));
                // A delete that was interrupted keeps its place in the order: what it used may go too.
                let unfinished = node.decision.start == Start::FinishDelete && node.object().is_some();
                if node.is_deleted_first() || unfinished {
                    orders.delete[at] = orders.add(Task::DeleteOld(at));
                }
            }
            _ => {}
        }
    }
    orders.clean_up_early(draft);
    orders.open_what_is_needed(draft, &late);
    orders.must(draft);
    orders.connect_stubs(draft);
    orders.wish(draft);
    orders.finish()
}

/// The tasks that apply some nodes once more, in the order of their dependencies.
pub(crate) fn again_tasks(draft: &Draft, nodes: &[NodeIndex]) -> Tasks {
    let mut orders = TaskOrders::new(draft.nodes.len());
    for &at in nodes {
        orders.apply[at] = orders.add(Task::Apply(at));
    }
    orders.must(draft);
    orders.finish()
}

/// The tasks that delete older generations and what only those still used, dependents first: by what the generations
/// that go may use themselves, whatever the resources they are of depend on by now (DELETE-1).
pub(crate) fn clean_up_tasks(
    draft: &Draft,
    goes: impl Fn(NodeIndex) -> bool,
    used: impl Fn(Task) -> UsedAddresses,
) -> Tasks {
    let late = late_deletes(draft);
    let mut orders = TaskOrders::new(draft.nodes.len());
    for (at, late) in late.enumerate().filter(|(at, _)| goes(*at)) {
        orders.delete[at] = orders.add(if *late { Task::Delete(at) } else { Task::CleanUp(at) });
    }
    let (mut firm, mut circular) = (Vec::new(), Vec::new());
    for (number, task) in orders.tasks.enumerate() {
        let used = used(*task);
        let deleted = |address: &Address| {
            let at = draft.index.get(address).copied().filter(|at| *at != task.node())?;
            Some((orders.delete[at]?, number))
        };
        firm.extend(used.firm.iter().filter_map(deleted));
        circular.extend(used.circular.iter().filter_map(deleted));
    }
    orders.add_or_fit(firm);
    orders.add_where_possible(circular);
    orders.finish()
}

/// What something that is deleted may use; of what is circular, no more is heeded than is possible.
#[derive(Default)]
pub(crate) struct UsedAddresses {
    pub(crate) firm: Vec<Address>,
    pub(crate) circular: Vec<Address>,
}

/// What is no longer declared, and an older generation of something else still uses until the clean-up: it must outlive
/// that generation, and so must all that it uses itself, unless that is deleted first.
pub(crate) fn late_deletes(draft: &Draft) -> PerNode<bool> {
    let mut late = PerNode::filled(false, draft.nodes.len());
    let leaves_old = |node: &Node| {
        let create_first = node.decision.order == Some(ReplaceOrder::CreateFirst);
        let waiting = node.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
        node.is_declared() && (create_first || waiting)
    };
    let goes = |at: NodeIndex| matches!(draft.nodes[at].decision.action, Action::Delete | Action::Forget);
    let mut reached: Vec<NodeIndex> =
        draft.nodes.indices().filter(|at| leaves_old(&draft.nodes[*at])).collect();
    while let Some(user) = reached.pop() {
        let used = draft.nodes[user].record.iter().flat_map(|(record, _)| record.dependencies());
        for at in used.filter_map(|address| draft.index.get(address).copied()) {
            if goes(at) && !late[at] {
                late[at] = true;
                reached.push(at);
            }
        }
    }
    // What is deleted first, or may turn out to be, does not wait for a clean-up, and so neither does what stands on it.
    let may_go_first = |at: &NodeIndex| draft.nodes[*at].decision.order == Some(ReplaceOrder::DeleteFirst);
    let mut going: Vec<NodeIndex> = draft.nodes.indices().filter(may_go_first).collect();
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
fn has_work(draft: &Draft, at: NodeIndex) -> bool {
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
fn recorded_dependents(draft: &Draft, at: NodeIndex) -> impl Iterator<Item = NodeIndex> {
    draft.recorded_graph.dependents(at).filter(move |other| *other != at)
}

/// Whether an older generation of a node uses another, by more than a binding that went in circles.
fn uses_by_older(draft: &Draft, at: NodeIndex, used: NodeIndex) -> bool {
    let used = &draft.nodes[used].address;
    draft.nodes[at].record.iter().any(|(record, _)| {
        let uses = |generation: &Generation| match &generation.dependencies {
            Some(own) => own.contains(used),
            None => record.meta.firm_dependencies().any(|it| it == used),
        };
        record.deposed.iter().any(uses)
    })
}
