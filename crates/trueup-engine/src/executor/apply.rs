//! Bringing one declared resource to where it should be.
//!
//! The type is asked once more what to do, on real values; the answer must be within what was granted; each step is
//! durable before and after the call. What comes first depends on how the plan found the resource: adoption, the repeat
//! of an interrupted create, the end of an interrupted delete.
//!
//! Steps that most resources never come to are boxed: the future of a resource is as large as the largest of its steps.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trueup_core::{Address, Value};
use trueup_program::DriftPolicy;
use trueup_provider::{
    CallContext, Configured, GenerationNumber, IdempotencyToken, InputValues, PrivateBytes, Slot, State,
};
use trueup_state::{Generation, Record, Status, Step};

use super::Run;
use super::prepare::Resource;
use super::record_writer::RecordWriter;
use super::tasks::{TaskError, TaskResult};
use crate::call::{Call, CallPolicy};
use crate::draft::Attributes;
use crate::draft::node::Start;
#[cfg(feature = "mutations")]
use crate::events::EventKind;
use crate::events::Operation;
use crate::mutations::planted;
use crate::plan::{Action, Reason, ReplaceOrder};

/// One resource being applied.
pub(super) struct Applying<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) writer: &'a RecordWriter,
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
        writer: &'a RecordWriter,
        address: Address,
        config: Configured,
        desired: InputValues,
        resource: Box<Resource>,
    ) -> Self {
        writer.work_by(&config);
        let (policy, unsure) = (
            run.calls.policy(address.type_name(), Some(resource.handler.traits()), Some(&resource.options)),
            AtomicBool::default(),
        );
        let is_out_of_sight = false;
        Applying { run, writer, address, config, desired, resource, policy, unsure, is_out_of_sight }
    }
}

impl Applying<'_> {
    pub(super) async fn apply(mut self) -> Result<TaskResult, TaskError> {
        let before = self.record();
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
        // Looking may have taken long. What has begun is finished.
        if action != Action::NoOp && is_same(before.as_ref(), self.record().as_ref()) {
            self.run.may_begin()?;
        }
        let outputs = match action {
            Action::NoOp => self.keep(prior).await?,
            Action::Create => self.create(&planned, &private).await?,
            Action::Update => self.update(prior, &planned, &private).await?,
            Action::Replace => Box::pin(self.replace(&planned, &private)).await?,
            _ => unreachable!("on real values nothing is undecided"),
        };
        let attributes = Attributes::new(self.desired.effective.clone(), outputs);
        // What was repeated and then finished is created.
        let repeated = self.resource.decision.start == Start::RepeatCreate && !self.resource.is_stubbed;
        let action = if repeated && action != Action::Replace { Action::Create } else { action };
        Ok(TaskResult { action, attributes: Some(attributes), bindings: self.resource.bindings.clone() })
    }

    pub(super) fn record(&self) -> Option<Arc<Record>> {
        self.writer.record()
    }

    /// The newest generation as it is recorded now.
    pub(super) fn current(&self) -> Option<Generation> {
        self.record().and_then(|record| record.current.clone())
    }

    /// Does what has to come first, and gives the object to start from.
    async fn start(&mut self) -> Result<Option<State>, TaskError> {
        let acts = matches!(self.resource.decision.start, Start::RepeatCreate | Start::FinishDelete);
        if acts && !self.resource.is_stubbed {
            self.run.may_begin()?;
        }
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

    /// Nothing to do, but perhaps something to record (APPLY-10).
    async fn keep(&self, prior: Option<State>) -> Result<Value, TaskError> {
        let record = self.record();
        if record.as_ref().is_some_and(|record| record.meta != self.resource.meta) {
            self.writer.step(self.run, Step::MetaChanged { meta: self.resource.meta.clone() }).await?;
        }
        let seen = self.resource.observed.as_ref().filter(|_| self.resource.refresh);
        if let (Some(seen), Some(current)) =
            (seen, record.as_ref().and_then(|record| record.current.as_ref()))
        {
            let step = Step::Refreshed { number: current.number, object: seen.clone() };
            self.writer.step(self.run, step).await?;
        }
        let object = seen.cloned().or(prior);
        Ok(object.map(|object| object.outputs).unwrap_or_default())
    }

    #[cfg(feature = "mutations")]
    fn tell_inputs(&self) {
        let doing = self.desired.effective.to_json(trueup_core::JsonForm::RECORD);
        self.run.emit(Some(&self.address), EventKind::Progress { doing });
    }

    async fn create(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, TaskError> {
        planted!(TellSecrets => self.tell_inputs());
        let (number, slot) = self.place();
        self.begin_and_create(number, slot, planned, private).await
    }

    /// The number and slot of what is created. A create that begins again is of the same generation, under the same name.
    pub(super) fn place(&self) -> (GenerationNumber, Slot) {
        match self.current() {
            Some(current) if current.status != Status::Deleting => (current.number, current.slot),
            _ => (self.writer.next_number(), self.free_slot()),
        }
    }

    async fn replace(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, TaskError> {
        if let (Some(current), Some(ReplaceOrder::DeleteFirst)) =
            (self.current(), self.resource.decision.order)
        {
            // Only now is it certain that it is replaced (UNKNOWN-8); what was certain before is gone already. Its slot is
            // free then.
            self.check(self.writer.next_number(), self.free_slot().min(current.slot)).await?;
            self.remove(&current).await?;
        }
        self.begin_and_create(self.writer.next_number(), self.free_slot(), planned, private).await
    }

    pub(super) fn free_slot(&self) -> Slot {
        self.record().map_or(Slot::FIRST, |record| record.free_slot())
    }

    /// A call for this resource.
    pub(super) fn calling(&self, operation: Operation) -> Call<'_> {
        Call::new(&self.address, &self.resource.meta.provider, operation, self.policy)
    }

    pub(super) fn context(&self, token: Option<IdempotencyToken>) -> CallContext {
        let record = self.record();
        let current = record.as_ref().and_then(|record| record.current.as_ref());
        let next = || (self.writer.next_number(), self.free_slot());
        let (number, slot) = current.map_or_else(next, |current| (current.number, current.slot));
        self.context_of(number, slot, token)
    }

    /// The context of a call for a generation.
    pub(super) fn context_of(
        &self,
        number: GenerationNumber,
        slot: Slot,
        token: Option<IdempotencyToken>,
    ) -> CallContext {
        self.run.calls.context(&self.address, &self.writer.origin(), number, slot, token)
    }
}

/// Whether nothing was recorded in between.
pub(super) fn is_same(before: Option<&Arc<Record>>, now: Option<&Arc<Record>>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => Arc::ptr_eq(before, now),
        (None, None) => true,
        _ => false,
    }
}
