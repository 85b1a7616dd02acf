//! The draft of a plan: all nodes of a run, with what planning learned and decided about each.
//!
//! The planner fills it in pass by pass; the executor carries the plan out from it. Both know it, and neither knows the
//! other. `node` is one resource, `attributes` what references see of it, `selection` what the run is about,
//! `relocation` which records have new addresses, `origin` and `metadata` what follows from program and records.

mod attributes;
mod metadata;
pub(crate) mod node;
mod origin;
mod relocation;
mod selection;

pub(crate) use attributes::{Attributes, NodeScope, attribute, data_blocks, resource_blocks};
pub(crate) use metadata::metadata;
pub(crate) use origin::renamed;
pub(crate) use relocation::{Original, Relocation, rewrite_dependencies};
pub(crate) use selection::Selection;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Address, Diagnostics, KnownSecrets, Value};
use trueup_program::{FunctionAnswers, Program};
use trueup_provider::Configured;
use trueup_state::{Record, RecordId, Scope};

use crate::call::Caller;
use crate::graph::Graph;
use crate::index::{NodeIndex, PerNode};
use crate::plan::Plan;
use crate::providers::{Places, RecordedConfigurations};
use crate::sighting::Holders;
use node::{Node, NodeKind};

/// A plan, with the draft that the executor carries it out from.
pub(crate) struct ExecutablePlan<'p> {
    pub(crate) plan: Plan,
    pub(crate) draft: Draft<'p>,
}

/// A plan in the making, of a program.
pub(crate) struct Draft<'p> {
    pub(crate) scope: Scope,
    pub(crate) index: IndexMap<Address, NodeIndex>,
    /// What is recorded and no longer declared, by its address without a key.
    pub(crate) leaving: BTreeMap<Address, Vec<NodeIndex>>,
    pub(crate) nodes: PerNode<Node<'p>>,
    /// What each node depends on: its references and explicit dependencies, or what is recorded if it is undeclared.
    pub(crate) graph: Graph<NodeIndex>,
    /// The nodes, each after all it depends on.
    pub(crate) order: Vec<NodeIndex>,
    pub(crate) attributes: PerNode<Option<Attributes>>,
    /// What each node depends on as its record says, declared or not, as far as that is there.
    pub(crate) recorded_graph: Graph<NodeIndex>,
    pub(crate) configs: IndexMap<SmolStr, Option<Configured>>,
    /// The configurations that recorded objects were made with.
    pub(crate) recorded: RecordedConfigurations,
    pub(crate) relocation: Relocation,
    pub(crate) selection: Selection,
    pub(crate) holders: Holders,
    /// Dependencies that a cycle through bindings leaves for the second pass: who depends, on whom (BIND-5).
    pub(crate) loose: Vec<(NodeIndex, NodeIndex)>,
    /// Dependencies that are part of a cycle, by bindings alone: for each node, those that it depends on.
    pub(crate) circular: BTreeMap<NodeIndex, BTreeSet<NodeIndex>>,
    /// The stack's outputs as the last run left them.
    pub(crate) recorded_outputs: Option<Value>,
    pub(crate) warnings: Diagnostics,
    /// What the functions of providers answered that its expressions call.
    pub(crate) answers: Arc<FunctionAnswers>,
    /// The secrets of the run.
    pub(crate) secrets: KnownSecrets,
    /// Records as they were before their objects were brought to the current schema versions, where that changed them.
    pub(crate) unmigrated: IndexMap<RecordId, Arc<Record>>,
    /// Whether it is being carried out.
    pub(crate) applying: bool,
    /// The nodes that are first applied with values that stand in for others, since they are in a cycle or after one.
    pub(crate) provisional: BTreeSet<NodeIndex>,
    /// The nodes of which this run has made stubs.
    pub(crate) stubbed: BTreeSet<NodeIndex>,
    /// The addresses under which resources were first created that have others now: their names still follow from those.
    pub(crate) moved_away: BTreeSet<Address>,
    /// The addresses that resources were renamed from, by their new ones.
    pub(crate) renamed: BTreeMap<Address, Address>,
}

impl<'p> Draft<'p> {
    /// The places of objects of a node's type, under its configuration of the provider.
    pub(crate) fn places<'a>(&self, calls: &'a Caller<'a>, at: NodeIndex) -> Option<Places<'a>> {
        let node = &self.nodes[at];
        let (recorded, provider) = (self.recorded.clone(), node.provider.clone());
        Some(Places { calls, recorded, handler: node.handler()?.clone(), provider })
    }

    /// The address that the physical names of a node follow from.
    pub(crate) fn origin(&self, at: NodeIndex) -> Address {
        let node = &self.nodes[at];
        match &node.record {
            Some((record, _)) => record.origin.clone(),
            None => origin::fresh_origin(&self.moved_away, &node.address),
        }
    }

    /// The addresses under which the object of a node may be found: without a record, also those it had before.
    pub(crate) fn origins(&self, program: &Program, at: NodeIndex) -> Vec<Address> {
        let mut origins = vec![self.origin(at)];
        if self.nodes[at].record.is_none() {
            let before = origin::predecessors(program, &self.renamed, &self.nodes[at].address).into_iter();
            // What has its names from there is another resource, and recorded.
            origins.extend(before.filter(|origin| !self.moved_away.contains(origin)));
        }
        origins
    }

    /// All that a node depends on, with what a cycle leaves for the second pass.
    pub(crate) fn upstream(&self, at: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let loose = self.loose.iter().filter(move |(from, _)| *from == at).map(|(_, target)| *target);
        self.graph.dependencies(at).chain(loose)
    }

    /// All that depends on a node, likewise.
    pub(crate) fn downstream(&self, at: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let loose = self.loose.iter().filter(move |(_, target)| *target == at).map(|(from, _)| *from);
        self.graph.dependents(at).chain(loose)
    }

    /// What is known of outputs by now.
    pub(crate) fn known(&self) -> NodeScope<'_> {
        let Draft { index, nodes, attributes, applying, answers, secrets, .. } = self;
        NodeScope { index, nodes, attributes, applying: *applying, answers, secrets }
    }

    /// What is wrong with a node, by the postconditions that it states.
    pub(crate) fn postconditions(&self, at: NodeIndex) -> Diagnostics {
        let stated = match &self.nodes[at].kind {
            NodeKind::Resource { declared, .. } => declared.map_or(&[][..], |it| &it.postconditions),
            NodeKind::Data { declared, .. } | NodeKind::Ephemeral { declared, .. } => {
                &declared.postconditions
            }
        };
        let mut wrong = Diagnostics::new();
        for stated in stated {
            wrong.extend(stated.evaluate(&self.known()).diagnostics);
        }
        wrong
    }

    /// What the program's checks find.
    pub(crate) fn checks(&self, program: &Program) -> Diagnostics {
        let mut found = Diagnostics::new();
        for check in &program.checks {
            found.extend(check.condition.evaluate(&self.known()).diagnostics);
        }
        found
    }
}

/// What is left out stays as it is recorded, and that is what others see of it.
pub(crate) fn keep(draft: &mut Draft, at: NodeIndex) {
    if let Some(object) = draft.nodes[at].object() {
        let inputs = object.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
        draft.attributes[at] = Some(Attributes::new(inputs, object.outputs.clone()));
    }
}
