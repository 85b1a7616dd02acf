//! Stubs: objects made before their inputs are known, so that others of a cycle can refer to them (BIND-5).

use std::sync::Arc;

use trueup_core::{Address, Failure, FailureClass};
use trueup_provider::{ApplyFailure, Configured, InputValues, PrecreateRequest, ResourceHandler};
use trueup_state::{Attempt, Generation, Metadata, Step};

use super::Run;
use super::prepare::metadata;
use super::schedule::{Finished, Trouble};
use super::step::Held;
use crate::events::{EventKind, Operation};
use crate::plan::Action;
use crate::planner::Draft;
use crate::planner::node::Attributes;
use crate::retry::Attempts;

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

/// Whether a call that failed may have had its effect.
fn may_have_happened(failure: &Failure) -> bool {
    let class = &failure.class;
    matches!(class, FailureClass::Indeterminate | FailureClass::Retryable)
        || matches!(class, FailureClass::Throttled { .. } | FailureClass::Pending { .. })
}

impl PreparedStub {
    /// Makes the stub, journalled as the beginning of the create that will finish it.
    pub(crate) async fn precreate(self, run: &Run<'_>, held: &Held) -> Result<Finished, Trouble> {
        let PreparedStub { address, handler, config, desired, meta } = self;
        held.work_by(&config);
        let unfinished = held.record().and_then(|record| record.current.clone());
        let unfinished = unfinished.filter(Generation::is_interrupted);
        let (number, slot) = match &unfinished {
            // A stub that may have been made is begun again as the same generation, under the same name.
            Some(current) => (current.number, current.slot),
            None => (held.next_number(), held.record().map_or(0, |record| record.free_slot())),
        };
        let token = run.fresh_token();
        let attempt = Attempt { inputs: desired.clone(), bindings: Vec::new(), token, pending: None };
        let origin = held.origin();
        let begun = Step::CreateBegun { address: address.clone(), origin, meta, number, slot, attempt };
        held.step(run, begun).await?;
        run.emit(Some(&address), EventKind::Started(Operation::Create));
        let context = run.context(&address, &held.origin(), number, slot, token);
        let request = PrecreateRequest { config: &config, desired: &desired, context: &context };
        let policy = run.policy(None);
        let timeout = policy.timeout(Operation::Create);
        let mut attempts = Attempts::new(policy.retry, timeout, &*run.clock, crate::planner::seed(&address));
        let stub = loop {
            let failed = match run.bounded(timeout, handler.precreate(request)).await {
                Ok(Some(stub)) => break stub,
                Ok(None) => {
                    let message = "the type made no stub though it says it can";
                    ApplyFailure { failure: Failure::new(FailureClass::Fatal, message), partial: None }
                }
                Err(failed) => failed,
            };
            // Half a stub is an object all the same: it is finished or deleted later (CRASH-2).
            if let Some(object) = failed.partial {
                held.step(run, Step::Answered { number, object: *object }).await?;
                return Err(failed.failure.into());
            }
            if let Err(failure) = run.again(&address, Operation::Create, &mut attempts, failed.failure).await
            {
                // As with any create, the intent is kept as long as something may have come of it.
                if !may_have_happened(&failure) {
                    held.step(run, Step::Abandoned { number }).await?;
                }
                return Err(failure.into());
            }
        };
        held.step(run, Step::Answered { number, object: stub.clone() }).await?;
        let attributes = Attributes::new(desired.effective, stub.outputs);
        Ok(Finished { action: Action::Create, attributes: Some(attributes), bindings: Vec::new() })
    }
}
