//! Data sources and ephemeral resources: read or opened now, if all that they need is known.

use std::collections::BTreeSet;

use trueup_core::schema::Block;
use trueup_core::{Address, Diagnostics, Failure, Value};
use trueup_program::{DataDeclaration, Deferral};
use trueup_provider::{CallContext, DataRequest, InputValues};

use super::{decide_one, prepare, settle};
use crate::call::read_or_warned;
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
    declared: &DataDeclaration,
    inputs: &InputValues,
) -> Result<Decision, Failure> {
    let node = &draft.nodes[at];
    let context = sources.context(&node.address, None);
    let is_settled = inputs.effective.is_wholly_known() && !is_deferred(draft, at, &declared.deferral);
    match &node.config {
        Some(config) if is_settled => {
            let read = async {
                let read =
                    async |context: &CallContext| handler.read(DataRequest { config, inputs, context }).await;
                let read = sources.calls.retried(sources.call(node), &context, read).await;
                let outputs = read_or_warned(read, declared.failure, handler.outputs(), &context)?;
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
    let unchanged = |other: NodeIndex| draft.nodes[other].decision.action == Action::NoOp;
    let is_settled = inputs.effective.is_wholly_known() && draft.upstream(at).all(unchanged);
    match &node.config {
        Some(config) if is_settled => {
            let open =
                async |context: &CallContext| handler.open(DataRequest { config, inputs, context }).await;
            let opened = sources.calls.retried(sources.call(node), &context, open).await?;
            Ok(Decision { outputs: sources.ephemerals.hold(&node.address, opened), ..Decision::default() })
        }
        _ => Ok(read_later(handler.schema())),
    }
}

/// Whether this plan changes a resource that a data source waits for.
fn is_deferred(draft: &Draft, at: NodeIndex, deferral: &Deferral) -> bool {
    let known = |address: &Address| draft.index.get(address).copied();
    if deferral.resources.iter().filter_map(known).any(|other| is_changed(draft, other)) {
        return true;
    }
    let mut reached: Vec<NodeIndex> = deferral.with_upstream.iter().filter_map(known).collect();
    let mut seen = BTreeSet::new();
    while let Some(other) = reached.pop() {
        if seen.insert(other) {
            if other != at && is_changed(draft, other) {
                return true;
            }
            reached.extend(draft.upstream(other));
        }
    }
    false
}

/// Whether this plan changes an object of a resource, or another instance of it goes. An adoption alone is no change, nor
/// is a read.
fn is_changed(draft: &Draft, at: NodeIndex) -> bool {
    let node = &draft.nodes[at];
    let instance_goes = || {
        let leaving = draft.leaving.get(&node.address.with_key(None));
        leaving.into_iter().flatten().any(|other| draft.selection.contains(*other))
    };
    let is_changed = node.decision.action != Action::NoOp && !node.only_adopts();
    node.handler().is_some() && (is_changed || !draft.leaving.is_empty() && instance_goes())
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
