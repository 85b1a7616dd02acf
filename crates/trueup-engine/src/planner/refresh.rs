//! Looking at recorded objects, all at once, before anything is compared (DRIFT-1).

use futures_util::StreamExt;
use trueup_core::{Diagnostics, Failure};
use trueup_program::DriftPolicy;
use trueup_provider::{CallContext, Observed, ReadRequest};
use trueup_state::{Generation, Status};

use super::Sources;
use super::trace::lines;
use crate::call::{Call, contained, unseen_for, within};
use crate::draft::Draft;
use crate::draft::node::{Node, Sight};
use crate::failures::failed;
use crate::mutations::planted;
use crate::providers::{Elsewhere, Place, Places, out_of_reach};
use crate::saved::QuestionKind;

pub(super) async fn refresh(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    look(sources, draft, 0..draft.nodes.len()).await
}

/// Looks at some of the recorded objects, all at once.
pub(super) async fn look(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
    nodes: impl IntoIterator<Item = usize>,
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
            Ok(sight) if wants_reading(sources, draft, at) => draft.nodes[at].sight = sight,
            // Drift does not count: only its place was looked for.
            Ok(sight @ (Sight::Elsewhere { .. } | Sight::Unreadable)) => draft.nodes[at].sight = sight,
            Ok(_) => {}
            Err(failure) => diagnostics.push(failed(&draft.nodes[at].address, "read", &failure)),
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Whether a node has an object that can be looked at. What is being deleted or removed is not.
fn is_readable(draft: &Draft, at: usize) -> bool {
    let node = &draft.nodes[at];
    let there = current(node).is_some_and(|it| it.object.is_some() && it.status != Status::Deleting);
    node.is_declared() && there && node.config.is_some() && draft.selection.contains(at)
}

/// Whether drift of a node's object counts.
fn wants_reading(sources: &Sources<'_>, draft: &Draft, at: usize) -> bool {
    let declared = draft.nodes[at].declared();
    sources.options.drift && declared.is_some_and(|it| it.options.drift != DriftPolicy::Ignore)
}

/// Whether a node's object was made with another configuration of its provider: it must not be taken for what that of now
/// leads to, even if drift does not count.
fn may_be_elsewhere(draft: &Draft, at: usize) -> bool {
    let node = &draft.nodes[at];
    node.config.as_ref().zip(current(node)).is_some_and(|(config, it)| draft.recorded.may_differ(config, it))
}

fn current<'a>(node: &'a Node<'_>) -> Option<&'a Generation> {
    node.record.as_ref()?.0.current.as_ref()
}

async fn read(sources: &Sources<'_>, draft: &Draft<'_>, at: usize) -> Result<Sight, Failure> {
    let node = &draft.nodes[at];
    let record = node.record.as_ref().map(|(record, _)| &**record);
    let (Some(handler), Some(config), Some(current)) = (node.handler(), &node.config, current(node)) else {
        return Ok(Sight::Unseen);
    };
    let (Some(state), Some(inputs)) = (&current.object, current.inputs()) else { return Ok(Sight::Unseen) };
    let context = sources.context(&node.address, record);
    let (call, inputs_read) = (sources.call(node), &inputs.effective);
    let read = async |context: &CallContext| {
        handler.read(ReadRequest { config, inputs: inputs_read, state, context }).await
    };
    // What was written a moment ago may not be visible yet: its absence must outlast the window (DRIFT-10).
    let look = || sources.calls.retried(call, &context, &read);
    let window = || {
        let window = handler.consistency_window(&inputs.effective);
        unseen_for(window, &current.status, current.written_at, &*sources.calls.clock)
    };
    let is_seen = |observed: &Observed| *observed != Observed::Absent;
    let seen = async {
        let places = draft.places(&sources.calls, at);
        let elsewhere = match &places {
            Some(places) => places.elsewhere(config, current).await,
            None => None,
        };
        if let Some((places, elsewhere)) =
            places.as_ref().zip(elsewhere).filter(|(_, it)| it.place == Place::Apart)
        {
            // What the configuration in use finds is not it.
            let ready = places.recorded.ready(&sources.calls, &node.provider, elsewhere.number).await;
            ready.map_err(|failure| out_of_reach(failure, &node.provider, ""))?;
            return Ok(Sight::Elsewhere { apart: true });
        }
        let looked = within(&*sources.calls.clock, window, look, is_seen).await;
        planted!(TreatDeniedAsGone => if looked.as_ref().is_err_and(is_denied) { return Ok(Sight::Gone) });
        let looked = looked?;
        if let Some((places, elsewhere)) = places.as_ref().zip(elsewhere) {
            let is_another =
                matches!(&looked, Observed::Present(observed) if places.is_another(state, observed));
            if (is_another || looked == Observed::Absent)
                && is_there(places, elsewhere, sources, call, &context, current).await?
            {
                return Ok(Sight::Elsewhere { apart: false });
            }
            if is_another {
                return Ok(Sight::Gone);
            }
        }
        Ok(match looked {
            Observed::Present(observed) if *observed == *state => Sight::AsRecorded,
            Observed::Present(observed) => Sight::Present(observed),
            Observed::Absent => Sight::Gone,
            Observed::Unreadable => Sight::Unreadable,
        })
    };
    sources.observed(QuestionKind::Read, &node.address, &[&inputs.effective, &state.outputs], seen).await
}

/// Whether an object that is not found is where the provider's configuration led when it was made.
async fn is_there(
    places: &Places<'_>,
    elsewhere: Elsewhere,
    sources: &Sources<'_>,
    call: Call<'_>,
    context: &CallContext,
    current: &Generation,
) -> Result<bool, Failure> {
    let (Some(state), Some(inputs)) = (&current.object, current.inputs()) else { return Ok(false) };
    let look = async {
        let config = &places.recorded.ready(&sources.calls, &places.provider, elsewhere.number).await?;
        let read = async |context: &CallContext| {
            places.handler.read(ReadRequest { config, inputs: &inputs.effective, state, context }).await
        };
        sources.calls.retried(call, context, read).await
    };
    elsewhere.is_seen(look.await, &places.provider)
}

#[cfg(feature = "mutations")]
fn is_denied(failure: &Failure) -> bool {
    failure.class == trueup_core::FailureClass::Denied
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
