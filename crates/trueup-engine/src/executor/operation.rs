//! One operation on an object: called again and again if need be, each answer durable.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use futures_util::future::{Either, select};
use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{
    ApplyFailure, ApplyRequest, GenerationNumber, InputValues, PrecreateRequest, PrivateBytes, Recovery,
    State,
};
use trueup_state::{Attempt, Step};

use super::apply::Applying;
use super::tasks::TaskError;
use crate::call::{Attempts, window_left, within};
use crate::events::Operation;
use crate::mutations::planted;
use crate::sighting::{Moment, Spot};

impl Applying<'_> {
    /// Calls the type, again and again if need be; what it answers, partial or not, is durable before anything else.
    #[expect(clippy::too_many_arguments, reason = "one call has that many sides")]
    pub(super) async fn call(
        &self,
        operation: Operation,
        number: GenerationNumber,
        attempt: &Attempt,
        prior: Option<&State>,
        desired: &InputValues,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<State, TaskError> {
        let call = self.calling(operation);
        let mut attempts = Attempts::new(call, &*self.run.calls.clock);
        let mut context = self.context(Some(attempt.token));
        context.pending.clone_from(&attempt.pending);
        let mut known = prior.cloned();
        let mut unsent = true;
        let began = self.resource.holders.moment();
        loop {
            let request = ApplyRequest {
                config: &self.config,
                desired,
                planned,
                private,
                prior: known.as_ref(),
                observed: self.resource.observed.as_ref().filter(|_| prior.is_some()),
                bindings: &attempt.bindings,
                context: &context,
            };
            let handler = &*self.resource.handler;
            let called = async {
                // Half a stub is finished as any half-made object is.
                match attempt.stub && known.is_none() {
                    true => {
                        let config = &self.config;
                        handler.precreate(PrecreateRequest { config, desired, context: &context }).await
                    }
                    false => handler.apply(request).await,
                }
            };
            let called = self.run.calls.attempt(call, called).await;
            let ApplyFailure { mut failure, partial } = match called {
                Ok(object) => {
                    self.hold(&object);
                    let holders = &self.resource.holders;
                    if operation == Operation::Create && holders.deletes_any(self.address.type_name()) {
                        // Finding out who deletes it takes provider calls: the answer is durable before.
                        self.writer.step(self.run, Step::Answered { number, object: object.clone() }).await?;
                        self.refuse_deleted(&object, began).await?;
                    }
                    return Ok(object);
                }
                Err(failed) => failed,
            };
            if let Some(partial) = partial.filter(|_| !planted!(ForgetPartial)) {
                self.writer.step(self.run, Step::Answered { number, object: (*partial).clone() }).await?;
                known = Some(*partial);
            }
            let (failed, failed_at) = (failure.clone(), self.run.calls.clock.now());
            // Nothing came of it only if none of its attempts was sent.
            unsent &= failed.unsent;
            failure.unsent = unsent;
            if let Some(pending) = self.run.calls.wait_for_next(call, &mut attempts, failure).await? {
                self.writer.step(self.run, Step::Pending { number, context: pending.clone() }).await?;
                context.pending = Some(pending);
            } else if operation == Operation::Create && known.is_none() && !failed.unsent {
                let by_token = self.resource.handler.recovery(&self.desired.effective) == Recovery::Token;
                self.unsure.fetch_or(by_token, Ordering::Relaxed);
                let looking = Box::pin(self.look_before_repeating(failed.clone(), failed_at));
                match select(pin!(self.run.calls.stopped()), looking).await {
                    // It may be there: what keeps the intent is the class.
                    Either::Left(_) => return Err(attempts.stopped(failed, &*self.run.calls.clock).into()),
                    Either::Right((looked, _)) => looked?,
                }
            }
        }
    }

    /// Refuses an answer with an object that this run deletes for another resource: the server had it when it was asked to
    /// create one, and now nobody knows which came first (DELETE-13).
    async fn refuse_deleted(&self, object: &State, began: Moment) -> Result<(), Failure> {
        planted!(TrustSharedAnswer => return Ok(()));
        let places = &self.run.places(&self.resource.handler, self.resource.meta.provider.clone());
        let spot = Spot { places, config: Some(&self.config), inputs: Some(&self.desired.effective) };
        match self.resource.holders.deleted_since(began, spot, &self.address, object).await {
            None => Ok(()),
            Some(other) => {
                let message = format!("the provider returned the object of {other}, which this run deletes");
                Err(Failure::new(FailureClass::Conflict, message)
                    .hint(format!("deploy again to create it; if {other} was renamed, say so with `moved`")))
            }
        }
    }

    /// Looks for the object of a create that is about to be repeated, if the type can (RETRY-7): whatever its class says,
    /// the failed attempt may have made it. Fails as *already-exists* if it did.
    pub(super) async fn look_before_repeating(
        &self,
        failed: Failure,
        failed_at: SystemTime,
    ) -> Result<(), Failure> {
        let looks = self.resource.handler.recovery(&self.desired.effective) == Recovery::Lookup;
        if !looks || planted!(RepeatUnseen) {
            return Ok(());
        }
        let window =
            || window_left(self.consistency_window(), Some(failed_at.into()), &*self.run.calls.clock);
        match within(&*self.run.calls.clock, window, || self.sighted(true), Option::is_some).await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => {
                self.unsure.store(true, Ordering::Relaxed);
                Err(Failure::new(FailureClass::AlreadyExists, "a failed attempt created it"))
            }
            // The class of the failed attempt keeps the intent: its object may be there.
            Err(refused) => {
                let message =
                    format!("{}; looking for its object failed: {}", failed.message, refused.message);
                Err(Failure { message, hints: refused.hints, ..failed })
            }
        }
    }
}
