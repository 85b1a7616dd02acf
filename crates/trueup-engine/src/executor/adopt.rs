//! Finding an object that may exist already, and taking it into state.

use std::time::Duration;

use trueup_core::{Address, Failure, FailureClass};
use trueup_provider::{CallContext, IdempotencyToken, InputValues, LookupRequest, Ownership, State};
use trueup_state::{Generation, Record};

use super::apply::Applying;
use super::tasks::TaskError;
use crate::call::within;
use crate::draft::node::{FoundObject, Start};
use crate::events::{EventKind, Operation};
use crate::mutations::planted;
use crate::plan::Action;
use crate::sighting::{Chosen, ObjectHolder, SlotSightings, Spot, chosen, may_be, sole};

impl Applying<'_> {
    /// Takes an object that was found into state (ADOPT-2).
    pub(super) async fn adopt(&self, found: FoundObject) -> Result<State, TaskError> {
        self.hold(&found.state);
        let meta = self.resource.meta.clone();
        let steps = found.adopted(&self.address, &meta, self.run.fresh_token());
        self.writer.steps(self.run, steps).await?;
        self.run.emit(Some(&self.address), EventKind::Adopted);
        Ok(found.state)
    }

    /// Notes that this resource holds an object, so that no other takes it.
    pub(super) fn hold(&self, object: &State) {
        let holder = ObjectHolder {
            address: self.address.clone(),
            provider: self.writer.provider(),
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
        let mut origins = vec![self.writer.origin()];
        origins.extend(self.resource.origins.iter().filter(|_| self.record().is_none()).cloned());
        let (mut refused, mut foreign) = (None, None);
        for origin in origins {
            match self.sighted_as(interrupted, origin).await {
                Ok(None) => {}
                // Its own object, under another address that it had, comes before somebody else's under this one.
                Ok(Some(found)) if found.foreign => {
                    foreign.get_or_insert(found);
                }
                // What is not its own under one address may be under another that it had.
                Err(failure) if failure.class == FailureClass::AlreadyExists => {
                    refused.get_or_insert(failure);
                }
                sighted => return sighted,
            }
        }
        match (foreign, refused) {
            (None, Some(failure)) => Err(failure),
            (foreign, _) => Ok(foreign),
        }
    }

    /// The same under the names that follow from one address.
    pub(super) async fn sighted_as(
        &self,
        interrupted: bool,
        origin: Address,
    ) -> Result<Option<FoundObject>, Failure> {
        let attempted = self.current().and_then(|current| Some(current.attempt()?.token));
        let mut context = self.context(attempted.unwrap_or(IdempotencyToken::from_bytes([0; 16])));
        context.owner.origin = origin.clone();
        let is_recorded = self.record().is_some();
        // What an interrupted create was for is found by the inputs that it had.
        let attempted = self.current().filter(|_| interrupted).and_then(|current| current.inputs().cloned());
        let attempted = attempted.filter(|inputs| inputs.effective.is_wholly_known());
        let sought = attempted.unwrap_or_else(|| self.desired.clone());
        let mut sightings = SlotSightings::new(&*self.resource.handler, &sought, is_recorded, context.slot);
        while let Some(slot) = sightings.next_slot() {
            let context = CallContext { slot, ..context.clone() };
            let lookup = async |context: &CallContext| {
                let request = LookupRequest { config: &self.config, desired: &sought, interrupted, context };
                self.resource.handler.lookup(request).await
            };
            let found = self.run.calls.retried(self.calling(Operation::Read), &context, lookup).await?;
            sightings.note(slot, found);
        }
        let mut found = sightings.settled(interrupted, &self.address, self.resource.handler.traits())?;
        let record = self.record();
        found.retain(|(sighting, _)| may_be(sighting, record.as_deref()));
        let seen = sole(&found);
        let chosen = match chosen(found, self.resource.adopt, &self.address.to_string()) {
            Err(failure) => {
                if let Some(seen) = seen {
                    self.refuse_held(&seen, &sought, record.as_deref()).await?;
                }
                return Err(failure);
            }
            Ok(chosen) => chosen,
        };
        let Some(Chosen { sighting, slot, older }) = chosen else { return Ok(None) };
        self.refuse_held(&sighting.state, &sought, record.as_deref()).await?;
        let number = sighting.ownership.generation().unwrap_or(context.generation);
        let foreign = sighting.ownership == Ownership::Unowned;
        let state = sighting.state;
        Ok(Some(FoundObject { state, number, slot, origin, older, sought, foreign }))
    }

    /// Refuses an object that something else holds.
    pub(super) async fn refuse_held(
        &self,
        object: &State,
        sought: &InputValues,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let places = self.run.places(&self.resource.handler, self.writer.provider());
        let spot = Spot { places: &places, config: Some(&self.config), inputs: Some(&sought.effective) };
        self.resource.holders.refuse_held(spot, &self.address, object, record).await
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
