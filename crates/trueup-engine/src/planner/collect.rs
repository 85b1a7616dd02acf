//! The first pass: a node for each resource that is declared or recorded, for each data source and each ephemeral
//! resource.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, Mode, Value};
use trueup_program::{DataDeclaration, Expression, Program, ResourceDeclaration};
use trueup_provider::ResourceHandler;
use trueup_state::{Record, Scope, Snapshot, Version};

use super::Sources;
use super::trace::lines;
use crate::draft::node::{Decision, Node, NodeKind, Sight};
use crate::draft::{Draft, Relocation, Selection, renamed};
use crate::graph::Graph;
use crate::index::PerNode;
use crate::providers::RecordedConfigurations;
use crate::sighting::{Holders, ObjectHolder};

pub(super) async fn collect<'p>(
    sources: &Sources<'p>,
    snapshot: Snapshot,
    relocation: Relocation,
) -> Result<Draft<'p>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut records: IndexMap<Address, (Arc<Record>, Version)> = snapshot
        .records
        .into_iter()
        .map(|(record, version)| (record.address.clone(), (record, version)))
        .collect();
    // Providers may repeat what recorded secrets were made of, and the program may no longer say.
    let recorded_sources = records.values().filter_map(|(record, _)| record.meta.secret_sources.as_ref());
    sources.calls.registry.secrets().learn(recorded_sources);
    let moved = records.values().map(|(record, _)| record).filter(|it| it.origin != it.address);
    let moved_away: BTreeSet<Address> = moved.map(|record| record.origin.clone()).collect();
    let mut draft = Draft {
        scope: Scope::new(sources.program.stack.clone(), sources.options.stage.clone()),
        index: IndexMap::new(),
        leaving: BTreeMap::new(),
        nodes: PerNode::default(),
        graph: Graph::new(0, Vec::new()),
        order: Vec::new(),
        attributes: PerNode::default(),
        recorded_graph: Graph::new(0, Vec::new()),
        configs: IndexMap::new(),
        recorded: RecordedConfigurations::new(snapshot.configurations),
        relocation,
        selection: Selection::default(),
        holders: Holders::default(),
        loose: Vec::new(),
        circular: BTreeMap::new(),
        recorded_outputs: snapshot.outputs,
        warnings: Diagnostics::new(),
        secrets: sources.calls.registry.secrets().clone(),
        answers: Arc::default(),
        unmigrated: IndexMap::new(),
        applying: false,
        provisional: BTreeSet::new(),
        stubbed: BTreeSet::new(),
        moved_away,
        renamed: renamed(sources.program),
    };
    let expected = sources.program.resources.len().max(records.len())
        + sources.program.data.len()
        + sources.program.ephemeral.len();
    draft.nodes.reserve_exact(expected);
    draft.index.reserve_exact(expected);
    draft.attributes.reserve_exact(expected);
    if !sources.kind.is_destroy() {
        for declared in &sources.program.resources {
            // Moving the last one into the gap keeps this linear; what is left is sorted below.
            let record = records.swap_remove(&declared.address);
            draft.add_resource(sources, Some(declared), record, &declared.address, &mut diagnostics).await;
        }
        for declared in &sources.program.data {
            draft.add_asked(sources, declared, &mut diagnostics).await;
        }
    }
    for declared in wanted_ephemerals(sources) {
        draft.add_asked(sources, declared, &mut diagnostics).await;
    }
    records.sort_unstable_keys();
    for (address, record) in records {
        draft.leaving.entry(address.with_key(None)).or_default().push(draft.nodes.next_index());
        draft.add_resource(sources, None, Some(record), &address, &mut diagnostics).await;
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(draft) }
}

impl<'p> Draft<'p> {
    async fn add_resource(
        &mut self,
        sources: &Sources<'p>,
        declared: Option<&'p ResourceDeclaration>,
        record: Option<(Arc<Record>, Version)>,
        address: &Address,
        diagnostics: &mut Diagnostics,
    ) {
        let named = match declared {
            Some(declared) => declared.provider.clone(),
            None => record.as_ref().map(|(record, _)| record.meta.provider.clone()),
        };
        let provider = sources.provider_name(named, address.type_name());
        let handler = match self.type_of_the_last(&provider, address.type_name()) {
            Some(handler) => Ok(handler),
            None => sources.calls.resource_type(&provider, address.type_name()).await,
        };
        let handler = match handler {
            Ok(handler) => handler,
            // A type that nobody knows is an error also for what is no longer declared (PLAN-11).
            Err(diagnostic) => return diagnostics.push(diagnostic.about(address.to_string())),
        };
        let kind = NodeKind::Resource { declared, handler };
        self.add(address, kind, provider, record, diagnostics);
    }

    /// The handler of the resource added last, if it is of this type: most are added in runs of one type.
    fn type_of_the_last(&self, provider: &str, type_name: &str) -> Option<Arc<dyn ResourceHandler>> {
        let last = self.nodes.iter().next_back()?;
        let is_same = last.provider == provider && last.address.type_name() == type_name;
        last.handler().filter(|_| is_same).cloned()
    }

    /// Adds a data source, or an ephemeral resource.
    async fn add_asked(
        &mut self,
        sources: &Sources<'p>,
        declared: &'p DataDeclaration,
        diagnostics: &mut Diagnostics,
    ) {
        let type_name = declared.address.type_name();
        let provider = sources.provider_name(declared.provider.clone(), type_name);
        let kind = match declared.address.mode() {
            Mode::Ephemeral => {
                let handler = sources.calls.ephemeral_type(&provider, type_name).await;
                handler.map(|handler| NodeKind::Ephemeral { declared, handler })
            }
            Mode::Data | Mode::Resource => {
                let handler = sources.calls.data_source(&provider, type_name).await;
                handler.map(|handler| NodeKind::Data { declared, handler })
            }
        };
        match kind {
            Ok(kind) => self.add(&declared.address, kind, provider, None, diagnostics),
            Err(diagnostic) => diagnostics.push(diagnostic.about(declared.address.to_string())),
        }
    }

    fn add(
        &mut self,
        address: &Address,
        kind: NodeKind<'p>,
        provider: SmolStr,
        record: Option<(Arc<Record>, Version)>,
        diagnostics: &mut Diagnostics,
    ) {
        if self.index.insert(address.clone(), self.nodes.next_index()).is_some() {
            // PLAN-12
            let summary = format!("{address} is declared twice");
            diagnostics
                .push(Diagnostic::error(summary).about(address.to_string()).hint("give one another name"));
            return;
        }
        let tells_place = match &kind {
            NodeKind::Resource { handler, .. } => handler.traits().tells_place,
            NodeKind::Data { .. } | NodeKind::Ephemeral { .. } => false,
        };
        for generation in record.iter().flat_map(|(record, _)| record.generations()) {
            let Some(object) = &generation.object else { continue };
            self.holders.note(ObjectHolder::recorded(address, &provider, generation), object, tells_place);
        }
        self.nodes.push(Node {
            address: address.clone(),
            kind,
            provider,
            config: None,
            record,
            sight: Sight::Unseen,
            desired: None,
            bindings: Vec::new(),
            decision: Decision { outputs: Value::NULL, ..Decision::default() },
        });
        self.attributes.push(None);
    }
}

/// The ephemeral resources that a run may open: to delete everything, those that configurations of providers need.
fn wanted_ephemerals<'p>(sources: &Sources<'p>) -> Vec<&'p DataDeclaration> {
    let Program { ephemeral, providers, .. } = sources.program;
    if !sources.kind.is_destroy() {
        return ephemeral.iter().collect();
    }
    let mut wanted: BTreeSet<&Address> = BTreeSet::new();
    let mut needed: Vec<&Expression> = providers.iter().map(|provider| &provider.config).collect();
    while let Some(expression) = needed.pop() {
        for reference in expression.references() {
            let declared = ephemeral.iter().find(|declared| declared.address == reference.address);
            if let Some(declared) = declared.filter(|it| wanted.insert(&it.address)) {
                needed.push(&declared.inputs);
                let own = providers.iter().filter(|it| Some(&it.name) == declared.provider.as_ref());
                needed.extend(own.map(|provider| &provider.config));
            }
        }
    }
    ephemeral.iter().filter(|declared| wanted.contains(&declared.address)).collect()
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |_, node| {
        let known = match (node.is_declared(), node.record.is_some()) {
            (true, true) => "declared and recorded",
            (true, false) => "declared",
            (false, _) => "recorded",
        };
        Some(format!("{known}, of provider `{}`", node.provider))
    })
}
