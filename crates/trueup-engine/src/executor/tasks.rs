//! From a plan to tasks: what has to run, and after what.

use trueup_state::Status;

use crate::graph::Graph;
use crate::plan::{Action, ReplaceOrder};
use crate::planner::Draft;
use crate::planner::node::{Node, NodeKind, Start};

/// Something to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Make a stub to which others of a cycle refer (BIND-5).
    Precreate(usize),
    /// Bring a declared node to where it should be.
    Apply(usize),
    /// Delete what a replacement replaces, before it.
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
    let mut builder = Builder::new(draft.nodes.len());
    for (at, node) in draft.nodes.iter().enumerate().filter(|(at, _)| draft.selection.contains(*at)) {
        match node.decision.action {
            Action::Delete | Action::Forget => builder.delete[at] = builder.add(Task::Delete(at)),
            _ if node.is_declared() && has_work(draft, at) => {
                builder.apply[at] = builder.add(Task::Apply(at));
                if node.decision.order == Some(ReplaceOrder::DeleteFirst)
                    && node.decision.action == Action::Replace
                {
                    builder.delete[at] = builder.add(Task::DeleteOld(at));
                }
            }
            _ => {}
        }
    }
    builder.connect(draft);
    builder.connect_stubs(draft);
    builder.finish()
}

/// The tasks that apply some nodes once more, in the order of their dependencies.
pub(crate) fn again_tasks(draft: &Draft, nodes: &[usize]) -> Tasks {
    let mut builder = Builder::new(draft.nodes.len());
    for &at in nodes {
        builder.apply[at] = builder.add(Task::Apply(at));
    }
    builder.connect(draft);
    builder.finish()
}

/// The tasks that delete older generations, dependents first.
pub(crate) fn clean_up_tasks(draft: &Draft, waiting: impl Fn(usize) -> bool) -> Tasks {
    let mut builder = Builder::new(draft.nodes.len());
    for at in (0..draft.nodes.len()).filter(|at| waiting(*at)) {
        builder.delete[at] = builder.add(Task::CleanUp(at));
    }
    for at in 0..draft.nodes.len() {
        let Some(delete) = builder.delete[at] else { continue };
        for dependent in recorded_dependents(draft, at) {
            builder.edges.extend(builder.delete[dependent].map(|other| (delete, other)));
        }
    }
    builder.finish()
}

/// Whether a declared node has anything to run for: an action, or something else to record.
fn has_work(draft: &Draft, at: usize) -> bool {
    let node = &draft.nodes[at];
    if node.decision.action != Action::NoOp || node.decision.start != Start::Record {
        return true;
    }
    match &node.kind {
        NodeKind::Data { .. } => false,
        NodeKind::Resource { .. } => {
            let Some((record, _)) = &node.record else { return true };
            let unfinished = record.current.as_ref().is_none_or(|current| current.status != Status::Ready);
            unfinished || record.meta != super::apply::metadata(draft, at) || refreshes(node)
        }
    }
}

/// Whether what was seen differs from the record in a way that is no drift but worth recording.
pub(super) fn refreshes(node: &Node) -> bool {
    match (&node.sight, node.object()) {
        (crate::planner::node::Sight::Present(seen), Some(recorded)) => {
            node.decision.drift.is_empty() && seen.outputs != recorded.outputs
        }
        _ => false,
    }
}

/// The nodes whose records depend on a node.
fn recorded_dependents(draft: &Draft, at: usize) -> Vec<usize> {
    let address = &draft.nodes[at].address;
    let depends = |node: &Node| {
        node.record
            .as_ref()
            .is_some_and(|(record, _)| record.meta.dependencies.binary_search(address).is_ok())
    };
    // The graph knows declared dependents; records may know others that the program has let go.
    let declared = draft.graph.dependents(at);
    let recorded = draft.recorded_dependents.get(address).into_iter().flatten().copied();
    let mut found: Vec<usize> = declared.chain(recorded).filter(|other| *other != at).collect();
    found.sort_unstable();
    found.dedup();
    found.retain(|other| {
        depends(&draft.nodes[*other]) || draft.graph.dependents(at).any(|node| node == *other)
    });
    found
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
        self.tasks.push(task);
        Some(self.tasks.len() as u32 - 1)
    }

    fn connect(&mut self, draft: &Draft) {
        for at in 0..draft.nodes.len() {
            if let Some(apply) = self.apply[at] {
                // A node starts when all it depends on are done (APPLY-1), and after what it replaces is gone.
                let upstream = draft.graph.dependencies(at).filter_map(|other| self.apply[other]);
                self.edges.extend(upstream.chain(self.delete[at]).map(|other| (apply, other)));
            }
            let Some(delete) = self.delete[at] else { continue };
            let replaced = matches!(self.tasks[delete as usize], Task::DeleteOld(_));
            for dependent in recorded_dependents(draft, at) {
                // A consumer is deleted or moved off before what it used goes (APPLY-9, DELETE-1).
                let after = self.delete[dependent].or(if replaced { None } else { self.apply[dependent] });
                self.edges.extend(after.map(|other| (delete, other)));
            }
            if replaced {
                // Nothing is torn down before its own upstream is known to be there, unless that goes too.
                let upstream = draft.graph.dependencies(at).filter(|other| self.delete[*other].is_none());
                self.edges
                    .extend(upstream.filter_map(|other| self.apply[other]).map(|other| (delete, other)));
            }
        }
    }

    /// Where a cycle was opened, who refers to what is made later waits for its stub.
    fn connect_stubs(&mut self, draft: &Draft) {
        for &(from, target) in &draft.loose {
            let node = &draft.nodes[target];
            let (Some(apply), Some(user)) = (self.apply[target], self.apply[from]) else { continue };
            let stubbed = node.decision.action == Action::Create && node.object().is_none();
            if !(stubbed && node.handler().is_some_and(|handler| handler.precreates())) {
                continue;
            }
            let known =
                self.tasks.iter().position(|task| *task == Task::Precreate(target)).map(|at| at as u32);
            if let Some(stub) = known.or_else(|| self.add(Task::Precreate(target))) {
                self.edges.extend([(user, stub), (apply, stub)]);
            }
        }
    }

    fn finish(self) -> Tasks {
        Tasks { graph: Graph::new(self.tasks.len(), self.edges), tasks: self.tasks }
    }
}
