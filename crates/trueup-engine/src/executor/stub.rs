//! Stubs: objects made before their inputs are known, so that others of a cycle can refer to them (BIND-5).

use std::sync::Arc;

use trueup_core::{Address, Failure, FailureClass};
use trueup_provider::{ApplyFailure, Configured, InputValues, PrecreateRequest, ResourceHandler};
use trueup_state::{Attempt, Metadata, Step};

use super::Run;
use super::prepare::metadata;
use super::schedule::{Finished, Trouble};
use super::step::Held;
use crate::events::{EventKind, Operation};
use crate::plan::Action;
use crate::planner::Draft;
use crate::planner::node::Attributes;

/// A resource of which a stub is to be made.
pub(crate) struct PreparedStub {
    address: Address,
    handler: Arc<dyn ResourceHandler>,
    config: Configured,
    desired: InputValues,
    meta: Metadata,
}

/// Gathers what a stub needs: inputs as far as they are known.
pub(crate) fn prepare_stub(draft: &Draft, at: usize) -> Result<PreparedStub, Trouble> {
    let node = &draft.nodes[at];
    match (node.handler(), &node.config, &node.desired) {
        (Some(handler), Some(config), Some(desired)) => Ok(PreparedStub {
            address: node.address.clone(),
            handler: handler.clone(),
            config: config.clone(),
            desired: desired.clone(),
            meta: metadata(draft, at),
        }),
        _ => {
            Err(Failure::new(FailureClass::Invalid, "no stub can be made before its provider is configured")
                .into())
        }
    }
}

impl PreparedStub {
    /// Makes the stub, journalled as the beginning of the create that will finish it.
    pub(crate) async fn precreate(self, run: &Run<'_>, held: &Held) -> Result<Finished, Trouble> {
        let PreparedStub { address, handler, config, desired, meta } = self;
        let number = held.next_number();
        let slot = held.record().map_or(0, |record| record.free_slot());
        let token = run.fresh_token();
        let attempt = Attempt { inputs: desired.clone(), bindings: Vec::new(), token, pending: None };
        let origin = held.origin().clone();
        let begun = Step::CreateBegun { address: address.clone(), origin, meta, number, slot, attempt };
        held.step(run, begun).await?;
        run.emit(Some(&address), EventKind::Started(Operation::Create));
        let context = run.context(&address, held.origin(), number, slot, token);
        let request = PrecreateRequest { config: &config, desired: &desired, context: &context };
        let timeout = run.policy(None).timeout(Operation::Create);
        let made = run.bounded(timeout, handler.precreate(request)).await;
        let stub = match made {
            Ok(Some(stub)) => stub,
            Ok(None) => {
                return Err(
                    Failure::new(FailureClass::Fatal, "the type made no stub though it says it can").into()
                );
            }
            Err(ApplyFailure { failure, partial }) => {
                // Half a stub is an object all the same: it is finished or deleted later (CRASH-2).
                if let Some(object) = partial {
                    held.step(run, Step::Answered { number, object: *object }).await?;
                }
                return Err(failure.into());
            }
        };
        held.step(run, Step::Answered { number, object: stub.clone() }).await?;
        let attributes = Attributes::new(desired.effective, stub.outputs);
        Ok(Finished { action: Action::Create, attributes: Some(attributes), bindings: Vec::new() })
    }
}
