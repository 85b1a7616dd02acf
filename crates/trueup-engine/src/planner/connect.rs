//! Dependencies between nodes, and the order that follows from them.

use trueup_core::{Address, Diagnostic, Diagnostics};

use super::node::{Node, NodeKind};
use super::{Draft, Sources};
use crate::graph::Graph;

pub(super) fn connect(sources: &Sources<'_>, draft: &mut Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut edges = Vec::new();
    for (at, node) in draft.nodes.iter().enumerate() {
        for dependency in dependencies(sources, node) {
            match draft.index.get(&dependency) {
                Some(other) => edges.push((at as u32, *other as u32)),
                // What is recorded may refer to what is long gone; what is declared may not (PLAN-12).
                None if !node.is_declared() => {}
                None => diagnostics.push(dangling(node, &dependency, draft.index.keys())),
            }
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    for (at, node) in draft.nodes.iter().enumerate() {
        if let Some((record, _)) = &node.record {
            for dependency in &record.meta.dependencies {
                draft.recorded_dependents.entry(dependency.clone()).or_default().push(at);
            }
        }
    }
    draft.graph = Graph::new(draft.nodes.len(), edges);
    match draft.graph.order() {
        Ok(order) => {
            draft.order = order;
            Ok(())
        }
        Err(cycle) => Err(circular(draft, &cycle).into()),
    }
}

/// What a node depends on, as its program or record says.
pub(super) fn dependencies(sources: &Sources<'_>, node: &Node) -> Vec<Address> {
    let (mut found, provider) = match &node.kind {
        NodeKind::Resource { declared: Some(declared), .. } => {
            let bound = declared.bindings.iter().flat_map(|binding| binding.payload.references());
            let referred = declared.inputs.references().into_iter().chain(bound);
            let referred: Vec<Address> = referred.map(|reference| reference.address.clone()).collect();
            ([referred, declared.depends_on.clone()].concat(), true)
        }
        NodeKind::Data { declared, .. } => {
            let referred =
                declared.inputs.references().into_iter().map(|reference| reference.address.clone());
            (referred.chain(declared.depends_on.iter().cloned()).collect(), true)
        }
        NodeKind::Resource { declared: None, .. } => {
            let recorded = node.record.iter().flat_map(|(record, _)| &record.meta.dependencies);
            (recorded.cloned().collect(), false)
        }
    };
    if provider {
        let config = sources.program.providers.iter().find(|provider| provider.name == node.provider);
        let referred = config.into_iter().flat_map(|provider| provider.config.references());
        found.extend(referred.map(|reference| reference.address.clone()));
    }
    found.sort();
    found.dedup();
    found
}

fn dangling<'a>(node: &Node, dependency: &Address, known: impl Iterator<Item = &'a Address>) -> Diagnostic {
    let known: Vec<String> = known.map(ToString::to_string).collect();
    let meant =
        trueup_core::nearest(&dependency.to_string(), known.iter().map(String::as_str)).map(str::to_owned);
    let diagnostic =
        Diagnostic::error(format!("{} depends on {dependency}, which is not declared", node.address));
    let diagnostic = diagnostic.about(node.address.to_string());
    match meant {
        Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
        None => diagnostic.hint("declare it, or remove the reference"),
    }
}

/// PLAN-13
fn circular(draft: &Draft, cycle: &[usize]) -> Diagnostic {
    let mut names: Vec<String> = cycle.iter().map(|at| draft.nodes[*at].address.to_string()).collect();
    names.extend(names.first().cloned());
    Diagnostic::error("Resource dependency cycle detected")
        .detail(names.join(" → "))
        .hint("remove one of these references")
}
