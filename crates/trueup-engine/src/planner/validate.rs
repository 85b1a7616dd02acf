//! Judging a program by itself: types, references, inputs. No provider is configured, nothing is looked at, and what
//! only a provider can tell is unknown.

use trueup_core::{Diagnostics, Value};
use trueup_state::Snapshot;

use super::node::{Attributes, NodeKind};
use super::{Sources, collect, connect, decide, relocate};

/// All that is wrong with a program and can be told without state and without calls.
pub(crate) async fn validate(sources: &Sources<'_>) -> Result<(), Diagnostics> {
    let mut snapshot = Snapshot::default();
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    connect::connect(sources, &mut draft)?;
    let mut diagnostics = Diagnostics::new();
    for at in draft.order.clone() {
        diagnostics.extend(decide::prepare(&mut draft, at));
        let node = &draft.nodes[at];
        let outputs = match &node.kind {
            NodeKind::Resource { handler, .. } => handler.schema().outputs.implied_type(),
            NodeKind::Data { handler, .. } => handler.outputs().implied_type(),
        };
        let inputs = node.desired.as_ref().map_or(Value::NULL, |desired| desired.effective.clone());
        draft.attributes[at] = Some(Attributes::new(inputs, Value::unknown(outputs)));
    }
    let scope = draft.known();
    for output in &sources.program.outputs {
        diagnostics.extend(output.value.evaluate(&scope).diagnostics);
    }
    for provider in &sources.program.providers {
        diagnostics.extend(provider.config.evaluate(&scope).diagnostics);
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}
