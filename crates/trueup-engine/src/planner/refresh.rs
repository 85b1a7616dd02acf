//! Looking at recorded objects, all at once, before anything is compared (DRIFT-1).

use futures_util::StreamExt;
use trueup_core::{Diagnostics, Failure};
use trueup_program::DriftPolicy;
use trueup_state::{Generation, Status};

use super::Sources;
use super::trace::lines;
use crate::call::contained;
use crate::draft::Draft;
use crate::draft::node::{Node, Sight};
use crate::failures::describe_failure;
use crate::index::NodeIndex;
use crate::saved::QuestionKind;
use crate::sighting::{Look, ObjectHolder};

pub(super) async fn refresh(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    look(sources, draft, draft.nodes.indices()).await
}

/// Looks at some of the recorded objects, all at once.
pub(super) async fn look(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
    nodes: impl IntoIterator<Item = NodeIndex>,
) -> Result<(), Diagnostics> {
    if sources.kind.is_destroy() {
        return Ok(());
    }
    let wanted = nodes.into_iter().filter(|at| {
        is_readable(draft, *at) && (wants_reading(sources, draft, *at) || may_be_elsewhere(draft, *at))
    });
    let (recorded, reads): (Vec<_>, Vec<_>) = wanted.partition(|at| draft.nodes[*at].is_in_records());
    for at in recorded {
        draft.nodes[at].sight = Sight::AsRecorded;
    }
    sources.looking.want(reads.len());
    let seen: &Draft = draft;
    let reads = futures_util::stream::iter(reads).map(|at| async move {
        let sight = contained(read(sources, seen, at)).await.unwrap_or_else(|panic| Err(panic.into()));
        sources.looking.done();
        (at, sight)
    });
    let mut found: Vec<_> = reads.buffer_unordered(sources.options.parallelism.max(1)).collect().await;
    // Whatever the order in which reads return, what is told is told in one order (PLAN-16).
    found.sort_by_key(|(at, _)| *at);
    let mut diagnostics = Diagnostics::new();
    for (at, sight) in found {
        match sight {
            Ok(sight) if wants_reading(sources, draft, at) => {
                if sight == Sight::Gone {
                    note_gone(draft, at);
                }
                draft.nodes[at].sight = sight;
            }
            // Drift does not count: only its place was looked for.
            Ok(sight @ (Sight::Elsewhere { .. } | Sight::Unreadable)) => draft.nodes[at].sight = sight,
            Ok(_) => {}
            Err(failure) => diagnostics.push(describe_failure(&draft.nodes[at].address, "read", &failure)),
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

fn note_gone(draft: &Draft<'_>, at: NodeIndex) {
    let node = &draft.nodes[at];
    if let Some(current) = current(node) {
        draft.holders.note_gone(ObjectHolder::recorded(&node.address, &node.provider, current));
    }
}

/// Whether a node has an object that can be looked at. What is being deleted or removed is not.
fn is_readable(draft: &Draft, at: NodeIndex) -> bool {
    let node = &draft.nodes[at];
    let there = current(node).is_some_and(|it| it.object.is_some() && it.status != Status::Deleting);
    node.is_declared() && there && node.config.is_some() && draft.selection.contains(at)
}

/// Whether drift of a node's object counts.
fn wants_reading(sources: &Sources<'_>, draft: &Draft, at: NodeIndex) -> bool {
    let declared = draft.nodes[at].declared();
    sources.options.drift && declared.is_some_and(|it| it.options.drift != DriftPolicy::Ignore)
}

/// Whether a node's object was made with another configuration of its provider: it must not be taken for what that of now
/// leads to, even if drift does not count.
fn may_be_elsewhere(draft: &Draft, at: NodeIndex) -> bool {
    let node = &draft.nodes[at];
    node.config.as_ref().zip(current(node)).is_some_and(|(config, it)| draft.recorded.may_differ(config, it))
}

fn current<'a>(node: &'a Node<'_>) -> Option<&'a Generation> {
    node.record.as_ref()?.0.current.as_ref()
}

async fn read(sources: &Sources<'_>, draft: &Draft<'_>, at: NodeIndex) -> Result<Sight, Failure> {
    let node = &draft.nodes[at];
    let record = node.record.as_ref().map(|(record, _)| &**record);
    let (Some(config), Some(current)) = (&node.config, current(node)) else {
        return Ok(Sight::Unseen);
    };
    let (Some(state), Some(inputs)) = (&current.object, current.inputs()) else { return Ok(Sight::Unseen) };
    let Some(places) = &draft.places(&sources.calls, at) else { return Ok(Sight::Unseen) };
    let context = &sources.context(&node.address, record);
    let seen = Look { places, config, generation: current, call: sources.call(node), context }.sight();
    sources.observed(QuestionKind::Read, &node.address, &[&inputs.effective, &state.outputs], seen).await
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |_, node| match (&node.sight, node.object()) {
        (Sight::Unseen, _) => None,
        (Sight::Gone, _) => Some("gone".to_owned()),
        (Sight::Elsewhere { .. }, _) => Some("where another configuration leads".to_owned()),
        (Sight::Unreadable, _) => Some("cannot be read".to_owned()),
        (Sight::AsRecorded, _) => Some("as recorded".to_owned()),
        (Sight::Present(seen), Some(recorded)) if seen.outputs == recorded.outputs => {
            Some("as recorded".to_owned())
        }
        (Sight::Present(_), _) => Some("not as recorded".to_owned()),
    })
}
