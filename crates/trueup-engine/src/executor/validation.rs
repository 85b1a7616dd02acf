//! Judging inputs before anything that they replace is deleted.

use trueup_core::Failure;
use trueup_provider::{CallContext, CheckRequest, GenerationNumber, Slot};

use super::Run;
use crate::call::Call;
use crate::draft::Draft;
use crate::events::Operation;
use crate::index::NodeIndex;
use crate::plan::ReplaceOrder;

/// Judges the known inputs of all that is to be deleted first, before any of it is (REPLACE-2, CRUD-7).
pub(super) async fn validate_delete_first(run: &Run<'_>, draft: &Draft<'_>) -> Option<(NodeIndex, Failure)> {
    for (at, node) in draft.nodes.enumerate() {
        let replaced = node.decision.order == Some(ReplaceOrder::DeleteFirst) && draft.selection.contains(at);
        let (true, Some(handler), Some(config), Some(desired)) =
            (replaced, node.handler(), &node.config, &node.desired)
        else {
            continue;
        };
        if !desired.effective.is_wholly_known() {
            continue;
        }
        let context =
            run.calls.context(&node.address, &node.address, GenerationNumber::FIRST, Slot::FIRST, None);
        let call = Call::new(&node.address, &node.provider, Operation::Read, run.calls.policy_of(node));
        let check =
            async |context: &CallContext| handler.check(CheckRequest { config, desired, context }).await;
        if let Err(failure) = run.calls.retried(call, &context, check).await {
            return Some((at, failure));
        }
    }
    None
}
