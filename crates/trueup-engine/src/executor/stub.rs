//! Stubs: objects made before their inputs are known, so that others of a cycle can refer to them (BIND-5).
//!
//! A stub is the beginning of a create: journalled, retried and recovered as any create is, and finished by the apply
//! that follows. One that may exist already is looked for by what is known of its inputs.

use trueup_core::{FailureClass, Value};
use trueup_provider::{GenerationNumber, PrivateBytes, Slot, State};
use trueup_state::{Attempt, Generation, Step};

use super::apply::{Applying, is_same};
use super::tasks::{TaskError, TaskResult};
use crate::draft::Attributes;
use crate::draft::node::Start;
use crate::events::{EventKind, Operation};
use crate::failures::outcome_unknown;
use crate::mutations::planted;
use crate::plan::Action;
use crate::sighting::can_look;

impl Applying<'_> {
    /// Makes the stub, unless its object is there already.
    pub(super) async fn stub(mut self) -> Result<TaskResult, TaskError> {
        self.find_place().await?;
        self.admit_start()?;
        // As far as its inputs are known; the apply that follows has them all.
        self.run.admit(&self.address, self.resource.decision.action, &self.desired.effective)?;
        let before = self.record();
        let existing = self.existing().await?;
        if existing.is_none() && is_same(before.as_ref(), self.record().as_ref()) {
            self.run.may_begin()?;
        }
        let is_known = self.current().is_some_and(|current| current.object.is_some());
        let stub = match existing {
            // What is there is to be replaced: the stub is of the next generation.
            _ if self.resource.decision.action == Action::Replace && is_known => {
                self.precreate(self.writer.next_number(), self.free_slot()).await?
            }
            Some(existing) => existing,
            None => {
                let (number, slot) = self.place();
                self.precreate(number, slot).await?
            }
        };
        let attributes = Attributes::new(self.desired.effective.clone(), stub.outputs);
        Ok(TaskResult { action: Action::Create, attributes: Some(attributes), bindings: Vec::new() })
    }

    /// The object that may be there already: what an interrupted create has made, or what was there before the state was
    /// lost.
    async fn existing(&self) -> Result<Option<State>, TaskError> {
        match &self.resource.decision.start {
            Start::RepeatCreate | Start::LookFirst if planted!(RemakeStub) => Ok(None),
            Start::RepeatCreate => self.repeat_create().await.map(Some),
            Start::LookFirst => self.look_by_what_is_known().await,
            Start::Record if self.absence_may_be_over() => self.look_by_what_is_known().await,
            // What was to be deleted is gone: that has a task of its own, where anything was known of it.
            Start::FinishDelete => self.finish_delete().await.map(|()| None),
            Start::Adopt(found) if !self.resource.is_deleted_first => {
                self.adopt((**found).clone()).await.map(Some)
            }
            Start::Record | Start::Recreate | Start::Adopt(_) => Ok(None),
        }
    }

    async fn look_by_what_is_known(&self) -> Result<Option<State>, TaskError> {
        if can_look(&*self.resource.handler, &self.desired) {
            return self.look().await;
        }
        match self.current().as_ref().is_some_and(Generation::is_interrupted) {
            true => Err(outcome_unknown(&self.address, self.resource.handler.traits()).into()),
            false => Ok(None),
        }
    }

    async fn precreate(&self, number: GenerationNumber, slot: Slot) -> Result<State, TaskError> {
        let attempt = Attempt { bindings: Vec::new(), stub: true, ..self.attempt() };
        let begun = Step::CreateBegun {
            address: self.address.clone(),
            origin: self.writer.origin(),
            meta: self.resource.meta.clone(),
            number,
            slot,
            attempt: attempt.clone(),
        };
        self.writer.step(self.run, begun).await?;
        self.run.emit(Some(&self.address), EventKind::started(Operation::Create, &self.desired.effective));
        let (planned, private) = (Value::NULL, PrivateBytes::default());
        let called =
            self.call(Operation::Create, number, &attempt, None, &self.desired, &planned, &private).await;
        let stub = match called {
            Ok(stub) => stub,
            Err(TaskError::Failed(failure)) if failure.class == FailureClass::AlreadyExists => {
                return self.adopt_in_place(number, slot, failure).await;
            }
            Err(TaskError::Failed(failure)) => return Err(self.failed_create(number, failure).await),
            Err(trouble) => return Err(trouble),
        };
        self.writer.step(self.run, Step::Answered { number, object: stub.clone() }).await?;
        let (operation, outputs) = (Operation::Create, stub.outputs.clone());
        self.run.emit(Some(&self.address), EventKind::Completed { operation, outputs });
        Ok(stub)
    }
}
