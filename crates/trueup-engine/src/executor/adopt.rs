//! Finding an object that may exist already, and taking it into state.

use std::time::Duration;

use trueup_core::{Address, Failure, FailureClass};
use trueup_provider::{CallContext, State};
use trueup_state::Generation;

use super::apply::Applying;
use super::tasks::TaskError;
use crate::call::within;
use crate::draft::node::{FoundObject, Start};
use crate::events::{EventKind, Operation};
use crate::mutations::planted;
use crate::plan::Action;
use crate::sighting::{ObjectHolder, Search};

impl Applying<'_> {
    /// Takes an object that was found into state (ADOPT-2).
    pub(super) async fn adopt(&self, found: FoundObject) -> Result<State, TaskError> {
        self.hold(&found.state);
        let meta = self.resource.meta.clone();
        let steps = found.adopted(&self.address, &meta, self.run.fresh_token());
        self.writer.steps(self.run, steps).await?;
        self.run.emit(Some(&self.address), EventKind::Adopted { outputs: found.state.outputs.clone() });
        Ok(found.state)
    }

    /// Notes that this resource holds an object, so that no other takes it.
    pub(super) fn hold(&self, object: &State) {
        let holder = ObjectHolder {
            address: self.address.clone(),
            provider: self.resource.meta.provider.clone(),
            configuration: self.writer.configuration(self.run),
            inputs: Some(self.desired.effective.clone()),
        };
        let tells_place = self.resource.handler.traits().tells_place;
        self.resource.holders.note(holder, object, tells_place);
    }

    /// Whether what was absent when the plan looked may be there by now: others had time, for as long as this run waited
    /// for approval, for the lease, or in a file (ADOPT-9).
    pub(super) fn absence_may_be_over(&self) -> bool {
        let planned_new = self.resource.decision.action == Action::Create;
        planned_new && self.run.waited && self.record().is_none() && !planted!(TrustOldAbsence)
    }

    /// Looks for an object that may exist already, now that the inputs are known (ADOPT-6), or now that nobody else can
    /// make it (CRASH-1, ADOPT-9).
    pub(super) async fn look(&self) -> Result<Option<State>, TaskError> {
        let interrupted = self.current().as_ref().is_some_and(Generation::is_interrupted);
        let window = || self.unseen_for();
        let look = || self.sighted(interrupted);
        let Some(found) = within(&*self.run.calls.clock, window, look, Option::is_some).await? else {
            return Ok(None);
        };
        if self.run.bound && self.resource.decision.start == Start::Record {
            let message = "its object exists now, and did not when the plan was made";
            return Err(Failure::new(FailureClass::Conflict, message).hint("plan again").into());
        }
        self.writer.keep_unplanned(found.older.iter().map(|(_, number, _)| *number));
        self.adopt(found).await.map(Some)
    }

    /// The object of this identity, if there is one that may become ours.
    pub(super) async fn sighted(&self, interrupted: bool) -> Result<Option<FoundObject>, Failure> {
        let current = self.current();
        // What an interrupted create was for is found by the inputs that it had.
        let attempted = current.as_ref().filter(|_| interrupted).and_then(Generation::inputs);
        let attempted = attempted.filter(|inputs| inputs.effective.is_wholly_known());
        let token = current.as_ref().and_then(|current| Some(current.attempt()?.token));
        let record = self.record();
        let places = self.run.places(&self.resource.handler, self.resource.meta.provider.clone());
        let search = Search {
            address: &self.address,
            handler: &*self.resource.handler,
            config: &self.config,
            sought: attempted.unwrap_or(&self.desired),
            record: record.as_deref(),
            interrupted,
            adopting: self.resource.adopting,
            places: &places,
            holders: &self.resource.holders,
        };
        let lookup = async |context: &CallContext| {
            let lookup =
                async |context: &CallContext| self.resource.handler.lookup(search.request(context)).await;
            self.run.calls.retried(self.calling(Operation::Read), context, lookup).await
        };
        let mut origins = vec![self.writer.origin()];
        origins.extend(self.resource.origins.iter().filter(|_| record.is_none()).cloned());
        let look = async |origin: Address| {
            let mut context = self.context(token);
            context.owner.origin = origin.clone();
            let found = search.sightings(&context, &lookup).await?;
            search.choose(found, origin, context.generation).await
        };
        Search::among(origins, look).await
    }

    /// The same of an object that must be there and may not be visible yet.
    pub(super) async fn sighted_in_time(&self) -> Result<Option<FoundObject>, Failure> {
        within(&*self.run.calls.clock, || self.consistency_window(), || self.sighted(false), Option::is_some)
            .await
    }

    /// How long the object of an interrupted create may still be out of sight; no time if none was interrupted.
    pub(super) fn unseen_for(&self) -> Duration {
        let interrupted = self.current().as_ref().is_some_and(Generation::is_interrupted);
        if interrupted { self.consistency_window() } else { Duration::ZERO }
    }

    /// How long what was just written may stay out of sight.
    pub(super) fn consistency_window(&self) -> Duration {
        self.resource.handler.consistency_window(&self.desired.effective)
    }
}
