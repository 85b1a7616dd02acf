//! Ending what an earlier run began: the repeat of a create, the rest of a delete (CRASH-1, CRASH-6).

use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{PrivateBytes, State};
use trueup_state::{Attempt, Generation, Step};

use super::apply::Applying;
use super::delete::Removal;
use super::tasks::TaskError;
use crate::events::{EventKind, Operation};
use crate::failures::repeated;
use crate::mutations::planted;

impl Applying<'_> {
    /// Repeats the create whose outcome is unknown, as it was (CRASH-1).
    pub(super) async fn repeat_create(&self) -> Result<State, TaskError> {
        let Some((current, attempt)) =
            self.current().and_then(|it| it.attempt().cloned().map(|attempt| (it, attempt)))
        else {
            return Err(Failure::new(FailureClass::Fatal, "there is no create to repeat").into());
        };
        let planned = Value::NULL;
        let private = PrivateBytes::default();
        let token = if planted!(RepeatWithFreshToken) { self.run.fresh_token() } else { attempt.token };
        let attempt = Attempt { token, ..attempt };
        let operation = Operation::Create;
        self.run.emit(Some(&self.address), EventKind::started(operation, &attempt.inputs.effective));
        let object = self
            .call(operation, current.number, &attempt, None, &attempt.inputs, &planned, &private)
            .await
            .map_err(|trouble| match trouble {
                TaskError::Failed(failure) => repeated(&self.address, failure).into(),
                other @ (TaskError::Store(_) | TaskError::Stopped) => other,
            })?;
        self.writer.step(self.run, Step::Answered { number: current.number, object: object.clone() }).await?;
        let outputs = object.outputs.clone();
        self.run.emit(Some(&self.address), EventKind::Completed { operation, outputs });
        Ok(object)
    }

    /// Deletes what was to be deleted, or may have been made in another place.
    pub(super) async fn finish_delete(&self) -> Result<(), TaskError> {
        match self.current() {
            // What would be left in the cloud is left where it may be.
            Some(current) if current.is_interrupted() && self.resource.options.retain => {
                Ok(self.writer.step(self.run, Step::Dropped { number: current.number }).await?)
            }
            Some(current) => self.remove(&current).await,
            None => Ok(()),
        }
    }

    /// Deletes a generation.
    pub(super) async fn remove(&self, generation: &Generation) -> Result<(), TaskError> {
        let Applying { run, writer, address, config, resource, policy, .. } = self;
        let (handler, provider, policy) = (&resource.handler, resource.meta.provider.as_str(), *policy);
        let places = run.places(handler, writer.provider());
        if resource.holders.is_left_to_another(&places, Some(config), address, generation).await {
            return Ok(writer.step(run, Step::Dropped { number: generation.number }).await?);
        }
        let holders = &resource.holders;
        Removal { run, writer, address, provider, handler, config, generation, policy, holders }
            .remove()
            .await
    }
}
