//! The end of an operation: its answer is made durable and the object read back (APPLY-8).

use trueup_core::{Diagnostic, Failure, FailureClass, Value};
use trueup_provider::{CallContext, GenerationNumber, Observed, ReadRequest, State};
use trueup_state::Step;

use super::apply::Applying;
use super::tasks::TaskError;
use crate::call::within;
use crate::events::{EventKind, Operation};
use crate::mutations::planted;

impl Applying<'_> {
    /// Makes the answer durable, reads the object back, and ends the operation (APPLY-8).
    pub(super) async fn settle(
        &self,
        operation: Operation,
        number: GenerationNumber,
        object: State,
        answered: State,
    ) -> Result<Value, TaskError> {
        let mut settled = object.clone();
        let traits = self.resource.handler.traits();
        if traits.read_back && !traits.in_records {
            self.writer.step(self.run, Step::Answered { number, object: answered }).await?;
            if let Some(seen) = self.read_back(&object).await {
                settled = State { inputs: object.inputs.clone(), ..seen };
            }
        }
        planted!(RevealAnswers => settled.outputs = revealed(&settled.outputs));
        let outputs = settled.outputs.clone();
        if settled.identity != object.identity {
            self.hold(&settled);
        }
        self.writer.step(self.run, Step::Settled { number, object: settled }).await?;
        self.run.emit(Some(&self.address), EventKind::Completed { operation, outputs: outputs.clone() });
        Ok(outputs)
    }

    /// The object as it reads now; `None` if that cannot be had, and then the answer stands. Within the type's consistency
    /// window an object may read as it was before; past it, what differs from the answer was changed since, and is drift.
    /// Where reading fails, the window passes all the same: the next run trusts that it did.
    pub(super) async fn read_back(&self, object: &State) -> Option<State> {
        let context = self.context(None);
        let handler = &self.resource.handler;
        let absent = || Failure::new(FailureClass::Retryable, "it is not found yet");
        let read = async |context: &CallContext| {
            let (config, inputs) = (&self.config, &self.desired.effective);
            match handler.read(ReadRequest { config, inputs, state: object, context }).await? {
                Observed::Absent => Err(absent()),
                seen => Ok(seen),
            }
        };
        let read = || self.run.calls.retried(self.calling(Operation::Read), &context, &read);
        let (window, began) = (self.consistency_window(), self.run.calls.clock.now());
        let is_current = |seen: &Observed| match seen {
            Observed::Present(seen) => window.is_zero() || self.mirrors_agree(object, seen),
            Observed::Absent | Observed::Unreadable => true,
        };
        match within(&*self.run.calls.clock, || window, read, is_current).await {
            Ok(Observed::Present(seen)) if is_current(&Observed::Present(seen.clone())) => Some(*seen),
            Ok(Observed::Present(_)) => {
                self.warn_of_read_back(&format!("it still reads as before, {} s later", window.as_secs()));
                None
            }
            Ok(Observed::Absent | Observed::Unreadable) => None,
            Err(failure) => {
                self.warn_of_read_back(&failure.message);
                let passed = self.run.calls.clock.now().duration_since(began).unwrap_or_default();
                self.run.calls.clock.sleep(window.saturating_sub(passed)).await;
                None
            }
        }
    }

    fn warn_of_read_back(&self, why: &str) {
        let summary = format!("{} could not be read back: {why}", self.address);
        let warning =
            Diagnostic::warning(summary).hint("the provider's answer is recorded; the next plan reads it");
        self.run.calls.warnings.add(&self.address, warning);
    }

    /// Whether outputs that mirror inputs are read as they were answered.
    pub(super) fn mirrors_agree(&self, answered: &State, seen: &State) -> bool {
        let outputs = &self.resource.handler.schema().outputs.attributes;
        let mirrors = |name: &str| outputs.get(name).is_some_and(|attribute| attribute.mirrors.is_some());
        let changes = self.resource.handler.drift(answered, seen);
        !changes.iter().any(|change| change.path.first_key().is_some_and(mirrors))
    }
}

/// Fields without their marks, for a planted bug.
#[cfg(feature = "mutations")]
pub(super) fn revealed(fields: &Value) -> Value {
    let entries = fields.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
    Value::object(entries.map(|(name, value)| (name.clone(), value.clone().reveal())))
}
