//! What records would hold if they took over what is observed, and nothing else happened.

use trueup_core::Diagnostics;
use trueup_provider::{ResourceHandler, State};
use trueup_state::{Snapshot, Status, Step};

use super::{Sources, collect, configure, connect, decide, migrate, refresh, relocate, select};
use crate::draft::node::Sight;
use crate::hand::HandStep;

/// The steps by which records take over what is observed, in the order of addresses.
pub(crate) async fn observe(sources: &Sources<'_>, snapshot: Snapshot) -> Result<Vec<HandStep>, Diagnostics> {
    sources.with_open(observed(sources, snapshot)).await
}

async fn observed(sources: &Sources<'_>, mut snapshot: Snapshot) -> Result<Vec<HandStep>, Diagnostics> {
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    connect::connect(sources, &mut draft).await?;
    select::select(sources, &mut draft)?;
    configure::configure(sources, &mut draft).await?;
    migrate::migrate(sources, &mut draft).await?;
    decide::open_as_recorded(sources, &mut draft).await?;
    refresh::refresh(sources, &mut draft).await?;
    let mut steps = Vec::new();
    for node in &draft.nodes {
        let (Some(handler), Some((record, _))) = (node.handler(), &node.record) else { continue };
        let Some(current) = &record.current else { continue };
        let (Status::Ready, Some(recorded)) = (&current.status, &current.object) else { continue };
        let number = current.number;
        let mut of = |step| steps.push(HandStep { address: record.address.clone(), step, id: record.id });
        match &node.sight {
            Sight::Present(seen) if **seen != *recorded => {
                if let Some(object) = as_found(&**handler, recorded, seen) {
                    of(Step::Refreshed { number, object });
                }
            }
            // It is deleted already, just not by us.
            Sight::Gone => {
                of(Step::DeleteBegun { number });
                of(Step::Deleted { number });
            }
            Sight::Present(_)
            | Sight::AsRecorded
            | Sight::Unseen
            | Sight::Elsewhere { .. }
            | Sight::Unreadable => {}
        }
    }
    steps.sort_by(|left, right| left.address.cmp(&right.address));
    Ok(steps)
}

/// The object as it was found, with the inputs that it has now where its outputs mirror them, so that the next plan
/// compares it with the program. `None` for drift that no input stands for: taken over, it would pass for wanted.
fn as_found(handler: &dyn ResourceHandler, recorded: &State, seen: &State) -> Option<State> {
    if handler.drift(recorded, seen).is_empty() {
        return Some(seen.clone());
    }
    let mut inputs = recorded.inputs.clone()?;
    let mut mirrored = false;
    for (output, attribute) in &handler.schema().outputs.attributes {
        let (Some(input), Some(value)) = (&attribute.mirrors, seen.outputs.get(output)) else { continue };
        if inputs.effective.get(input).is_none_or(|before| !before.same(value)) {
            mirrored = true;
            inputs.effective = inputs.effective.with_entry(input, value.clone());
            inputs.written = inputs.written.with_entry(input, value.clone());
        }
    }
    mirrored.then(|| State { inputs: Some(inputs), ..seen.clone() })
}
