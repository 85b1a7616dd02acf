//! Dependencies between nodes, and the order that follows from them.

use trueup_core::{Address, Diagnostic, Diagnostics, Failure, Mode};
use trueup_provider::InputValues;

use super::node::{Node, NodeKind};
use super::trace::lines;
use super::{Draft, Sources};
use crate::graph::Graph;
use crate::mutations::planted;

pub(super) fn connect(sources: &Sources<'_>, draft: &mut Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let (mut by_input, mut by_binding) = (Vec::new(), Vec::new());
    for (at, node) in draft.nodes.iter().enumerate() {
        let mut resolve = |dependencies: Vec<Address>, edges: &mut Vec<(u32, u32)>| {
            for dependency in dependencies {
                match draft.index.get(&dependency) {
                    // What is declared may not refer to what is recorded alone: that goes (PLAN-10, PLAN-12).
                    Some(other) if !node.is_declared() || draft.nodes[*other].is_declared() => {
                        edges.push((at as u32, *other as u32));
                    }
                    // What is recorded may refer to what is long gone.
                    None if !node.is_declared() => {}
                    _ => {
                        let declared = draft.nodes.iter().filter(|node| node.is_declared());
                        diagnostics.push(dangling(node, &dependency, declared.map(|node| &node.address)));
                    }
                }
            }
        };
        resolve(input_dependencies(sources, node), &mut by_input);
        resolve(binding_dependencies(node), &mut by_binding);
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    draft.recorded_graph = recorded_graph(draft);
    if !by_binding.is_empty()
        && let Err(cycle) = Graph::new(draft.nodes.len(), by_input.clone()).order()
    {
        return Err(circular(draft, &cycle).into());
    }
    order(draft, by_input, by_binding)
}

/// What nodes depend on as their records say.
fn recorded_graph(draft: &Draft) -> Graph {
    let mut edges = Vec::new();
    for (at, node) in draft.nodes.iter().enumerate() {
        let recorded = node.record.iter().flat_map(|(record, _)| {
            let all = record.dependencies();
            let count =
                if planted!(ForgetOldDependencies) { record.meta.dependencies.len() } else { usize::MAX };
            all.take(count)
        });
        let known = recorded.filter_map(|dependency| draft.index.get(dependency));
        edges.extend(known.map(|other| (at as u32, *other as u32)));
    }
    Graph::new(draft.nodes.len(), edges)
}

/// Orders the nodes; cycles through bindings are opened where a stub or a recorded object can stand in (BIND-3, BIND-4).
fn order(
    draft: &mut Draft,
    by_input: Vec<(u32, u32)>,
    by_binding: Vec<(u32, u32)>,
) -> Result<(), Diagnostics> {
    let bound = !by_binding.is_empty();
    let mut edges = [by_input, by_binding].concat();
    loop {
        draft.graph = Graph::new(draft.nodes.len(), edges.clone());
        let cycle = match draft.graph.order() {
            Ok(order) => {
                draft.order = order;
                return Ok(());
            }
            Err(cycle) => cycle,
        };
        if !bound {
            return Err(circular(draft, &cycle).into());
        }
        // A stub that needs nothing of others is better than one that does.
        let stands_in = |at: usize| match stub_inputs(draft, at) {
            Ok(Some(_)) => 3,
            Err(_) => 2,
            Ok(None) if draft.nodes[at].object().is_some() => 1,
            Ok(None) => 0,
        };
        let following = cycle.iter().skip(1).chain(cycle.first());
        let opening = cycle.iter().zip(following).max_by_key(|(_, target)| stands_in(**target));
        match opening {
            Some((from, target)) if stands_in(*target) > 0 => {
                edges.retain(|edge| *edge != (*from as u32, *target as u32));
                draft.loose.push((*from, *target));
            }
            _ => return Err(unopenable(draft, &cycle).into()),
        }
    }
}

/// The inputs of a stub of a node, if one can be made of what is known before anything else is.
fn stub_inputs(draft: &Draft, at: usize) -> Result<Option<InputValues>, Failure> {
    let node = &draft.nodes[at];
    let Some((handler, declared)) = node.handler().zip(node.declared()) else { return Ok(None) };
    let block = &handler.schema().inputs;
    // Mistakes are told when inputs are prepared.
    let written = block.check(&declared.inputs.evaluate(&draft.known()).value, &node.address).value;
    handler.stub_inputs(&InputValues { effective: block.with_defaults(&written), written })
}

/// What a node depends on, as its program or record says, sorted.
pub(super) fn dependencies(draft: &Draft, at: usize) -> Vec<Address> {
    let node = &draft.nodes[at];
    let mut found: Vec<Address> = match node.is_declared() {
        // All that is declared was found when nodes were connected.
        true => {
            let loose = draft.loose.iter().filter(|(from, _)| *from == at).map(|(_, target)| *target);
            let all = draft.graph.dependencies(at).chain(loose);
            all.map(|other| draft.nodes[other].address.clone()).collect()
        }
        // What is recorded may refer to what is long gone.
        false => {
            let recorded = node.record.iter().flat_map(|(record, _)| &record.meta.dependencies);
            recorded.cloned().collect()
        }
    };
    found.sort();
    found.dedup();
    found
}

/// What a node's bindings refer to.
fn binding_dependencies(node: &Node) -> Vec<Address> {
    let bindings = node.declared().map_or(&[][..], |declared| &declared.bindings);
    let referred = bindings.iter().flat_map(|binding| binding.payload.references());
    referred.map(|reference| reference.address.clone()).collect()
}

/// What a node's inputs refer to, what it is said to depend on, and what its provider's configuration refers to.
fn input_dependencies(sources: &Sources<'_>, node: &Node) -> Vec<Address> {
    let config = sources.program.providers.iter().find(|provider| provider.name == node.provider);
    let configured = config.into_iter().flat_map(|provider| provider.config.references());
    let (inputs, explicit, after) = match &node.kind {
        NodeKind::Resource { declared: Some(declared), .. } => {
            (&declared.inputs, &declared.depends_on, &declared.postconditions)
        }
        NodeKind::Data { declared, .. } | NodeKind::Ephemeral { declared, .. } => {
            (&declared.inputs, &declared.depends_on, &declared.postconditions)
        }
        NodeKind::Resource { declared: None, .. } => {
            let recorded = node.record.iter().flat_map(|(record, _)| &record.meta.dependencies);
            // What is open for one run cannot be recorded.
            let opened = configured.map(|reference| &reference.address);
            let opened = opened.filter(|address| address.mode() == Mode::Ephemeral);
            return recorded.chain(opened).cloned().collect();
        }
    };
    // What is stated of a node itself is no dependency.
    let stated = after.iter().flat_map(|stated| stated.references()).filter(|it| it.address != node.address);
    let referred = inputs.references().into_iter().chain(configured).chain(stated);
    referred.map(|reference| reference.address.clone()).chain(explicit.iter().cloned()).collect()
}

/// BIND-4
fn unopenable(draft: &Draft, cycle: &[usize]) -> Diagnostic {
    let names: Vec<String> = cycle.iter().map(|at| draft.nodes[*at].address.to_string()).collect();
    Diagnostic::error(format!(
        "{} are bound in a cycle, and none of them can be made before the others",
        names.join(", ")
    ))
    .hint("bind to a type that can make a stub first, or remove one of the bindings")
}

fn dangling<'a>(node: &Node, dependency: &Address, known: impl Iterator<Item = &'a Address>) -> Diagnostic {
    // A resource is never what it should have referred to.
    let known: Vec<String> = known.filter(|known| **known != node.address).map(ToString::to_string).collect();
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
    let mut diagnostic = Diagnostic::error("Resource dependency cycle detected")
        .detail(names.join(" → "))
        .hint("remove one of these references");
    diagnostic.origin = cycle.first().and_then(|at| draft.nodes[*at].origin());
    diagnostic
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    let names = |nodes: Vec<usize>| {
        let mut names: Vec<String> = nodes.iter().map(|at| draft.nodes[*at].address.to_string()).collect();
        names.sort();
        names.join(", ")
    };
    lines(draft, |at, _| {
        let upstream: Vec<usize> = draft.graph.dependencies(at).collect();
        let later: Vec<usize> =
            draft.loose.iter().filter(|(from, _)| *from == at).map(|(_, target)| *target).collect();
        let mut said = Vec::new();
        said.extend((!upstream.is_empty()).then(|| format!("after {}", names(upstream))));
        said.extend((!later.is_empty()).then(|| format!("once more after {}", names(later))));
        (!said.is_empty()).then(|| said.join("; "))
    })
}
