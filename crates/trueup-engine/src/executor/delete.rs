//! Deleting objects: what is no longer declared, what is replaced first, and older generations.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Failure, FailureClass, Value};
use trueup_provider::{
    ApplyFailure, ApplyRequest, CallContext, Configured, DeleteEnd, DeleteRequest, GenerationNumber,
    IdempotencyToken, InputValues, LookupRequest, Observed, Ownership, PrecreateRequest, PrivateBytes,
    ReadRequest, Recovery, ResourceHandler, State,
};
use trueup_state::{Attempt, Generation, Metadata, Record, Status, Step, UnixMillis};

use super::Run;
use super::configuration::Configuration;
use super::prepare::inputs_now;
use super::record_writer::RecordWriter;
use super::tasks::Task;
use super::tasks::{TaskError, TaskResult};
use crate::call::{Attempts, Call, CallPolicy, unseen_for, within};
use crate::draft::node::{FoundObject, Start};
use crate::draft::{Draft, metadata};
use crate::events::{EventKind, Operation};
use crate::failures::{outcome_unknown, repeated};
use crate::index::NodeIndex;
use crate::mutations::planted;
use crate::plan::{Action, ReplaceOrder};
use crate::providers::{Place, Places, out_of_reach, place};
use crate::run_kind::RunKind;
use crate::sighting::{Holders, can_look};

/// A resource of which something is to be deleted.
pub(crate) struct PreparedDelete {
    address: Address,
    /// The name of its provider's configuration.
    provider: SmolStr,
    handler: Option<Arc<dyn ResourceHandler>>,
    config: Configuration,
    task: Task,
    policy: CallPolicy,
    retain: bool,
    holders: Holders,
    /// What was found and goes before it is made anew: it becomes ours first.
    adopting: Option<(FoundObject, Metadata)>,
    /// The older generations that are in nobody's way: they are left for the clean-up, when nobody uses them any more.
    left_for_clean_up: BTreeSet<GenerationNumber>,
    /// The planned action and the inputs to be admitted, unless that was done before.
    to_admit: Option<(Action, Value)>,
}

pub(crate) fn prepare(run: &Run<'_>, draft: &Draft, task: Task) -> PreparedDelete {
    let node = &draft.nodes[task.node()];
    let recorded = node.record.as_ref().is_some_and(|(record, _)| record.meta.retain);
    PreparedDelete {
        address: node.address.clone(),
        provider: node.provider.clone(),
        handler: node.handler().cloned(),
        config: Configuration::of(run, draft, task.node()),
        adopting: match (&node.decision.start, task) {
            (Start::Adopt(found), Task::DeleteOld(at)) => Some(((**found).clone(), metadata(draft, at))),
            _ => None,
        },
        left_for_clean_up: match task {
            Task::DeleteOld(at) => left_for_clean_up(draft, at),
            _ => BTreeSet::new(),
        },
        to_admit: judged_inputs(draft, task).map(|inputs| (node.decision.action, inputs)),
        task,
        policy: match run.kind {
            // A destroy goes by records, but what the program says of retries and timeouts holds for it too.
            RunKind::Destroy => {
                let traits = node.handler().map(|handler| handler.traits());
                run.calls.policy(node.address.type_name(), traits, run.declared_options(&node.address))
            }
            RunKind::Deploy => run.calls.policy_of(node),
        },
        holders: draft.holders.clone(),
        retain: node.decision.action == Action::Forget
            || node.declared().map_or(recorded, |declared| declared.options.retain),
    }
}

/// The older generations of a node that neither use anything that goes now nor stand in the way of what replaces them.
pub(super) fn left_for_clean_up(draft: &Draft, at: NodeIndex) -> BTreeSet<GenerationNumber> {
    let node = &draft.nodes[at];
    let Some((record, _)) = &node.record else { return BTreeSet::new() };
    let goes = |address: &Address| {
        draft.index.get(address).is_some_and(|used| {
            let used = &draft.nodes[*used];
            let leaves_older = used.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
            // What may be replaced may turn out to go first, too.
            let may_go_first = used.decision.order == Some(ReplaceOrder::DeleteFirst);
            !used.is_declared() || may_go_first || leaves_older
        })
    };
    let nothing = Value::object::<&str>([]);
    let identity =
        |inputs: Option<&InputValues>| node.handler()?.schema().identity(Some(&inputs?.effective), &nothing);
    let wanted = identity(node.desired.as_ref());
    let place_of =
        |inputs: Option<&InputValues>| place(&**node.handler()?, node.config.as_ref()?, &inputs?.effective);
    let there = place_of(node.desired.as_ref());
    let stays = |generation: &&Generation| {
        let uses = match &generation.dependencies {
            Some(own) => own.iter().any(goes),
            None => record.meta.dependencies.iter().any(goes),
        };
        let own = identity(generation.inputs());
        let is_in_the_way = own.zip(wanted.as_ref()).is_some_and(|(own, wanted)| own.same(wanted))
            || there.is_some() && place_of(generation.inputs()) == there;
        generation.object.is_some() && !uses && !is_in_the_way
    };
    record.deposed.iter().filter(stays).map(|generation| generation.number).collect()
}

/// The inputs by which a delete is judged. Before what a replacement replaces goes, the inputs of the new object count as
/// far as they are known: it must not turn out too late that it may not be made.
fn judged_inputs(draft: &Draft, task: Task) -> Option<Value> {
    match task {
        Task::Delete(_) => Some(Value::NULL),
        Task::DeleteOld(at) => {
            let desired = inputs_now(draft, at).and_then(Result::ok).map(|now| now.values);
            let desired = desired.or_else(|| draft.nodes[at].desired.clone());
            desired.map(|desired| desired.effective)
        }
        // Older generations go with a change that was judged.
        Task::CleanUp(_) | Task::Apply(_) | Task::Precreate(_) => None,
    }
}

impl PreparedDelete {
    pub(crate) async fn run(self, run: &Run<'_>, writer: &RecordWriter) -> Result<TaskResult, TaskError> {
        if let Some((action, inputs)) = &self.to_admit {
            run.admit(&self.address, *action, inputs)?;
        }
        if let Some((found, meta)) = &self.adopting {
            writer.work_by(&self.config.clone().ready(run).await?);
            let steps = found.adopted(&self.address, meta, run.fresh_token());
            writer.steps(run, steps).await?;
            let outputs = found.state.outputs.clone();
            run.emit(Some(&self.address), EventKind::Adopted { outputs });
        }
        let (Some(handler), Some(record)) = (&self.handler, writer.record()) else {
            return Ok(TaskResult { action: Action::Delete, attributes: None, bindings: Vec::new() });
        };
        let generations: Vec<Generation> = match self.task {
            Task::CleanUp(_) => writer.deposed(),
            // Older generations that are still there use what it uses, which may be what goes next.
            Task::DeleteOld(_) | Task::Delete(_) | Task::Apply(_) | Task::Precreate(_) => {
                let goes = |it: &&Generation| !self.left_for_clean_up.contains(&it.number);
                record.generations().filter(goes).cloned().collect()
            }
        };
        let places = run.places(handler, writer.provider());
        // With the first one, the whole has begun.
        run.may_begin()?;
        for generation in generations {
            let forgotten = planted!(ForgetDeposed) && matches!(self.task, Task::CleanUp(_));
            if self.retain || forgotten || self.lives_on(run, &places, &record, &generation).await {
                writer.step(run, Step::Dropped { number: generation.number }).await?;
                continue;
            }
            let config = self.config.clone().ready_for(run, &generation).await?;
            let (address, provider, policy) = (&self.address, self.provider.as_str(), self.policy);
            let (config, generation) = (&config, &generation);
            let holders = &self.holders;
            let removal =
                Removal { run, writer, address, provider, handler, config, generation, policy, holders };
            removal.remove().await?;
        }
        let action = if self.retain { Action::Forget } else { Action::Delete };
        Ok(TaskResult { action, attributes: None, bindings: Vec::new() })
    }
}

impl PreparedDelete {
    /// Whether the object of a generation is not this one's to delete: another resource holds it (DELETE-9), or a later
    /// generation turned out to be it.
    async fn lives_on(
        &self,
        run: &Run<'_>,
        places: &Places<'_>,
        record: &Record,
        generation: &Generation,
    ) -> bool {
        if generation.object.is_none() {
            return false;
        }
        for later in later_than(record, generation) {
            if places.are_one_object(later, generation).await {
                return true;
            }
        }
        let in_use = match generation.configuration {
            None if places.handler.traits().tells_place => {
                self.config.clone().ready_for(run, generation).await.ok()
            }
            _ => None,
        };
        self.holders.is_left_to_another(places, in_use.as_ref(), &self.address, generation).await
    }
}

/// The later generations of a record that have objects.
fn later_than<'a>(record: &'a Record, generation: &'a Generation) -> impl Iterator<Item = &'a Generation> {
    record.generations().filter(|other| other.number > generation.number && other.object.is_some())
}

/// The later generations of a record whose objects have the identity of this one's, in whatever place.
fn later_of_same_identity<'a>(
    record: &'a Record,
    generation: &'a Generation,
) -> impl Iterator<Item = &'a Generation> {
    let identity = |it: &'a Generation| it.object.as_ref()?.identity.as_ref();
    let own = identity(generation);
    later_than(record, generation)
        .filter(move |other| own.zip(identity(other)).is_some_and(|(own, other)| own.same(other)))
}

/// A generation that is deleted.
pub(super) struct Removal<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) writer: &'a RecordWriter,
    pub(super) address: &'a Address,
    /// The name of its provider's configuration.
    pub(super) provider: &'a str,
    pub(super) handler: &'a Arc<dyn ResourceHandler>,
    pub(super) config: &'a Configured,
    pub(super) generation: &'a Generation,
    pub(super) policy: CallPolicy,
    pub(super) holders: &'a Holders,
}

/// What a delete came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DeleteAnswer {
    /// The provider deleted it.
    Accepted,
    /// There was nothing to delete.
    NotFound,
}

/// What is left of an object that is being deleted. Each change is a single step, so a lock that is poisoned holds a state
/// like any other.
fn state_of(left: &Mutex<State>) -> MutexGuard<'_, State> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a read shows of a deleted object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remains {
    Gone,
    There,
    /// The read failed: the object counts as gone when its window is over.
    Unseen,
}

impl Removal<'_> {
    /// Deletes the generation, finding out first what there is to delete.
    pub(super) async fn remove(self) -> Result<(), TaskError> {
        let config = &self.leading_to_it().await?;
        let removal = Removal { config, ..self };
        let object = match &removal.generation.object {
            Some(object) => object.clone(),
            None => match removal.find().await? {
                Some(object) if !removal.is_left_to_another(&object).await => object,
                _ => {
                    let number = removal.generation.number;
                    return Ok(removal.writer.step(removal.run, Step::Dropped { number }).await?);
                }
            },
        };
        removal.delete(&object).await
    }

    /// Whether another resource holds the object that a create came to: a server may answer every create with the same one
    /// (DELETE-9).
    async fn is_left_to_another(&self, object: &State) -> bool {
        let found = Generation { object: Some(object.clone()), ..self.generation.clone() };
        let places = self.run.places(self.handler, self.writer.provider());
        self.holders.is_left_to_another(&places, Some(self.config), self.address, &found).await
    }

    /// The configuration of the provider that leads to the object: the one in use, unless the object was made with another
    /// and that one alone leads to it (DELETE-11).
    async fn leading_to_it(&self) -> Result<Configured, TaskError> {
        let Removal { run, config, generation, .. } = *self;
        let places = run.places(self.handler, self.writer.provider());
        let Some(other) = places.elsewhere(config, generation).await else { return Ok(config.clone()) };
        let ready = run.recorded.ready(&run.calls, &places.provider, other.number).await;
        let (Some(state), Some(inputs)) = (&generation.object, generation.inputs()) else {
            // What came of a create is where the create was sent.
            return if other.place == Place::Alike { Ok(config.clone()) } else { Ok(ready?) };
        };
        if other.place == Place::Apart {
            return Ok(ready.map_err(|failure| out_of_reach(failure, &places.provider, ""))?);
        }
        let context = &self.context(None);
        let read = async |config: &Configured| {
            let read = async |context: &CallContext| {
                self.handler.read(ReadRequest { config, inputs: &inputs.effective, state, context }).await
            };
            run.calls.retried(self.calling(Operation::Read), context, read).await
        };
        if self.lives_on() {
            // A later generation of the same identity is what the configuration in use leads to, and not to be touched.
            return Ok(ready.map_err(|failure| out_of_reach(failure, &places.provider, ""))?);
        }
        match read(config).await? {
            Observed::Present(seen) if !places.is_another(state, &seen) => return Ok(config.clone()),
            // Nobody can look: the delete goes where the create went.
            Observed::Unreadable => return Ok(ready.unwrap_or_else(|_| config.clone())),
            Observed::Present(_) | Observed::Absent => {}
        }
        let looked = match &ready {
            Ok(ready) => read(ready).await,
            Err(failure) => Err(failure.clone()),
        };
        let seen = other.is_seen(looked, &places.provider)?;
        // An object that nobody sees may be too new to be seen (DRIFT-10): the delete goes where the create went.
        let went_there = seen || other.place != Place::Alike && !planted!(TrustOtherPlace);
        Ok(ready.ok().filter(|_| went_there).unwrap_or_else(|| config.clone()))
    }

    /// Whether a later generation has the same identity.
    fn lives_on(&self) -> bool {
        let record = self.writer.record();
        record.is_some_and(|record| later_of_same_identity(&record, self.generation).next().is_some())
    }

    /// The object of a create whose outcome is unknown (CRASH-1); `None` if it never came to be.
    async fn find(&self) -> Result<Option<State>, TaskError> {
        let Some(attempt) = self.generation.attempt() else { return Ok(None) };
        let number = self.generation.number;
        let context = self.context(Some(attempt.token));
        let object = match self.handler.recovery(&attempt.inputs.effective) {
            Recovery::Blind => return Err(outcome_unknown(self.address, self.handler.traits()).into()),
            Recovery::Lookup if !can_look(&**self.handler, &attempt.inputs) => {
                return Err(outcome_unknown(self.address, self.handler.traits()).into());
            }
            Recovery::Lookup => {
                let (config, desired) = (self.config, &attempt.inputs);
                let lookup = async |context: &CallContext| {
                    let request = LookupRequest { config, desired, interrupted: true, context };
                    self.handler.lookup(request).await
                };
                let look = || self.run.calls.retried(self.calling(Operation::Read), &context, &lookup);
                let window = self.handler.consistency_window(&attempt.inputs.effective);
                let is_settled = |found: &Option<Vec<_>>| found.as_ref().is_none_or(|it| !it.is_empty());
                let found = within(&*self.run.calls.clock, || window, look, is_settled).await?;
                let Some(found) = found else {
                    return Err(outcome_unknown(self.address, self.handler.traits()).into());
                };
                // What is someone else's is not ours to delete.
                let ours = found.into_iter().find(|sighting| sighting.ownership != Ownership::Unowned);
                ours.map(|sighting| sighting.state)
            }
            Recovery::Token => Some(self.repeat_create(attempt, &context).await?),
        };
        if let Some(object) = &object {
            self.writer.step(self.run, Step::Answered { number, object: object.clone() }).await?;
            if self.handler.recovery(&attempt.inputs.effective) == Recovery::Token {
                let (operation, outputs) = (Operation::Create, object.outputs.clone());
                self.run.emit(Some(self.address), EventKind::Completed { operation, outputs });
            }
        }
        Ok(object)
    }

    /// Repeats a create with its token, to learn which object it made.
    async fn repeat_create(&self, attempt: &Attempt, context: &CallContext) -> Result<State, Failure> {
        let private = PrivateBytes::default();
        let (config, desired) = (self.config, &attempt.inputs);
        let create = async |context: &CallContext| {
            let created = match attempt.stub {
                true => self.handler.precreate(PrecreateRequest { config, desired, context }).await,
                false => {
                    let request = ApplyRequest {
                        config,
                        desired,
                        planned: &Value::NULL,
                        private: &private,
                        prior: None,
                        observed: None,
                        bindings: &attempt.bindings,
                        context,
                    };
                    self.handler.apply(request).await
                }
            };
            created.map_err(|failed| failed.failure)
        };
        let operation = Operation::Create;
        self.run.emit(Some(self.address), EventKind::started(operation, &desired.effective));
        let created = self.run.calls.retried(self.calling(operation), context, create).await;
        let created = created.map_err(|failure| repeated(self.address, failure))?;
        Ok(created)
    }

    async fn delete(&self, object: &State) -> Result<(), TaskError> {
        let number = self.generation.number;
        if self.generation.status != Status::Deleting {
            self.writer.step(self.run, Step::DeleteBegun { number }).await?;
        }
        let recorded = self.generation.inputs().map(|inputs| inputs.effective.clone()).unwrap_or_default();
        self.run.emit(Some(self.address), EventKind::started(Operation::Delete, &recorded));
        let context = self.context(None);
        let left = Mutex::new(object.clone());
        planted!(ConfirmDeleteBeforeCall => self.writer.step(self.run, Step::Deleted { number }).await?);
        // What was written a moment ago may not be found yet: *not found* must outlast the window (DELETE-2).
        let delete = || self.delete_what_is_left(&left, &recorded);
        let clock = &*self.run.calls.clock;
        let window = || {
            let window = self.handler.consistency_window(&recorded);
            unseen_for(window, &self.generation.status, self.written_at(), clock)
        };
        let is_accepted = |it: &DeleteAnswer| *it == DeleteAnswer::Accepted || planted!(TrustNotFound);
        match within(clock, window, delete, is_accepted).await {
            Ok(DeleteAnswer::Accepted) => {
                let left = state_of(&left).clone();
                self.see_it_gone(&left, &recorded, &context).await?;
            }
            Ok(DeleteAnswer::NotFound) => {}
            Err(TaskError::Failed(failure)) => return Err(self.failed(failure).await),
            Err(trouble) => return Err(trouble),
        }
        self.holders.note_delete_ended(self.address, object);
        self.writer.step(self.run, Step::Deleted { number }).await?;
        self.run.emit(
            Some(self.address),
            EventKind::Completed { operation: Operation::Delete, outputs: Value::NULL },
        );
        Ok(())
    }

    /// Calls the type, again and again if need be. What a failed delete leaves is durable before anything else, and deleted
    /// by the next attempt (DELETE-14).
    async fn delete_what_is_left(
        &self,
        left: &Mutex<State>,
        inputs: &Value,
    ) -> Result<DeleteAnswer, TaskError> {
        let (calls, call) = (&self.run.calls, self.calling(Operation::Delete));
        let mut attempts = Attempts::new(call, &*calls.clock);
        let mut context = self.context(None);
        let mut unsent = true;
        loop {
            let state = &state_of(left).clone();
            let request = DeleteRequest { config: self.config, inputs, state, context: &context };
            let ApplyFailure { mut failure, partial } =
                match calls.attempt(call, self.handler.delete(request)).await {
                    Ok(()) => return Ok(DeleteAnswer::Accepted),
                    Err(failed) if failed.failure.class == FailureClass::NotFound => {
                        return Ok(DeleteAnswer::NotFound);
                    }
                    Err(failed) => failed,
                };
            if let Some(partial) = partial {
                let (number, object) = (self.generation.number, (*partial).clone());
                self.writer.step(self.run, Step::Answered { number, object }).await?;
                *state_of(left) = *partial;
            }
            unsent &= failure.unsent;
            failure.unsent = unsent;
            if let Some(pending) = calls.wait_for_next(call, &mut attempts, failure).await? {
                context.pending = Some(pending);
            }
        }
    }

    /// Reads an object whose delete was accepted until it is gone, so that no later run adopts it (DELETE-12). A delete that
    /// was begun by an earlier run is believed at the end of the window: some APIs show deleted objects for good. So is that
    /// of a type whose reads may be unable to tell.
    async fn see_it_gone(
        &self,
        object: &State,
        inputs: &Value,
        context: &CallContext,
    ) -> Result<(), Failure> {
        planted!(TrustAcceptedDelete => return Ok(()));
        let traits = self.handler.traits();
        let window = self.handler.consistency_window(inputs);
        let reads = traits.read_back && !traits.in_records && !window.is_zero();
        let end = self.handler.delete_end(inputs);
        if !reads || end == DeleteEnd::Answered {
            return Ok(());
        }
        let look = || async {
            let request = ReadRequest { config: self.config, inputs, state: object, context };
            let read = self.handler.read(request);
            Ok::<_, Failure>(match self.run.calls.attempt(self.calling(Operation::Read), read).await {
                Ok(Observed::Present(_)) => Remains::There,
                // Where nobody can look, the answer to the delete stands.
                Ok(Observed::Absent | Observed::Unreadable) => Remains::Gone,
                Err(_) => Remains::Unseen,
            })
        };
        let is_gone = |remains: &Remains| *remains == Remains::Gone;
        if within(&*self.run.calls.clock, || window, look, is_gone).await? != Remains::There {
            return Ok(());
        }
        let message =
            format!("its delete was accepted, but the object is still there {} s later", window.as_secs());
        if self.generation.status == Status::Deleting || end == DeleteEnd::GoneOrAnswered {
            self.run.calls.warnings.add(self.address, Diagnostic::warning(message));
            return Ok(());
        }
        Err(Failure::new(FailureClass::Retryable, message)
            .hint("run again: the next run sends the delete once more and then counts the object as deleted"))
    }

    /// What was refused or never sent did not happen: the object is as it was, and whoever declares it again may keep it (DELETE-10).
    /// Only half an object, or one that may be half deleted, is of no use.
    async fn failed(&self, failure: Failure) -> TaskError {
        let refused =
            failure.unsent || matches!(failure.class, FailureClass::Conflict | FailureClass::Denied);
        if !refused || self.generation.status != Status::Ready {
            return failure.into();
        }
        match self.writer.step(self.run, Step::Abandoned { number: self.generation.number }).await {
            Ok(()) => failure.into(),
            Err(error) => error.into(),
        }
    }

    /// The last recorded write of the object, which may be that of a create repeated to find it.
    fn written_at(&self) -> Option<UnixMillis> {
        let record = self.writer.record()?;
        record.generations().find(|it| it.number == self.generation.number)?.written_at
    }

    fn calling(&self, operation: Operation) -> Call<'_> {
        Call::new(self.address, self.provider, operation, self.policy)
    }

    fn context(&self, token: Option<IdempotencyToken>) -> CallContext {
        let Generation { number, slot, .. } = self.generation;
        self.run.calls.context(self.address, &self.writer.origin(), *number, *slot, token)
    }
}
