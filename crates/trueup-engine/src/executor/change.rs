//! Creating and updating an object, each step durable before and after the call.

use std::sync::atomic::Ordering;

use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{CallContext, CheckRequest, GenerationNumber, PrivateBytes, Recovery, Slot, State};
use trueup_state::{Attempt, Status, Step};

use super::apply::Applying;
#[cfg(feature = "mutations")]
use super::settle::revealed;
use super::tasks::TaskError;
use crate::draft::node::FoundObject;
use crate::events::{EventKind, Operation};
use crate::failures::to_be_repeated;
use crate::mutations::planted;

impl Applying<'_> {
    pub(super) async fn begin_and_create(
        &self,
        number: GenerationNumber,
        slot: Slot,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, TaskError> {
        self.check(number, slot).await?;
        let attempt = self.attempt();
        let step = Step::CreateBegun {
            address: self.address.clone(),
            origin: self.writer.origin(),
            meta: self.resource.meta.clone(),
            number,
            slot,
            attempt: attempt.clone(),
        };
        if !planted!(SkipCreateIntent) {
            self.writer.step(self.run, step).await?;
        }
        self.run.emit(Some(&self.address), EventKind::started(Operation::Create, &self.desired.effective));
        let called =
            self.call(Operation::Create, number, &attempt, None, &self.desired, planned, private).await;
        let object = match called {
            Ok(object) => object,
            Err(TaskError::Failed(failure)) if failure.class == FailureClass::AlreadyExists => {
                return Box::pin(self.adopt_existing(number, slot, failure, planned, private)).await;
            }
            Err(TaskError::Failed(failure)) => return Err(self.failed_create(number, failure).await),
            Err(trouble) => return Err(trouble),
        };
        let answered = object.clone();
        self.settle(Operation::Create, number, object, answered).await
    }

    pub(super) async fn update(
        &self,
        prior: Option<State>,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, TaskError> {
        let (Some(prior), Some(current)) = (prior, self.current()) else {
            return Err(Failure::new(FailureClass::Fatal, "there is nothing to update").into());
        };
        self.check(current.number, current.slot).await?;
        let (number, was_ready) = (current.number, current.status == Status::Ready);
        let attempt = self.attempt();
        let meta = self.resource.meta.clone();
        let begun = Step::UpdateBegun { meta, attempt: attempt.clone() };
        if !planted!(SkipUpdateIntent) {
            self.writer.step(self.run, begun).await?;
        }
        let changes =
            prior.inputs.as_ref().map(|inputs| self.resource.handler.input_changes(inputs, &self.desired));
        let (operation, inputs) = (Operation::Update, self.desired.effective.clone());
        let started = EventKind::Started { operation, changes: changes.unwrap_or_default(), inputs };
        self.run.emit(Some(&self.address), started);
        if planted!(UpdateNothing) && prior.inputs.is_none() {
            let object = State { inputs: Some(self.desired.without_ephemeral()), ..prior };
            return self.settle(Operation::Update, number, object.clone(), object).await;
        }
        let called = self
            .call(Operation::Update, number, &attempt, Some(&prior), &self.desired, planned, private)
            .await;
        let object = match called {
            Ok(object) => object,
            Err(TaskError::Failed(failure)) if failure.unsent && was_ready => {
                // The object is as it was.
                self.writer.step(self.run, Step::Abandoned { number }).await?;
                return Err(failure.into());
            }
            Err(trouble) => return Err(trouble),
        };
        // Until it is settled, the record keeps the inputs it started from (CRASH-3).
        let answered = State { inputs: prior.inputs, ..object.clone() };
        self.settle(Operation::Update, number, object, answered).await
    }

    /// A create that found its place taken: by an object of ours whose answer was lost, or by someone else's (RETRY-6).
    pub(super) async fn adopt_existing(
        &self,
        number: GenerationNumber,
        slot: Slot,
        failure: Failure,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, TaskError> {
        let adopted = self.adopt_in_place(number, slot, failure).await?;
        self.update(Some(adopted), planned, private).await
    }

    /// Adopts the object that is in the place of one that was to be created, if that may become ours.
    pub(super) async fn adopt_in_place(
        &self,
        number: GenerationNumber,
        slot: Slot,
        failure: Failure,
    ) -> Result<State, TaskError> {
        match self.sighted_in_time().await {
            Ok(Some(found)) => self.adopt(FoundObject { number, slot, older: Vec::new(), ..found }).await,
            Ok(None) => Err(self.failed_create(number, failure).await),
            // Whose it is, nobody could tell: it may be what this create made.
            Err(refused) if refused.class != FailureClass::AlreadyExists => Err(refused.into()),
            Err(refused) => Err(self.failed_create(number, refused).await),
        }
    }

    /// What becomes of the intent of a create that failed: it is kept as long as something may have come of it.
    pub(super) async fn failed_create(&self, number: GenerationNumber, failure: Failure) -> TaskError {
        let known = self.current().is_some_and(|current| current.object.is_some());
        let undecided = match failure.class {
            _ if failure.unsent => false,
            FailureClass::Indeterminate => !planted!(AbandonIndeterminate),
            FailureClass::Retryable | FailureClass::Throttled { .. } | FailureClass::Pending { .. } => {
                self.resource.handler.recovery(&self.desired.effective) != Recovery::Blind
            }
            _ => self.unsure.load(Ordering::Relaxed),
        };
        if undecided && !known && self.resource.handler.recovery(&self.desired.effective) == Recovery::Token {
            return to_be_repeated(&self.address, failure).into();
        }
        if known || undecided {
            return failure.into();
        }
        match self.writer.step(self.run, Step::Abandoned { number }).await {
            Ok(()) => failure.into(),
            Err(error) => error.into(),
        }
    }

    /// Judges the inputs of a generation before anything is touched (CRUD-7).
    pub(super) async fn check(&self, number: GenerationNumber, slot: Slot) -> Result<(), TaskError> {
        let context = self.context_of(number, slot, None);
        let check = async |context: &CallContext| {
            let request = CheckRequest { config: &self.config, desired: &self.desired, context };
            self.resource.handler.check(request).await
        };
        Ok(self.run.calls.retried(self.calling(Operation::Read), &context, check).await?)
    }

    pub(super) fn attempt(&self) -> Attempt {
        // What is of this run alone is sent, and not kept.
        #[cfg_attr(not(feature = "mutations"), expect(unused_mut, reason = "for a planted bug"))]
        let mut inputs = self.desired.without_ephemeral();
        planted!(RevealIntents => inputs.effective = revealed(&inputs.effective));
        Attempt {
            inputs,
            bindings: self.resource.bindings.clone(),
            token: self.run.fresh_token(),
            pending: None,
            stub: false,
        }
    }
}
