//! Running tasks as they become ready.
//!
//! One loop owns everything: it starts what is ready, longest remaining chain first, takes results, and tells
//! dependents. A failure stops its dependents alone (APPLY-4). Nothing is spawned, so dropping the loop drops all.
//!
//! The loop evaluates expressions and never waits for one. What calls a provider's function whose answer is missing is put
//! aside until it is there, and evaluated again.

use std::collections::BTreeSet;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{Either, select, try_join_all};
use futures_util::stream::FuturesUnordered;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_program::FunctionCall;
use trueup_provider::{Binding, ProviderPanic};
use trueup_state::{Generation, Record, Status, Step, StoreError};

use super::convergence::provisional;
use super::queue::Queue;
use super::record_writer::RecordWriter;
use super::report::{Outcome, RunReport, announce};
use super::tasks::{Task, TaskError, TaskResult, Tasks, clean_up_tasks, main_tasks, operation_of};
use super::validation::validate_delete_first;
use super::{Run, delete, prepare};
use crate::call::{contained, contained_now, evaluated};
use crate::draft::{Attributes, Draft, ExecutablePlan};
use crate::events::EventKind;
use crate::failures::invalid;
use crate::index::{NodeIndex, PerNode, PerTask, TaskIndex};
use crate::mutations::planted;
use crate::plan::Action;
use crate::providers::{is_opened, written};

/// A run in progress.
pub(super) struct Progress<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) writers: PerNode<Arc<RecordWriter>>,
    pub(super) outcomes: PerNode<Option<Outcome>>,
    pub(super) clean_up_failures: Vec<(Address, Failure)>,
    pub(super) store_failed: Option<StoreError>,
    pub(super) failed: bool,
    /// Why nothing may be deleted first: what would replace it is not valid.
    pub(super) refused: Option<(NodeIndex, Failure)>,
    /// Nodes of which a part is done, and whose own turn comes later: a stub, or the delete before a create.
    pub(super) half_done: BTreeSet<NodeIndex>,
    /// What each node was applied with: its inputs and bindings.
    pub(super) used: PerNode<Option<(Value, Vec<Binding>)>>,
}

/// How a task ended.
struct Ended {
    task: TaskIndex,
    /// How often functions answered what is evaluated next.
    rounds: u32,
    /// `None` if the task has yet to begin: functions have answered what its inputs miss.
    outcome: Option<Result<TaskResult, TaskError>>,
}

/// What became of the outcome of a task.
enum Taken {
    /// It is taken in. If the task failed, others wait in vain for this address.
    In(Option<Address>),
    /// These answers are missing to judge the result.
    Unjudged(BTreeSet<FunctionCall>, TaskResult),
}

/// Carries a plan out.
pub(crate) async fn execute(run: &Run<'_>, planned: ExecutablePlan<'_>) -> RunReport {
    let ExecutablePlan { plan, mut draft } = planned;
    forget_opened(run, &mut draft).await;
    let announced = announce(run, &plan).await;
    let writers = draft.nodes.enumerate().map(|(at, node)| {
        let as_stored = |record: &Arc<Record>| draft.relocation.as_stored(record.clone());
        let record = node.record.as_ref().map(|(record, version)| (as_stored(record), *version));
        let unmigrated =
            node.record.as_ref().and_then(|(it, _)| draft.unmigrated.get(&it.id).map(|was| (was, it)));
        let behind = unmigrated.map(|(was, is)| (as_stored(was), migrations(was, is)));
        Arc::new(RecordWriter::new(draft.origin(at), record, behind))
    });
    let mut progress = Progress {
        run,
        writers: writers.collect(),
        outcomes: PerNode::filled(None, draft.nodes.len()),
        clean_up_failures: Vec::new(),
        store_failed: announced.err(),
        failed: false,
        refused: None,
        half_done: BTreeSet::new(),
        used: PerNode::filled(None, draft.nodes.len()),
    };
    let carried_out = run.ephemerals.kept_during(contained(progress.carry_out(&mut draft))).await;
    if let Err(panic) = carried_out {
        progress.fail_type(&draft, &panic);
    }
    for (address, failure) in run.ephemerals.close_all().await {
        progress.fail(&draft, &address, failure);
    }
    progress.conclude(&draft, plan).await
}

/// What the plan opened is closed: from here on each value that follows from it is another, and so is each provider's
/// configuration.
async fn forget_opened(run: &Run<'_>, draft: &mut Draft<'_>) {
    let names: Vec<SmolStr> = draft.configs.keys().cloned().collect();
    let mut planned = Vec::new();
    for name in &names {
        planned.push(written(&run.calls, run.program, draft, name).await.value);
    }
    draft.applying = true;
    for (name, planned) in names.iter().zip(planned) {
        // What was never known is not forgotten: it may be made up for by what is recorded.
        let known = draft.configs.get(name).is_some_and(Option::is_some);
        let opened = is_opened(run.program, name);
        if known && (opened || written(&run.calls, run.program, draft, name).await.value != planned) {
            draft.configs.insert(name.clone(), None);
            draft.nodes.iter_mut().filter(|it| it.provider == *name).for_each(|it| it.config = None);
        }
    }
}

impl<'a> Progress<'a> {
    /// Does all that is planned.
    async fn carry_out(&mut self, draft: &mut Draft<'_>) {
        self.refused = validate_delete_first(self.run, draft).await;
        if self.store_failed.is_none() {
            self.relocate(draft).await;
        }
        let tasks = main_tasks(draft);
        draft.provisional = provisional(draft);
        for (_, target) in draft.loose.clone() {
            // Where a cycle was opened, what is there stands in until the object itself is settled (BIND-5).
            if let Some(object) = draft.nodes[target].stand_in() {
                let inputs =
                    object.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
                draft.attributes[target] = Some(Attributes::new(inputs, object.outputs.clone()));
            }
        }
        self.run_tasks(draft, &tasks).await;
        self.converge(draft).await;
        self.hold_provisional_premises(draft).await;
        self.hold_kept_premises(draft).await;
        let going = self.going(draft);
        let goes = |at: NodeIndex| going[at] && !self.stopping();
        let clean_up = clean_up_tasks(draft, goes, |task| self.used_by_what_goes(task));
        self.run_tasks(draft, &clean_up).await;
    }

    /// Takes in that a type panicked beside all tasks: nothing more starts, and what is left of that type has failed.
    fn fail_type(&mut self, draft: &Draft<'_>, panic: &ProviderPanic) {
        for (at, node) in draft.nodes.enumerate() {
            if self.outcomes[at].is_none() && node.address.type_name() == panic.type_name {
                self.fail(draft, &node.address, panic.clone().into());
            }
        }
    }

    /// Makes moves durable before anything else happens (MOVE-1). All of them take part in one commit: between two, a
    /// record would depend on an address that no record has.
    async fn relocate(&mut self, draft: &Draft<'_>) {
        let moves = draft.nodes.iter().zip(&self.writers).filter_map(|(node, writer)| {
            let (record, _) = node.record.as_ref()?;
            let original = draft.relocation.originals.get(&record.id)?;
            let mut steps = Vec::new();
            if original.record.address != record.address {
                steps.push(Step::Moved { to: record.address.clone() });
            }
            if !original.relinked.is_empty() {
                steps.push(Step::Relinked { moved: original.relinked.clone() });
            }
            Some(writer.steps(self.run, steps))
        });
        if let Err(error) = try_join_all(moves).await {
            self.failed = true;
            self.store_failed = Some(error);
        }
    }

    /// Runs tasks until none is left, or nothing new may start and what is under way has ended.
    pub(super) async fn run_tasks(&mut self, draft: &mut Draft<'_>, tasks: &Tasks) {
        let mut queue = self.queue(draft, tasks);
        let mut dependents = Dependents::new(tasks);
        let mut running = FuturesUnordered::new();
        let mut in_flight: BTreeSet<TaskIndex> = BTreeSet::new();
        dependents.ready().for_each(|task| queue.push(task));
        loop {
            while !self.stopping() {
                let Some(task) = queue.start() else { break };
                running.push(Either::Left(self.start(draft, tasks.tasks[task], task, 0)));
                in_flight.insert(task);
            }
            let Some(Ended { task, rounds, outcome }) = self.next_finished(&mut running).await else { break };
            let outcome = match outcome {
                Some(outcome) => outcome,
                None if self.stopping() => {
                    in_flight.remove(&task);
                    queue.ended(task);
                    continue;
                }
                None => {
                    running.push(Either::Left(self.start(draft, tasks.tasks[task], task, rounds)));
                    continue;
                }
            };
            let cause = match self.take_in(draft, tasks.tasks[task], outcome, rounds) {
                Taken::In(cause) => cause,
                Taken::Unjudged(missing, result) => {
                    let ended = Ended { task, rounds: rounds + 1, outcome: Some(Ok(result)) };
                    running.push(Either::Right(self.answering(draft, missing, ended)));
                    continue;
                }
            };
            in_flight.remove(&task);
            queue.ended(task);
            dependents.release(
                task,
                cause,
                |ready| queue.push(ready),
                |skipped, cause| self.skip(draft, tasks.tasks[skipped], cause),
            );
        }
        let abandoned = in_flight.into_iter().map(|task| tasks.tasks[task]);
        // A resource whose older generations are being deleted is done.
        for task in abandoned.filter(|task| !matches!(task, Task::CleanUp(_))) {
            let record = self.writers[task.node()].record();
            let is_begun = record.iter().flat_map(|it| it.generations()).any(|it| it.status != Status::Ready);
            if is_begun {
                self.outcomes[task.node()] = Some(Outcome::InFlight);
            }
        }
    }

    fn queue(&self, draft: &Draft<'_>, tasks: &Tasks) -> Queue<'a> {
        let order = match tasks.graph.order() {
            Ok(order) => order,
            // Dependencies of the program have no cycle, so only a mistake in building tasks could make one.
            Err(cycle) => unreachable!("tasks wait for each other: {cycle:?}"),
        };
        let remaining = tasks.graph.remaining(&order);
        let nodes = tasks.tasks.iter().map(|task| &draft.nodes[task.node()]);
        let parallelism = self.run.options.plan.parallelism;
        Queue::new(&self.run.throttle, self.run.program, parallelism, nodes.zip(remaining))
    }

    /// Begins a task, unless it would delete what cannot be replaced, or what it evaluates misses answers after so many
    /// rounds.
    fn start(
        &self,
        draft: &Draft<'_>,
        task: Task,
        number: TaskIndex,
        rounds: u32,
    ) -> impl Future<Output = Ended> + use<'a> {
        let at = task.node();
        let refused = self.refused.as_ref().filter(|_| matches!(task, Task::DeleteOld(_)));
        let refusal = refused.map(|(invalid, failure)| refusal(draft, at, *invalid, failure));
        let begin = || contained_now(|| begin(self.run, self.writers[at].clone(), draft, task));
        let (begun, missing) = evaluated(&draft.answers, rounds, begin);
        let unanswered = (!missing.is_empty()).then(|| {
            let again = Ended { task: number, rounds: rounds + 1, outcome: None };
            // Boxed, because few programs call functions and each task would have the room for it.
            Box::pin(self.answering(draft, missing, again))
        });
        async move {
            let outcome = match (refusal, unanswered) {
                (Some(failure), _) => Err(TaskError::Failed(failure)),
                (None, Some(unanswered)) => return unanswered.await,
                (None, None) => match begun {
                    Ok(begun) => {
                        contained(begun).await.unwrap_or_else(|panic| Err(Failure::from(panic).into()))
                    }
                    Err(panic) => Err(Failure::from(panic).into()),
                },
            };
            Ended { task: number, rounds: 0, outcome: Some(outcome) }
        }
    }

    /// Hands on how a task ended when functions have answered, or nothing new may start.
    fn answering(
        &self,
        draft: &Draft<'_>,
        missing: BTreeSet<FunctionCall>,
        ended: Ended,
    ) -> impl Future<Output = Ended> + use<'a> {
        let (run, answers) = (self.run, draft.answers.clone());
        async move {
            let answering = pin!(run.calls.answer(&answers, missing));
            select(answering, pin!(run.cancellation.finish.cancelled())).await;
            ended
        }
    }

    /// The next task that ended; `None` if none is running, or if the run is abandoned. What is under way is then left as it
    /// is, and its intents say what may have happened.
    async fn next_finished<T>(&self, running: &mut FuturesUnordered<impl Future<Output = T>>) -> Option<T> {
        let abandon = pin!(self.run.cancellation.abandon.cancelled());
        match select(running.next(), abandon).await {
            Either::Left((finished, _)) => finished,
            Either::Right(_) => None,
        }
    }

    /// Whether nothing new may start.
    pub(super) fn stopping(&self) -> bool {
        let cancelled = self.run.cancellation.finish.is_cancelled() && !planted!(IgnoreCancellation);
        cancelled || self.store_failed.is_some() || (self.failed && self.run.options.fail_fast)
    }

    /// Takes in how a task ended.
    fn take_in(
        &mut self,
        draft: &mut Draft,
        task: Task,
        outcome: Result<TaskResult, TaskError>,
        rounds: u32,
    ) -> Taken {
        match outcome {
            Ok(mut result) => {
                if rounds == 0 {
                    self.run.throttle.succeeded(&draft.nodes[task.node()].provider);
                    self.take_in_result(draft, task, &mut result);
                }
                self.judge(draft, task, result, rounds)
            }
            Err(error) => Taken::In(Some(self.take_in_error(draft, task, error))),
        }
    }

    fn take_in_result(&mut self, draft: &mut Draft, task: Task, result: &mut TaskResult) {
        let at = task.node();
        self.tell_quiet_end(draft, task, result);
        if matches!(task, Task::Precreate(_)) {
            draft.stubbed.insert(at);
        }
        if matches!(task, Task::Precreate(_) | Task::DeleteOld(_)) {
            self.half_done.insert(at);
        }
        if let Some(attributes) = result.attributes.take() {
            if matches!(task, Task::Apply(_)) {
                let bindings = std::mem::take(&mut result.bindings);
                self.used[at] = Some((attributes.inputs().clone(), bindings));
            }
            draft.attributes[at] = Some(attributes);
        }
    }

    /// Holds a task that succeeded to the postconditions of its node, after so many rounds.
    fn judge(&mut self, draft: &Draft, task: Task, result: TaskResult, rounds: u32) -> Taken {
        let at = task.node();
        if matches!(task, Task::Apply(_)) {
            let (wrong, missing) = evaluated(&draft.answers, rounds, || draft.postconditions(at));
            // What could not be judged before the run was stopped is judged by the next plan.
            if !missing.is_empty() && !self.stopping() {
                return Taken::Unjudged(missing, result);
            }
            if wrong.has_errors() {
                // The object is there and recorded; what depends on it must not rely on it.
                let failure = invalid(wrong);
                self.tell_failure(draft, task, &failure);
                self.outcomes[at] = Some(failure.into());
                return Taken::In(Some(draft.nodes[at].address.clone()));
            }
        }
        if matches!(task, Task::Apply(_) | Task::Delete(_)) {
            let action = self.accomplished(draft, at, result.action);
            self.outcomes[at] = Some(Outcome::Done(action));
        }
        Taken::In(None)
    }

    /// What the run has done to a node as a whole, when its last task did this: what was planned counts, not its steps.
    fn accomplished(&self, draft: &Draft, at: NodeIndex, last: Action) -> Action {
        let planned = draft.nodes[at].decision.action;
        match (&self.outcomes[at], last) {
            // What was made or changed and then brought to values that were not known yet is still that (BIND-6).
            (Some(Outcome::Done(before)), Action::Update | Action::NoOp) if *before != Action::NoOp => {
                *before
            }
            // What was deleted first is created by the time its turn comes.
            (_, Action::Create) if planned == Action::Replace => planned,
            // The rest of a stub.
            (_, Action::Update | Action::NoOp)
                if draft.stubbed.contains(&at) && matches!(planned, Action::Create | Action::Replace) =>
            {
                planned
            }
            (_, last) => last,
        }
    }

    fn take_in_error(&mut self, draft: &Draft, task: Task, error: TaskError) -> Address {
        let node = &draft.nodes[task.node()];
        let failure = match error {
            TaskError::Stopped => return node.address.clone(),
            TaskError::Failed(failure) => failure,
            TaskError::Store(error) => {
                let failure = Failure::new(FailureClass::Fatal, error.to_string());
                self.store_failed = Some(error);
                failure
            }
        };
        self.tell_failure(draft, task, &failure);
        // What goes with all its generations is told of once, whichever of them fails.
        let stays = node.is_declared() && !node.is_deleted_first();
        match task {
            Task::CleanUp(_) if stays => self.clean_up_failures.push((node.address.clone(), failure)),
            _ => self.outcomes[task.node()] = Some(failure.into()),
        }
        node.address.clone()
    }

    fn tell_failure(&mut self, draft: &Draft, task: Task, failure: &Failure) {
        self.failed = true;
        let node = &draft.nodes[task.node()];
        let operation = operation_of(task, node.decision.action);
        self.run.emit(Some(&node.address), EventKind::Failed { operation, failure: failure.clone() });
    }

    /// Takes in that a task is not begun, because something that it depends on failed.
    pub(super) fn skip(&mut self, draft: &Draft, task: Task, cause: &Address) {
        let at = task.node();
        if matches!(task, Task::CleanUp(_)) {
            return;
        }
        if draft.nodes[at].address == *cause {
            // Its stub failed, or what it replaces could not be deleted, and that was told.
            return;
        }
        if self.run.may_begin().is_err() {
            // It would not have started either way.
            return;
        }
        self.run.emit(Some(&draft.nodes[at].address), EventKind::Skipped { cause: cause.clone() });
        if self.outcomes[at].is_none() {
            self.outcomes[at] = Some(Outcome::Skipped(cause.clone()));
        }
    }
}

/// Who waits for whom among tasks that have not ended.
struct Dependents<'t> {
    tasks: &'t Tasks,
    /// For each task, how many it still waits for.
    waiting: PerTask<usize>,
    /// For each task, the address that it waits for in vain.
    blocked: PerTask<Option<Address>>,
}

impl<'t> Dependents<'t> {
    fn new(tasks: &'t Tasks) -> Self {
        let waiting = tasks.tasks.indices().map(|it| tasks.graph.dependencies(it).count()).collect();
        Dependents { tasks, waiting, blocked: PerTask::filled(None, tasks.tasks.len()) }
    }

    /// The tasks that wait for nothing.
    fn ready(&self) -> impl Iterator<Item = TaskIndex> {
        self.waiting.indices().filter(|task| self.waiting[*task] == 0)
    }

    /// Whoever waited for a task may start now, or is skipped, and whoever waits for that one.
    fn release(
        &mut self,
        ended: TaskIndex,
        cause: Option<Address>,
        mut start: impl FnMut(TaskIndex),
        mut skip: impl FnMut(TaskIndex, &Address),
    ) {
        let mut settled = vec![(ended, cause)];
        while let Some((task, cause)) = settled.pop() {
            for dependent in self.tasks.graph.dependents(task) {
                self.waiting[dependent] -= 1;
                if self.blocked[dependent].is_none() {
                    self.blocked[dependent].clone_from(&cause);
                }
                if self.waiting[dependent] > 0 {
                    continue;
                }
                match self.blocked[dependent].clone() {
                    None => start(dependent),
                    Some(cause) => {
                        skip(dependent, &cause);
                        settled.push((dependent, Some(cause)));
                    }
                }
            }
        }
    }
}

/// The steps by which a record comes to hold objects of the current schema versions.
fn migrations(was: &Record, is: &Record) -> Vec<Step> {
    let changed = was.generations().zip(is.generations()).filter(|(was, is)| was.object != is.object);
    let step = |is: &Generation| is.object.clone().map(|object| Step::Migrated { number: is.number, object });
    changed.filter_map(|(_, is)| step(is)).collect()
}

/// What a task does. Inputs are evaluated now, when all they refer to is known.
///
/// Each kind has a box of its own: these futures take many kilobytes, and whatever moves them moves all of that.
fn begin<'a>(run: &'a Run<'a>, writer: Arc<RecordWriter>, draft: &Draft, task: Task) -> TaskFuture<'a> {
    match task {
        Task::Precreate(at) => {
            let prepared = prepare::prepare_stub(run, draft, at);
            Box::pin(async move { prepared?.run(run, &writer).await })
        }
        Task::Apply(at) => {
            let prepared = prepare::prepare(run, draft, at);
            Box::pin(async move { prepared?.run(run, &writer).await })
        }
        Task::DeleteOld(_) | Task::Delete(_) | Task::CleanUp(_) => {
            let prepared = delete::prepare(run, draft, task);
            Box::pin(async move { prepared.run(run, &writer).await })
        }
    }
}

type TaskFuture<'a> = Pin<Box<dyn Future<Output = Result<TaskResult, TaskError>> + 'a>>;

/// What is told of a resource that is not deleted because its own replacement, or another one's, is not valid.
fn refusal(draft: &Draft, at: NodeIndex, invalid: NodeIndex, failure: &Failure) -> Failure {
    if at == invalid {
        return failure.clone();
    }
    let message = format!(
        "it is not deleted, because {} could not be made: {}",
        draft.nodes[invalid].address, failure.message
    );
    Failure::new(FailureClass::Conflict, message)
}
