//! Bringing one declared resource to where it should be.
//!
//! The type is asked once more what to do, on real values; the answer must be within what was granted; each step is
//! durable before and after the call. What comes first depends on how the plan found the resource: adoption, the repeat
//! of an interrupted create, the end of an interrupted delete.
//!
//! Steps that most resources never come to are boxed: the future of a resource is as large as the largest of its steps.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_program::DriftPolicy;
use trueup_provider::{
    ApplyFailure, ApplyRequest, CallContext, CheckRequest, Configured, IdempotencyToken, InputValues,
    LookupRequest, Observed, Ownership, PlanAnswer, PlanRequest, PrecreateRequest, PrivateBytes, ReadRequest,
    Recovery, State, Verdict,
};
use trueup_state::{Attempt, Generation, Record, Status, Step};

use super::Run;
use super::call::CallPolicy;
use super::delete::remove_generation;
use super::prepare::Resource;
use super::schedule::{Finished, Trouble};
use super::step::Held;
use crate::events::{EventKind, Operation};
use crate::mutations::planted;
use crate::places::respelled;
use crate::plan::{Action, Grant, Reason, ReplaceOrder};
use crate::planner::node::{Attributes, Decision, FoundObject, Start};
use crate::planner::{
    Chosen, ObjectHolder, SlotSightings, Spot, action_of, chosen, may_be, repeated, sole, to_be_repeated,
    updated_instead,
};
use crate::retry::{Attempts, window_left, within};

/// One resource being applied.
pub(super) struct Applying<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) held: &'a Held,
    pub(super) address: Address,
    pub(super) config: Configured,
    pub(super) desired: InputValues,
    pub(super) resource: Box<Resource>,
    pub(super) policy: CallPolicy,
    /// Whether an attempt of the create made something, or may have and was repeated by its token, whatever the last one
    /// says.
    pub(super) unsure: AtomicBool,
    /// Whether the object cannot be read and may be in another place.
    pub(super) is_out_of_sight: bool,
}

impl<'a> Applying<'a> {
    pub(super) fn new(
        run: &'a Run<'a>,
        held: &'a Held,
        address: Address,
        config: Configured,
        desired: InputValues,
        resource: Box<Resource>,
    ) -> Self {
        held.work_by(&config);
        let (policy, unsure) = (run.policy(Some(&resource.options)), AtomicBool::default());
        let is_out_of_sight = false;
        Applying { run, held, address, config, desired, resource, policy, unsure, is_out_of_sight }
    }
}

impl Applying<'_> {
    pub(super) async fn apply(mut self) -> Result<Finished, Trouble> {
        self.find_place().await?;
        self.admit_start()?;
        let prior = self.start().await?;
        let written = self.desired.clone();
        self.keep_ignored(prior.as_ref());
        let (mut action, mut private, mut planned) = self.decide(prior.as_ref()).await?;
        if action == Action::Update && self.is_out_of_sight {
            // An update where nobody can look might make a second one.
            self.move_away()?;
            action = Action::Replace;
        }
        let is_moved = self.resource.decision.reasons.contains(&Reason::ProviderChanged);
        if action == Action::Replace && (self.desired != written || is_moved) {
            // Nothing is ignored of a new object, and one in another place follows from nothing that was here.
            self.desired = written;
            (_, private, planned) = self.decide(None).await?;
        }
        self.run.admit(&self.address, action, &self.desired.effective)?;
        let outputs = match action {
            Action::NoOp => self.keep(prior).await?,
            Action::Create => self.create(&planned, &private).await?,
            Action::Update => self.update(prior, &planned, &private).await?,
            Action::Replace => Box::pin(self.replace(&planned, &private)).await?,
            _ => unreachable!("on real values nothing is undecided"),
        };
        let attributes = Attributes::new(self.desired.effective.clone(), outputs);
        Ok(Finished { action, attributes: Some(attributes), bindings: self.resource.bindings.clone() })
    }

    pub(super) fn record(&self) -> Option<Arc<Record>> {
        self.held.record()
    }

    /// The newest generation as it is recorded now.
    pub(super) fn current(&self) -> Option<Generation> {
        self.record().and_then(|record| record.current.clone())
    }

    /// Has judged what is sent before it is decided what follows: the repeat of a create, the end of a delete.
    pub(super) fn admit_start(&self) -> Result<(), Failure> {
        let Applying { run, address, resource, desired, .. } = self;
        match resource.decision.start {
            Start::RepeatCreate => {
                let current = self.current();
                let attempt = current.as_ref().and_then(Generation::attempt);
                attempt.map_or(Ok(()), |it| run.admit(address, Action::Create, &it.inputs.effective))
            }
            Start::FinishDelete => run.admit(address, resource.decision.action, &desired.effective),
            Start::Record | Start::Recreate | Start::Adopt(_) | Start::LookFirst => Ok(()),
        }
    }

    /// Does what has to come first, and gives the object to start from.
    async fn start(&mut self) -> Result<Option<State>, Trouble> {
        let recorded = || self.record().and_then(|record| record.current.as_ref()?.object.clone());
        if self.resource.is_stubbed {
            return Ok(recorded());
        }
        match self.resource.decision.start.clone() {
            Start::Record if self.absence_may_be_over() => self.look().await,
            Start::Record => Ok(recorded()),
            Start::Recreate => Ok(None),
            // It was adopted to be deleted first, and that is done.
            Start::Adopt(_) if self.resource.is_deleted_first => Ok(recorded()),
            Start::Adopt(found) => Box::pin(self.adopt(*found)).await.map(Some),
            Start::RepeatCreate => Box::pin(self.repeat_create()).await.map(Some),
            Start::FinishDelete => Box::pin(self.finish_delete()).await.map(|()| None),
            Start::LookFirst => self.look().await,
        }
    }

    /// Deletes what was to be deleted, or may have been made in another place.
    pub(super) async fn finish_delete(&self) -> Result<(), Trouble> {
        match self.current() {
            // What would be left in the cloud is left where it may be.
            Some(current) if current.is_interrupted() && self.resource.options.retain => {
                Ok(self.held.step(self.run, Step::Dropped { number: current.number }).await?)
            }
            Some(current) => self.remove(&current).await,
            None => Ok(()),
        }
    }

    /// Deletes a generation.
    pub(super) async fn remove(&self, generation: &Generation) -> Result<(), Trouble> {
        let Applying { run, held, address, config, resource, policy, .. } = self;
        let places = run.places(&resource.handler, held.provider());
        if resource.holders.is_left_to_another(&places, Some(config), address, generation).await {
            return Ok(held.step(run, Step::Dropped { number: generation.number }).await?);
        }
        remove_generation(run, held, address, &resource.handler, config, generation, *policy).await
    }

    /// Takes an object that was found into state (ADOPT-2).
    pub(super) async fn adopt(&self, found: FoundObject) -> Result<State, Trouble> {
        self.hold(&found.state);
        let meta = self.resource.meta.clone();
        let steps = found.adopted(&self.address, &meta, self.run.fresh_token());
        self.held.steps(self.run, steps).await?;
        self.run.emit(Some(&self.address), EventKind::Adopted);
        Ok(found.state)
    }

    /// Notes that this resource holds an object, so that no other takes it.
    fn hold(&self, object: &State) {
        let holder = ObjectHolder {
            address: self.address.clone(),
            provider: self.held.provider(),
            configuration: self.held.configuration(self.run),
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
    pub(super) async fn look(&self) -> Result<Option<State>, Trouble> {
        let interrupted = self.current().as_ref().is_some_and(Generation::is_interrupted);
        let window = || self.unseen_for();
        let look = || self.sighted(interrupted);
        let Some(found) = within(&*self.run.clock, window, look, Option::is_some).await? else {
            return Ok(None);
        };
        if self.run.bound && self.resource.decision.start == Start::Record {
            let message = "its object exists now, and did not when the plan was made";
            return Err(Failure::new(FailureClass::Conflict, message).hint("plan again").into());
        }
        self.held.keep_unplanned(found.older.iter().map(|(_, number, _)| *number));
        self.adopt(found).await.map(Some)
    }

    /// The object of this identity, if there is one that may become ours.
    async fn sighted(&self, interrupted: bool) -> Result<Option<FoundObject>, Failure> {
        let mut origins = vec![self.held.origin()];
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
    async fn sighted_as(&self, interrupted: bool, origin: Address) -> Result<Option<FoundObject>, Failure> {
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
            let request =
                LookupRequest { config: &self.config, desired: &sought, interrupted, context: &context };
            let lookup = || self.resource.handler.lookup(request);
            let found = self.run.retrying(&self.address, Operation::Read, self.policy, lookup).await?;
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
    async fn refuse_held(
        &self,
        object: &State,
        sought: &InputValues,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let places = self.run.places(&self.resource.handler, self.held.provider());
        let spot = Spot { places: &places, config: Some(&self.config), inputs: Some(&sought.effective) };
        self.resource.holders.refuse_held(spot, &self.address, object, record).await
    }

    /// The same of an object that must be there and may not be visible yet.
    async fn sighted_in_time(&self) -> Result<Option<FoundObject>, Failure> {
        within(&*self.run.clock, || self.consistency_window(), || self.sighted(false), Option::is_some).await
    }

    /// How long the object of an interrupted create may still be out of sight; no time if none was interrupted.
    fn unseen_for(&self) -> Duration {
        let interrupted = self.current().as_ref().is_some_and(Generation::is_interrupted);
        if interrupted { self.consistency_window() } else { Duration::ZERO }
    }

    /// How long what was just written may stay out of sight.
    fn consistency_window(&self) -> Duration {
        self.resource.handler.consistency_window(&self.desired.effective)
    }

    /// Repeats the create whose outcome is unknown, as it was (CRASH-1).
    pub(super) async fn repeat_create(&self) -> Result<State, Trouble> {
        let Some((current, attempt)) =
            self.current().and_then(|it| it.attempt().cloned().map(|attempt| (it, attempt)))
        else {
            return Err(Failure::new(FailureClass::Fatal, "there is no create to repeat").into());
        };
        let planned = Value::NULL;
        let private = PrivateBytes::default();
        let token = if planted!(RepeatWithFreshToken) { self.run.fresh_token() } else { attempt.token };
        let attempt = Attempt { token, ..attempt };
        let object = self
            .call(Operation::Create, current.number, &attempt, None, &attempt.inputs, &planned, &private)
            .await
            .map_err(|trouble| match trouble {
                Trouble::Failed(failure) => repeated(&self.address, failure).into(),
                store @ Trouble::Store(_) => store,
            })?;
        self.held.step(self.run, Step::Answered { number: current.number, object: object.clone() }).await?;
        Ok(object)
    }

    /// PLAN-21
    fn keep_ignored(&mut self, prior: Option<&State>) {
        let ignored = &self.resource.options.ignore_changes;
        if let Some(prior) = prior.filter(|_| !ignored.is_empty()) {
            // As in the plan: what was seen counts where drift does.
            let repairs = self.resource.options.drift == DriftPolicy::Fix;
            let observed = self.resource.observed.as_ref().filter(|_| repairs);
            self.desired = self.resource.handler.keep_ignored(&self.desired, prior, observed, ignored);
        }
    }

    /// The object as it was seen, with the recorded values where the program ignores changes (PLAN-21).
    fn compared<'a>(&self, prior: &State, seen: &'a State) -> Cow<'a, State> {
        let ignored = &self.resource.options.ignore_changes;
        match ignored.is_empty() {
            true => Cow::Borrowed(seen),
            false => Cow::Owned(self.resource.handler.ignore_drift(prior, seen, ignored)),
        }
    }

    /// Asks the type again, on real values, and checks that the answer is within what was granted (UNKNOWN-10).
    async fn decide(&self, prior: Option<&State>) -> Result<(Action, PrivateBytes, Value), Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let record = self.record();
        let current = record.as_ref().and_then(|record| record.current.as_ref());
        let prior_bindings = current.map_or(&[][..], |current| &current.bindings);
        let attempted = current.and_then(|current| current.attempt()).map(|attempt| &attempt.inputs);
        // Where drift is not to be repaired, it is no reason to act, as in the plan (DRIFT-7).
        let repairs = self.resource.options.drift == DriftPolicy::Fix;
        let observed = self.resource.observed.as_ref().filter(|_| repairs).zip(prior);
        let observed = observed.map(|(seen, prior)| self.compared(prior, seen));
        let private = PrivateBytes(prior.map(|prior| prior.private.clone()).unwrap_or_default());
        let request = PlanRequest {
            config: Some(&self.config),
            desired: &self.desired,
            prior,
            attempted: attempted.filter(|_| prior.is_some()),
            observed: observed.as_deref(),
            bindings: &self.resource.bindings,
            prior_bindings,
            private: &private,
            context: &context,
        };
        let answer = self
            .run
            .bounded(self.policy.timeout(Operation::Read), self.resource.handler.plan(request))
            .await?;
        let replaces = answer.verdict >= Verdict::MayReplace;
        let mut answer = match prior {
            Some(prior) if replaces && Box::pin(self.keeps_object(current)).await => {
                Box::pin(self.in_place(answer, prior, request)).await?
            }
            _ => answer,
        };
        context.report_warnings(std::mem::take(&mut answer.diagnostics));
        let Decision { action: planned, ref reasons, .. } = self.resource.decision;
        let mut action = action_of(answer.verdict);
        let unfinished = current.is_some_and(|current| current.attempt().is_some());
        let adopted =
            matches!(self.resource.decision.start, Start::Adopt(_) | Start::LookFirst) && prior.is_some();
        // What turned out to be in the same place, such as behind a link that this run made, is not replaced for its spelling.
        let is_respelled = replaces && action <= Action::Update && self.is_replaced_for_inputs();
        if planned == Action::Replace && prior.is_some() && !self.resource.is_stubbed && !is_respelled {
            // A replacement that was decided is not undone by values that turned out the same.
            action = Action::Replace;
        } else if action == Action::NoOp
            && (planned == Action::Update || reasons.contains(&Reason::Forced) || unfinished || adopted)
        {
            action = Action::Update;
        }
        self.require_grant(action)?;
        Ok((action, answer.private, answer.outputs))
    }

    /// Whether the inputs denote the object of a generation, however they spell it (REPLACE-11).
    pub(super) async fn keeps_object(&self, generation: Option<&Generation>) -> bool {
        let Some(generation) = generation else { return false };
        let places = self.run.places(&self.resource.handler, self.held.provider());
        places.is_object_of(&self.config, &self.desired.effective, generation).await
    }

    /// Whether a replacement was planned for nothing but changed inputs.
    fn is_replaced_for_inputs(&self) -> bool {
        let reasons = &self.resource.decision.reasons;
        !reasons.is_empty() && reasons.iter().all(|reason| matches!(reason, Reason::Inputs | Reason::Drift))
    }

    /// The type's answer if the object is not replaced only for another spelling.
    async fn in_place(
        &self,
        answer: PlanAnswer,
        prior: &State,
        request: PlanRequest<'_>,
    ) -> Result<PlanAnswer, Failure> {
        let handler = &self.resource.handler;
        let respelled = |state: &State| respelled(handler.schema(), state, &self.desired);
        let (prior, observed) = (respelled(prior), request.observed.map(respelled));
        let request = PlanRequest { prior: Some(&prior), observed: observed.as_ref(), ..request };
        let planned = handler.plan(request);
        let other = self.run.bounded(self.policy.timeout(Operation::Read), planned).await?;
        Ok(updated_instead(answer, other))
    }

    /// Refuses an action that the plan did not grant (UNKNOWN-10).
    pub(super) fn require_grant(&self, action: Action) -> Result<(), Failure> {
        let planned = self.resource.decision.action;
        let granted = match planned.grant() {
            Grant::NoOp => action == Action::NoOp,
            Grant::Update => matches!(action, Action::NoOp | Action::Update),
            Grant::Create => matches!(action, Action::NoOp | Action::Update | Action::Create),
            Grant::Replace => true,
            Grant::Delete => false,
        };
        if granted || planted!(IgnoreGrant) {
            return Ok(());
        }
        let (needed, planned) = (action.name(), planned.name());
        let message = format!("it needs another action than was planned: {needed} instead of {planned}");
        Err(Failure::new(FailureClass::Conflict, message).hint("plan again"))
    }

    /// Nothing to do, but perhaps something to record (APPLY-10).
    async fn keep(&self, prior: Option<State>) -> Result<Value, Trouble> {
        let record = self.record();
        if record.as_ref().is_some_and(|record| record.meta != self.resource.meta) {
            self.held.step(self.run, Step::MetaChanged { meta: self.resource.meta.clone() }).await?;
        }
        let seen = self.resource.observed.as_ref().filter(|_| self.resource.refresh);
        if let (Some(seen), Some(current)) =
            (seen, record.as_ref().and_then(|record| record.current.as_ref()))
        {
            let step = Step::Refreshed { number: current.number, object: seen.clone() };
            self.held.step(self.run, step).await?;
        }
        let object = seen.cloned().or(prior);
        Ok(object.map(|object| object.outputs).unwrap_or_default())
    }

    #[cfg(feature = "mutations")]
    fn tell_inputs(&self) {
        let doing = self.desired.effective.to_json(trueup_core::JsonForm::RECORD);
        self.run.emit(Some(&self.address), EventKind::Progress { doing });
    }

    async fn create(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, Trouble> {
        planted!(TellSecrets => self.tell_inputs());
        let (number, slot) = self.place();
        self.begin_and_create(number, slot, planned, private).await
    }

    /// The number and slot of what is created. A create that begins again is of the same generation, under the same name.
    pub(super) fn place(&self) -> (u64, u64) {
        match self.current() {
            Some(current) if current.status != Status::Deleting => (current.number, current.slot),
            _ => (self.held.next_number(), self.free_slot()),
        }
    }

    async fn replace(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, Trouble> {
        if let (Some(current), Some(ReplaceOrder::DeleteFirst)) =
            (self.current(), self.resource.decision.order)
        {
            // Only now is it certain that it is replaced (UNKNOWN-8); what was certain before is gone already.
            self.check().await?;
            self.remove(&current).await?;
        }
        self.begin_and_create(self.held.next_number(), self.free_slot(), planned, private).await
    }

    pub(super) fn free_slot(&self) -> u64 {
        self.record().map_or(0, |record| record.free_slot())
    }

    async fn begin_and_create(
        &self,
        number: u64,
        slot: u64,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        self.check().await?;
        let attempt = self.attempt();
        let step = Step::CreateBegun {
            address: self.address.clone(),
            origin: self.held.origin(),
            meta: self.resource.meta.clone(),
            number,
            slot,
            attempt: attempt.clone(),
        };
        if !planted!(SkipCreateIntent) {
            self.held.step(self.run, step).await?;
        }
        self.run.emit(Some(&self.address), EventKind::Started(Operation::Create));
        let called =
            self.call(Operation::Create, number, &attempt, None, &self.desired, planned, private).await;
        let object = match called {
            Ok(object) => object,
            Err(Trouble::Failed(failure)) if failure.class == FailureClass::AlreadyExists => {
                return Box::pin(self.adopt_existing(number, slot, failure, planned, private)).await;
            }
            Err(Trouble::Failed(failure)) => return Err(self.failed_create(number, failure).await),
            Err(trouble) => return Err(trouble),
        };
        let answered = object.clone();
        self.settle(Operation::Create, number, object, answered).await
    }

    /// A create that found its place taken: by an object of ours whose answer was lost, or by someone else's (RETRY-6).
    async fn adopt_existing(
        &self,
        number: u64,
        slot: u64,
        failure: Failure,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        let adopted = self.adopt_in_place(number, slot, failure).await?;
        self.update(Some(adopted), planned, private).await
    }

    /// Adopts the object that is in the place of one that was to be created, if that may become ours.
    pub(super) async fn adopt_in_place(
        &self,
        number: u64,
        slot: u64,
        failure: Failure,
    ) -> Result<State, Trouble> {
        match self.sighted_in_time().await {
            Ok(Some(found)) => self.adopt(FoundObject { number, slot, older: Vec::new(), ..found }).await,
            Ok(None) => Err(self.failed_create(number, failure).await),
            // Whose it is, nobody could tell: it may be what this create made.
            Err(refused) if refused.class != FailureClass::AlreadyExists => Err(refused.into()),
            Err(refused) => Err(self.failed_create(number, refused).await),
        }
    }

    async fn update(
        &self,
        prior: Option<State>,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        let (Some(prior), Some(current)) = (prior, self.current()) else {
            return Err(Failure::new(FailureClass::Fatal, "there is nothing to update").into());
        };
        self.check().await?;
        let attempt = self.attempt();
        let meta = self.resource.meta.clone();
        let begun = Step::UpdateBegun { meta, attempt: attempt.clone() };
        if !planted!(SkipUpdateIntent) {
            self.held.step(self.run, begun).await?;
        }
        self.run.emit(Some(&self.address), EventKind::Started(Operation::Update));
        let object = self
            .call(Operation::Update, current.number, &attempt, Some(&prior), &self.desired, planned, private)
            .await?;
        // Until it is settled, the record keeps the inputs it started from (CRASH-3).
        let answered = State { inputs: prior.inputs, ..object.clone() };
        self.settle(Operation::Update, current.number, object, answered).await
    }

    /// What becomes of the intent of a create that failed: it is kept as long as something may have come of it.
    pub(super) async fn failed_create(&self, number: u64, failure: Failure) -> Trouble {
        let known = self.current().is_some_and(|current| current.object.is_some());
        let undecided = match failure.class {
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
        match self.held.step(self.run, Step::Abandoned { number }).await {
            Ok(()) => failure.into(),
            Err(error) => error.into(),
        }
    }

    async fn check(&self) -> Result<(), Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let (config, desired) = (&self.config, &self.desired);
        let request = CheckRequest { config, desired, context: &context };
        Ok(self
            .run
            .bounded(self.policy.timeout(Operation::Read), self.resource.handler.check(request))
            .await?)
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

    /// Calls the type, again and again if need be; what it answers, partial or not, is durable before anything else.
    #[expect(clippy::too_many_arguments, reason = "one call has that many sides")]
    pub(super) async fn call(
        &self,
        operation: Operation,
        number: u64,
        attempt: &Attempt,
        prior: Option<&State>,
        desired: &InputValues,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<State, Trouble> {
        let mut attempts =
            Attempts::new(self.policy.retry, self.policy.timeout(operation), &*self.run.clock, &self.address);
        let mut context = self.context(attempt.token);
        context.pending.clone_from(&attempt.pending);
        let mut known = prior.cloned();
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
            let called = self.run.bounded(self.policy.timeout(operation), called).await;
            let ApplyFailure { failure, partial } = match called {
                Ok(object) => return Ok(object),
                Err(failed) => failed,
            };
            if let Some(partial) = partial {
                self.held.step(self.run, Step::Answered { number, object: (*partial).clone() }).await?;
                known = Some(*partial);
            }
            let (failed, failed_at) = (failure.clone(), self.run.clock.now());
            if let Some(pending) = self.run.again(&self.address, operation, &mut attempts, failure).await? {
                self.held.step(self.run, Step::Pending { number, context: pending.clone() }).await?;
                context.pending = Some(pending);
            } else if operation == Operation::Create && known.is_none() {
                let by_token = self.resource.handler.recovery(&self.desired.effective) == Recovery::Token;
                self.unsure.fetch_or(by_token, Ordering::Relaxed);
                Box::pin(self.look_before_repeating(failed, failed_at)).await?;
            }
        }
    }

    /// Looks for the object of a create that is about to be repeated, if the type can (RETRY-7): whatever its class says,
    /// the failed attempt may have made it. Fails as *already-exists* if it did.
    async fn look_before_repeating(&self, failed: Failure, failed_at: SystemTime) -> Result<(), Failure> {
        let looks = self.resource.handler.recovery(&self.desired.effective) == Recovery::Lookup;
        if !looks || planted!(RepeatUnseen) {
            return Ok(());
        }
        let window = || window_left(self.consistency_window(), Some(failed_at.into()), &*self.run.clock);
        match within(&*self.run.clock, window, || self.sighted(true), Option::is_some).await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => {
                self.unsure.store(true, Ordering::Relaxed);
                Err(Failure::new(FailureClass::AlreadyExists, "a failed attempt created it"))
            }
            // The class of the failed attempt keeps the intent: its object may be there.
            Err(refused) => {
                let message = format!("{}; looking for its object failed: {refused}", failed.message);
                Err(Failure { message, hints: refused.hints, ..failed })
            }
        }
    }

    /// Makes the answer durable, reads the object back, and ends the operation (APPLY-8).
    async fn settle(
        &self,
        operation: Operation,
        number: u64,
        object: State,
        answered: State,
    ) -> Result<Value, Trouble> {
        let mut settled = object.clone();
        let traits = self.resource.handler.traits();
        if traits.read_back && !traits.in_records {
            self.held.step(self.run, Step::Answered { number, object: answered }).await?;
            if let Some(seen) = self.read_back(&object).await {
                settled = State { inputs: object.inputs.clone(), ..seen };
            }
        }
        planted!(RevealAnswers => settled.outputs = revealed(&settled.outputs));
        let outputs = settled.outputs.clone();
        self.hold(&settled);
        self.held.step(self.run, Step::Settled { number, object: settled }).await?;
        self.run.emit(Some(&self.address), EventKind::Completed(operation));
        Ok(outputs)
    }

    /// The object as it reads now; `None` if that cannot be had, and then the answer stands. Within the type's consistency
    /// window an object may read as it was before; past it, what differs from the answer was changed since, and is drift.
    async fn read_back(&self, object: &State) -> Option<State> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let handler = &self.resource.handler;
        let request = ReadRequest {
            config: &self.config,
            inputs: &self.desired.effective,
            state: object,
            context: &context,
        };
        let absent = || Failure::new(FailureClass::Retryable, "it cannot be read back yet");
        let read = || {
            self.run.retrying(&self.address, Operation::Read, self.policy, || {
                let read = handler.read(request);
                Box::pin(async move {
                    match read.await? {
                        Observed::Absent => Err(absent()),
                        seen => Ok(seen),
                    }
                })
            })
        };
        let window = self.consistency_window();
        let is_current = |seen: &Observed| match seen {
            Observed::Present(seen) => window.is_zero() || self.mirrors_agree(object, seen),
            Observed::Absent | Observed::Unreadable => true,
        };
        match within(&*self.run.clock, || window, read, is_current).await {
            Ok(Observed::Present(seen)) if is_current(&Observed::Present(seen.clone())) => Some(*seen),
            _ => None,
        }
    }

    /// Whether outputs that mirror inputs are read as they were answered.
    fn mirrors_agree(&self, answered: &State, seen: &State) -> bool {
        let outputs = &self.resource.handler.schema().outputs.attributes;
        let mirrors = |name: &str| outputs.get(name).is_some_and(|attribute| attribute.mirrors.is_some());
        let changes = self.resource.handler.drift(answered, seen);
        !changes.iter().any(|change| change.path.first_key().is_some_and(mirrors))
    }

    pub(super) fn context(&self, token: IdempotencyToken) -> CallContext {
        let record = self.record();
        let current = record.as_ref().and_then(|record| record.current.as_ref());
        let next = || (self.held.next_number(), self.free_slot());
        let (number, slot) = current.map_or_else(next, |current| (current.number, current.slot));
        self.run.context(&self.address, &self.held.origin(), number, slot, token)
    }
}

/// Fields without their marks, for a planted bug.
#[cfg(feature = "mutations")]
fn revealed(fields: &Value) -> Value {
    let entries = fields.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
    Value::object(entries.map(|(name, value)| (name.clone(), value.clone().reveal())))
}
