//! Dependencies between nodes, and the order that follows from them.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, Mode, Value};
use trueup_program::{FunctionAnswer, FunctionCall, ImportDeclaration, Place, Reference, Scope};
use trueup_provider::StubInputs;

use super::Sources;
use super::trace::lines;
use crate::draft::node::{Node, NodeKind};
use crate::draft::{Draft, NodeScope};
use crate::graph::Graph;
use crate::index::NodeIndex;
use crate::inputs::NodeInputs;
use crate::mutations::planted;

/// Who depends, and on whom.
type Edge = (NodeIndex, NodeIndex);

pub(super) async fn connect(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    // What can stand in for a member of a cycle follows from its inputs.
    let answers = draft.answers.clone();
    sources.calls.answered(&answers, || connect_once(sources, draft)).await
}

fn connect_once(sources: &Sources<'_>, draft: &mut Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let imports = imports(sources, draft, &mut diagnostics);
    let (mut by_input, mut by_binding) = (Vec::new(), Vec::new());
    for (at, node) in draft.nodes.enumerate() {
        let mut resolve = |dependencies: Vec<Address>, edges: &mut Vec<Edge>| {
            for dependency in dependencies {
                match draft.index.get(&dependency) {
                    // What is declared may not refer to what is recorded alone: that goes (PLAN-10, PLAN-12).
                    Some(other) if !node.is_declared() || draft.nodes[*other].is_declared() => {
                        edges.push((at, *other));
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
        let import = imports.get(&node.address).filter(|_| node.record.is_none());
        resolve(import.map(|import| import_dependencies(import)).unwrap_or_default(), &mut by_input);
        resolve(binding_dependencies(node), &mut by_binding);
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    draft.recorded_graph = recorded_graph(draft);
    if !by_binding.is_empty() {
        let declared = by_input.iter().filter(|(from, _)| draft.nodes[*from].is_declared());
        if let Err(cycle) = Graph::new(draft.nodes.len(), declared.copied().collect()).order() {
            return Err(circular(draft, &cycle).into());
        }
    }
    order(draft, by_input, by_binding)
}

/// The imports of a program by their resources, each of which is declared and named once (ADOPT-11).
fn imports<'p>(
    sources: &Sources<'p>,
    draft: &Draft,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<&'p Address, &'p ImportDeclaration> {
    let mut imports = BTreeMap::new();
    let is_declared =
        |to: &Address| draft.index.get(to).is_some_and(|at| draft.nodes[*at].declared().is_some());
    for import in &sources.program.imports {
        let to = &import.to;
        let wrong = if imports.insert(to, import).is_some() {
            let hint = "an address stands for one object: remove one of the imports";
            Diagnostic::error(format!("two imports name {to}")).hint(hint)
        } else if !is_declared(to) {
            let hint = "declare it, with the provider and inputs of the object, or remove the import";
            Diagnostic::error(format!("{to} is to be imported, and is not declared")).hint(hint)
        } else {
            continue;
        };
        let mut wrong = wrong.about(to.to_string());
        wrong.origin = import.place.and_then(Place::source);
        diagnostics.push(wrong);
    }
    imports
}

/// What nodes depend on as their records say.
fn recorded_graph(draft: &Draft) -> Graph<NodeIndex> {
    let mut edges = Vec::new();
    for (at, node) in draft.nodes.enumerate() {
        let recorded = node.record.iter().flat_map(|(record, _)| {
            let is_old = |it: &&Address| !record.meta.dependencies.contains(it);
            record.dependencies().filter(move |it| !(planted!(ForgetOldDependencies) && is_old(it)))
        });
        let known = recorded.filter_map(|dependency| draft.index.get(dependency));
        edges.extend(known.map(|other| (at, *other)));
    }
    Graph::new(draft.nodes.len(), edges)
}

/// Orders the nodes; cycles through bindings are opened where a stub or a recorded object can stand in (BIND-3, BIND-4).
/// A binding gives way before an input does: its payload can be changed in place later, an input may be for good.
fn order(draft: &mut Draft, by_input: Vec<Edge>, by_binding: Vec<Edge>) -> Result<(), Diagnostics> {
    let inputs: BTreeSet<Edge> = match by_binding.is_empty() {
        true => BTreeSet::new(),
        false => by_input.iter().copied().collect(),
    };
    let bound: Vec<Edge> = by_binding.into_iter().filter(|edge| !inputs.contains(edge)).collect();
    let whole = [by_input, bound.clone()].concat();
    let mut edges = whole.clone();
    draft.loose.clear();
    loop {
        draft.graph = Graph::new(draft.nodes.len(), edges.clone());
        let cycle = match draft.graph.order() {
            Ok(order) => {
                draft.order = order;
                if !draft.loose.is_empty() {
                    draft.circular = closing(&Graph::new(draft.nodes.len(), whole), &bound);
                }
                return Ok(());
            }
            Err(cycle) => cycle,
        };
        let (from, target) = (cycle[0], cycle[1 % cycle.len()]);
        if !draft.nodes[from].is_declared() {
            // Records were told at different times. What is declared depends on none of them, so all of these go.
            edges.retain(|edge| *edge != (from, target));
            continue;
        }
        if bound.is_empty() {
            return Err(circular(draft, &cycle).into());
        }
        let following = cycle.iter().skip(1).chain(cycle.first());
        let openings = cycle.iter().zip(following).map(|(from, target)| {
            let is_bound = !inputs.contains(&(*from, *target));
            let recorded = draft.nodes[*target].object().is_some();
            ((stand_in(draft, *from, *target), recorded), is_bound, (*from, *target))
        });
        let openings = openings.filter(|((stand_in, _), ..)| *stand_in > StandIn::Nothing);
        let opening = openings.max_by_key(|(stand_in, is_bound, _)| (*is_bound, *stand_in));
        match opening {
            Some((.., (from, target))) => {
                edges.retain(|edge| *edge != (from, target));
                draft.loose.push((from, target));
            }
            None => return Err(unopenable(draft, &cycle).into()),
        }
    }
}

/// The bindings that are part of a cycle: what they attach depends, by some way, on what they attach it to.
fn closing(whole: &Graph<NodeIndex>, bound: &[Edge]) -> BTreeMap<NodeIndex, BTreeSet<NodeIndex>> {
    let mut found: BTreeMap<NodeIndex, BTreeSet<NodeIndex>> = BTreeMap::new();
    for &(from, target) in bound.iter().filter(|(from, target)| whole.reaches(*target, *from)) {
        found.entry(from).or_default().insert(target);
    }
    found
}

/// What a node of a cycle refers to while the real object is not there yet, the better the later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StandIn {
    Nothing,
    /// The object as it is recorded.
    Object,
    /// A stub that has to wait for others.
    LaterStub,
    Stub,
}

/// What one node of a cycle can refer to of another.
fn stand_in(draft: &Draft, from: NodeIndex, target: NodeIndex) -> StandIn {
    match stub_inputs(draft, target, &BTreeSet::new()).0 {
        StubInputs::Sufficient(_) => StandIn::Stub,
        StubInputs::Lacking(needed) if can_be_had(draft, from, target, &needed) => StandIn::LaterStub,
        _ if draft.nodes[target].object().is_some() => StandIn::Object,
        StubInputs::Impossible | StubInputs::Lacking(_) => StandIn::Nothing,
    }
}

/// Whether inputs of a node can be known before another one is made: they refer to nothing that waits for that one, unless
/// it has a stub or is recorded.
fn can_be_had(draft: &Draft, from: NodeIndex, target: NodeIndex, inputs: &[SmolStr]) -> bool {
    let (mut later, mut reached) = (BTreeSet::new(), vec![from]);
    while let Some(at) = reached.pop() {
        if later.insert(at) {
            reached.extend(draft.graph.dependents(at));
        }
    }
    let stubbed = |at: &NodeIndex| {
        let stub = stub_inputs(draft, *at, &BTreeSet::new()).0;
        matches!(stub, StubInputs::Sufficient(_)) || draft.nodes[*at].object().is_some()
    };
    later.retain(|at| !stubbed(at));
    let (_, usual) = stub_inputs(draft, target, &BTreeSet::new());
    let (_, traced) = stub_inputs(draft, target, &later);
    let is_marked = |inputs: &Value, name: &SmolStr| {
        inputs.as_entries().and_then(|all| all.get(name)).is_some_and(|it| it.all_marks().is_ephemeral())
    };
    inputs.iter().all(|name| is_marked(&usual, name) || !is_marked(&traced, name))
}

/// The stub that can be made of a node before anything else is, and its inputs. What those have of traced nodes is marked
/// as ephemeral: marks go through every expression, and nothing of this is kept.
fn stub_inputs(draft: &Draft, at: NodeIndex, traced: &BTreeSet<NodeIndex>) -> (StubInputs, Value) {
    let node = &draft.nodes[at];
    // Mistakes are told when inputs are prepared.
    let inputs = NodeInputs::of(node, &Traced { known: draft.known(), traced });
    let (Some(handler), Some(inputs)) = (node.handler(), inputs) else {
        return (StubInputs::Impossible, Value::NULL);
    };
    (handler.stub_inputs(&inputs.values), inputs.values.effective)
}

/// What is known, with a mark on what comes of some nodes.
struct Traced<'a> {
    known: NodeScope<'a>,
    traced: &'a BTreeSet<NodeIndex>,
}

impl Scope for Traced<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        let found = self.known.resolve(reference)?;
        let at = self.known.index.get(&reference.address)?;
        Some(if self.traced.contains(at) { found.with_marks(Mode::Ephemeral.marks()) } else { found })
    }

    fn answer(&self, call: &FunctionCall) -> Option<FunctionAnswer> {
        self.known.answer(call)
    }

    fn is_tracing(&self) -> bool {
        true
    }
}

/// What a node depends on, as its program or record says, sorted.
pub(super) fn dependencies(draft: &Draft, at: NodeIndex) -> Vec<Address> {
    let node = &draft.nodes[at];
    let mut found: Vec<Address> = match node.is_declared() {
        // All that is declared was found when nodes were connected.
        true => draft.upstream(at).map(|other| draft.nodes[other].address.clone()).collect(),
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
            // Where records go in circles, bindings give way.
            let recorded = node.record.iter().flat_map(|(record, _)| record.meta.firm_dependencies());
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

/// What the id of an object to adopt refers to.
fn import_dependencies(import: &ImportDeclaration) -> Vec<Address> {
    import.id.references().into_iter().map(|reference| reference.address.clone()).collect()
}

/// BIND-4
fn unopenable(draft: &Draft, cycle: &[NodeIndex]) -> Diagnostic {
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
fn circular(draft: &Draft, cycle: &[NodeIndex]) -> Diagnostic {
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
    let names = |nodes: Vec<NodeIndex>| {
        let mut names: Vec<String> = nodes.iter().map(|at| draft.nodes[*at].address.to_string()).collect();
        names.sort();
        names.join(", ")
    };
    lines(draft, |at, _| {
        let upstream: Vec<NodeIndex> = draft.graph.dependencies(at).collect();
        let later: Vec<NodeIndex> =
            draft.loose.iter().filter(|(from, _)| *from == at).map(|(_, target)| *target).collect();
        let mut said = Vec::new();
        said.extend((!upstream.is_empty()).then(|| format!("after {}", names(upstream))));
        said.extend((!later.is_empty()).then(|| format!("once more after {}", names(later))));
        (!said.is_empty()).then(|| said.join("; "))
    })
}
