//! Data sources and ephemeral resources: read or opened now, if all that they need is known.

use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, Value};
use trueup_provider::{CallContext, DataRequest, InputValues};

use super::{decide_one, prepare, settle};
use crate::draft::node::Decision;
use crate::draft::{Draft, keep};
use crate::index::NodeIndex;
use crate::plan::{Action, Reason};
use crate::planner::Sources;
use crate::planner::configure::configure_late;
use crate::saved::{DataAnswer, QuestionKind};

/// A data source is read now if it can be (UNKNOWN-12).
pub(super) async fn decide_data(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: NodeIndex,
    handler: &dyn trueup_provider::DataHandler,
    inputs: &InputValues,
) -> Result<Decision, Failure> {
    let node = &draft.nodes[at];
    let context = sources.context(&node.address, None);
    match &node.config {
        Some(config) if is_settled(draft, at, inputs) => {
            let read = async {
                let read =
                    async |context: &CallContext| handler.read(DataRequest { config, inputs, context }).await;
                let outputs = sources.calls.retried(sources.call(node), &context, read).await?;
                Ok(DataAnswer { outputs })
            };
            let told =
                sources.observed(QuestionKind::Data, &node.address, &[&inputs.effective], read).await?;
            Ok(Decision { outputs: told.outputs, ..Decision::default() })
        }
        _ => Ok(read_later(handler.outputs())),
    }
}

/// An ephemeral resource is opened now if it can be. What it gives is no part of what a plan is saved with.
pub(super) async fn decide_ephemeral(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: NodeIndex,
    handler: &dyn trueup_provider::EphemeralHandler,
    inputs: &InputValues,
) -> Result<Decision, Failure> {
    let node = &draft.nodes[at];
    let context = sources.context(&node.address, None);
    match &node.config {
        Some(config) if is_settled(draft, at, inputs) => {
            let open =
                async |context: &CallContext| handler.open(DataRequest { config, inputs, context }).await;
            let opened = sources.calls.retried(sources.call(node), &context, open).await?;
            Ok(Decision { outputs: sources.ephemerals.hold(&node.address, opened), ..Decision::default() })
        }
        _ => Ok(read_later(handler.schema())),
    }
}

/// Whether all that a node reads by is known, and nothing that it depends on will change.
fn is_settled(draft: &Draft<'_>, at: NodeIndex, inputs: &InputValues) -> bool {
    let mut upstream = draft.upstream(at);
    inputs.effective.is_wholly_known()
        && upstream.all(|other| draft.nodes[other].decision.action == Action::NoOp)
}

fn read_later(outputs: &Block) -> Decision {
    let outputs = Value::unknown(outputs.implied_type());
    Decision { action: Action::Read, outputs, reasons: vec![Reason::OutputUnknown], ..Decision::default() }
}

/// Opens the ephemeral resources of a draft in which nothing is to change, so that providers which need them are ready.
pub(in crate::planner) async fn open_as_recorded(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
) -> Result<(), Diagnostics> {
    let ephemeral = |at: &NodeIndex| draft.nodes[*at].is_ephemeral() && draft.selection.contains(*at);
    let opened: Vec<NodeIndex> = draft.order.iter().copied().filter(ephemeral).collect();
    if opened.is_empty() {
        return Ok(());
    }
    draft.nodes.indices().for_each(|at| keep(draft, at));
    for at in opened {
        configure_late(sources, draft, &[at]).await?;
        let wrong = prepare(sources, draft, &[at]).await;
        if wrong.has_errors() {
            return Err(wrong);
        }
        let decision = decide_one(sources, draft, at).await.map_err(|wrong| Diagnostics::from(*wrong))?;
        settle(draft, at, decision);
    }
    let all: Vec<NodeIndex> = draft.nodes.indices().collect();
    configure_late(sources, draft, &all).await.map(drop)
}
