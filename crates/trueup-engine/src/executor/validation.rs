//! Judging inputs before anything that they replace is deleted.

use trueup_core::Failure;
use trueup_provider::{CallContext, CheckRequest, GenerationNumber, Slot};

use super::Run;
use super::delete::left_for_clean_up;
use crate::call::Call;
use crate::draft::Draft;
use crate::draft::node::Start;
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
        let (number, slot) = next_place(draft, at);
        let context = run.calls.context(&node.address, &draft.origin(at), number, slot, None);
        let call = Call::new(&node.address, &node.provider, Operation::Read, run.calls.policy_of(node));
        let check =
            async |context: &CallContext| handler.check(CheckRequest { config, desired, context }).await;
        if let Err(failure) = run.calls.retried(call, &context, check).await {
            return Some((at, failure));
        }
    }
    None
}

/// The number and slot of the generation that is created when all that goes first is deleted.
fn next_place(draft: &Draft<'_>, at: NodeIndex) -> (GenerationNumber, Slot) {
    let node = &draft.nodes[at];
    let Some((record, _)) = &node.record else {
        // What was found and is replaced is a generation of its own until then.
        let number = match &node.decision.start {
            Start::Adopt(found) => found.number.next(),
            _ => GenerationNumber::FIRST,
        };
        return (number, Slot::FIRST);
    };
    let number = record.next_number();
    if node.declared().is_some_and(|declared| declared.options.retain) {
        // What stays where it is keeps its name.
        return (number, record.free_slot());
    }
    let stays = left_for_clean_up(draft, at);
    let mut rest = (**record).clone();
    rest.current.take_if(|current| !stays.contains(&current.number));
    rest.deposed.retain(|generation| stays.contains(&generation.number));
    (number, rest.free_slot())
}
