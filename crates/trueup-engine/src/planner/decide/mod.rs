//! What to do with each declared node, in the order of dependencies: evaluate its inputs, look for what may exist
//! already, and ask its type.
//!
//! `data` decides on data sources and ephemeral resources, `resource` on resources. A resource may be adopted by its id
//! (`import`) or because it was found (`search`), an earlier run may have left it unfinished (`recovery`), or its provider
//! may lead elsewhere by now (`moving`). `drifted_inputs` shows what drifted.

mod data;
mod drifted_inputs;
mod import;
mod moving;
mod recovery;
mod resource;
mod search;

use futures_util::StreamExt;
use trueup_core::{Diagnostic, Diagnostics, Value};

pub(super) use self::data::open_as_recorded;
use self::data::{decide_data, decide_ephemeral};
use self::resource::Case;
use super::configure::{configure_late, forget_outdated};
use super::trace::lines;
use super::{Sources, refresh};
use crate::call::contained;
use crate::draft::node::{Decision, NodeKind};
use crate::draft::{Attributes, Draft, keep};
use crate::failures::{describe_failure, located};
use crate::index::NodeIndex;
use crate::inputs::NodeInputs;

pub(super) async fn decide(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    // Where a cycle was opened, what is recorded stands in until more is known.
    for (_, target) in draft.loose.clone() {
        keep(draft, target);
    }
    // One round settles everything but cycles; there each round knows what the one before decided (BIND-7).
    for _ in 0..=draft.loose.len() {
        let before: Vec<_> =
            draft.loose.iter().map(|(_, target)| draft.attributes[*target].clone()).collect();
        decide_all(sources, draft).await?;
        let after: Vec<_> = draft.loose.iter().map(|(_, target)| draft.attributes[*target].clone()).collect();
        if before == after {
            break;
        }
        forget_outdated(sources, draft).await?;
    }
    Ok(())
}

async fn decide_all(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for level in draft.graph.levels(&draft.order) {
        let (declared, left_out): (Vec<NodeIndex>, Vec<NodeIndex>) = level
            .into_iter()
            .filter(|at| draft.nodes[*at].is_declared())
            .partition(|at| draft.selection.contains(*at));
        for at in left_out {
            keep(draft, at);
        }
        match configure_late(sources, draft, &declared).await {
            Ok(late) => {
                if let Err(wrong) = refresh::look(sources, draft, late).await {
                    diagnostics.extend(wrong);
                }
            }
            Err(wrong) => diagnostics.extend(wrong),
        }
        diagnostics.extend(prepare(sources, draft, &declared).await);
        if diagnostics.has_errors() {
            // Later levels would only repeat what is wrong here.
            continue;
        }
        let seen: &Draft = draft;
        let decisions = futures_util::stream::iter(declared)
            .map(|at| async move { (at, decide_one(sources, seen, at).await) })
            .buffer_unordered(sources.options.parallelism.max(1));
        let mut decided: Vec<_> = decisions.collect().await;
        decided.sort_by_key(|(at, _)| *at);
        for (at, decision) in decided {
            match decision {
                Ok(decision) => {
                    settle(draft, at, decision);
                    let judge = || draft.postconditions(at);
                    diagnostics.extend(sources.calls.answered(&draft.answers, judge).await);
                }
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Evaluates and checks the inputs of some nodes that do not depend on each other.
pub(super) async fn prepare(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
    nodes: &[NodeIndex],
) -> Diagnostics {
    let answers = draft.answers.clone();
    let mut prepare_all = || {
        let mut diagnostics = Diagnostics::new();
        for at in nodes {
            diagnostics.extend(prepare_one(draft, *at));
        }
        diagnostics
    };
    sources.calls.answered(&answers, &mut prepare_all).await
}

fn prepare_one(draft: &mut Draft, at: NodeIndex) -> Diagnostics {
    let Some(inputs) = NodeInputs::of(&draft.nodes[at], &draft.known()) else { return Diagnostics::new() };
    let node = &mut draft.nodes[at];
    node.desired = inputs.is_evaluated.then_some(inputs.values);
    node.bindings = inputs.bindings;
    inputs.diagnostics
}

/// Records a decision and what dependents may know of it.
fn settle(draft: &mut Draft, at: NodeIndex, decision: Decision) {
    let node = &mut draft.nodes[at];
    let recorded = node.object().and_then(|object| object.inputs.clone());
    if recorded.is_some() && recorded == node.desired {
        // What is as it was shares its storage with the record.
        node.desired = recorded;
    }
    let inputs = node.desired.as_ref().map_or(Value::NULL, |desired| desired.effective.clone());
    draft.attributes[at] = Some(Attributes::new(inputs, decision.outputs.clone()));
    node.decision = decision;
}

async fn decide_one(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: NodeIndex,
) -> Result<Decision, Box<Diagnostic>> {
    let node = &draft.nodes[at];
    let Some(desired) = &node.desired else { return Ok(Decision::default()) };
    // Boxed: it has room for everything that a decision may have to ask.
    let deciding = Box::pin(async {
        match &node.kind {
            NodeKind::Data { handler, declared } => {
                decide_data(sources, draft, at, &**handler, declared, desired).await
            }
            NodeKind::Ephemeral { handler, .. } => {
                decide_ephemeral(sources, draft, at, &**handler, desired).await
            }
            NodeKind::Resource { handler, .. } => {
                let case = Case { sources, draft, at, handler: &**handler, desired };
                case.decide().await
            }
        }
    });
    let decided = contained(deciding).await.unwrap_or_else(|panic| Err(panic.into()));
    decided.map_err(|failure| {
        let failed = describe_failure(&node.address, "plan", &failure);
        Box::new(located(failed, &desired.written))
    })
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |at, node| {
        let Decision { action, reasons, .. } = &node.decision;
        let decided = node.is_declared() && draft.selection.contains(at);
        decided.then(|| match reasons.as_slice() {
            [] => action.name().to_owned(),
            reasons => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                format!("{}, because: {}", action.name(), reasons.join(", "))
            }
        })
    })
}
