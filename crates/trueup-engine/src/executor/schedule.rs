//! Running tasks as they become ready.
//!
//! One loop owns everything: it starts what is ready, longest remaining chain first, takes results, and tells
//! dependents. A failure stops its dependents alone (APPLY-4). Nothing is spawned, so dropping the loop drops all.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{Either, select, try_join_all};
use futures_util::stream::FuturesUnordered;
use smol_str::SmolStr;
use trueup_core::{Address, Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{Binding, CheckRequest, IdempotencyToken};
use trueup_state::{Generation, Record, Step, StoreError};

use super::queue::Queue;
use super::report::{Outcome, RunReport};
use super::step::Held;
use super::tasks::{Task, Tasks, Used, again_tasks, clean_up_tasks, late_deletes, main_tasks};
use super::{Run, delete, prepare};
use crate::events::{EventKind, Operation};
use crate::mutations::planted;
use crate::plan::{Action, Grant, Plan, ReplaceOrder};
use crate::planner::configure::{is_opened, written};
use crate::planner::node::{Attributes, Start};
use crate::planner::{Draft, Planned};

/// A cycle that has not settled by then alternates.
const CONVERGENCE_ROUNDS_MAX: usize = 10;

/// Why something could not be done.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The operation failed.
    Failed(Failure),
    /// The store failed: nothing more can be recorded.
    Store(StoreError),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failed(failure)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Trouble::Store(error)
    }
}

/// What a task that succeeded came to.
pub(crate) struct Finished {
    pub(crate) action: Action,
    /// What dependents see of it; `None` for a delete.
    pub(crate) attributes: Option<Attributes>,
    /// What was attached to it.
    pub(crate) bindings: Vec<Binding>,
}

/// A run in progress.
struct Progress<'a> {
    run: &'a Run<'a>,
    held: Vec<Arc<Held>>,
    outcomes: Vec<Option<Outcome>>,
    clean_up_failures: Vec<(Address, Failure)>,
    store_failed: Option<StoreError>,
    failed: bool,
    /// Why nothing may be deleted first: what would replace it is not valid.
    refused: Option<(usize, Failure)>,
    /// What each node was applied with: its inputs and bindings.
    used: Vec<Option<(Value, Vec<Binding>)>>,
}

/// Carries a plan out.
pub(crate) async fn execute(run: &Run<'_>, planned: Planned<'_>) -> RunReport {
    let Planned { plan, mut draft } = planned;
    forget_opened(run, &mut draft);
    let announced = announce(run, &plan).await;
    let held = draft.nodes.iter().enumerate().map(|(at, node)| {
        let as_stored = |record: &Arc<Record>| draft.relocation.as_stored(record.clone());
        let record = node.record.as_ref().map(|(record, version)| (as_stored(record), *version));
        let unmigrated =
            node.record.as_ref().and_then(|(it, _)| draft.unmigrated.get(&it.id).map(|was| (was, it)));
        let behind = unmigrated.map(|(was, is)| (as_stored(was), migrations(was, is)));
        Arc::new(Held::new(draft.origin(at), record, behind))
    });
    let mut progress = Progress {
        run,
        held: held.collect(),
        outcomes: vec![None; draft.nodes.len()],
        clean_up_failures: Vec::new(),
        store_failed: announced.err(),
        failed: false,
        refused: validate_delete_first(run, &draft).await,
        used: vec![None; draft.nodes.len()],
    };
    run.ephemerals.kept_during(progress.carry_out(&mut draft)).await;
    for (address, failure) in run.ephemerals.close_all().await {
        progress.fail(&draft, &address, failure);
    }
    progress.conclude(&draft, plan).await
}

/// How many lines of the history are held before they are written. Fewer go with the first step.
const LINES_AT_ONCE: usize = 4096;

/// Tells what was decided. A large plan is never held as text as a whole.
async fn announce(run: &Run<'_>, plan: &Plan) -> Result<(), StoreError> {
    for action in &plan.actions {
        let kind = EventKind::Decision {
            decision: action.decision(),
            changes: action.changes.clone(),
            inputs: action.inputs.clone(),
        };
        run.emit(Some(&action.address), kind);
        if !action.drift.is_empty() {
            run.emit(Some(&action.address), EventKind::DriftDetected { changes: action.drift.clone() });
        }
        if run.journal.noted() >= LINES_AT_ONCE {
            run.journal.flush(None, None).await?;
        }
    }
    Ok(())
}

/// What the plan opened is closed: from here on each value that follows from it is another, and so is each provider's
/// configuration.
fn forget_opened(run: &Run<'_>, draft: &mut Draft<'_>) {
    let config = |draft: &Draft<'_>, name: &str| written(run.program, draft, name).value;
    let names: Vec<SmolStr> = draft.configs.keys().cloned().collect();
    let planned: Vec<Value> = names.iter().map(|name| config(draft, name)).collect();
    draft.applying = true;
    for (name, planned) in names.iter().zip(planned) {
        // What was never known is not forgotten: it may be made up for by what is recorded.
        let known = draft.configs.get(name).is_some_and(Option::is_some);
        if known && (is_opened(run.program, name) || config(draft, name) != planned) {
            draft.configs.insert(name.clone(), None);
            draft.nodes.iter_mut().filter(|it| it.provider == *name).for_each(|it| it.config = None);
        }
    }
}

impl Progress<'_> {
    /// Does all that is planned.
    async fn carry_out(&mut self, draft: &mut Draft<'_>) {
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
        self.hold_provisional_premises(draft);
        self.hold_kept_premises(draft);
        let going = self.going(draft);
        let goes = |at: usize| going[at] && !self.stopping();
        let clean_up = clean_up_tasks(draft, goes, |task| self.used_by_what_goes(task));
        self.run_tasks(draft, &clean_up).await;
    }

    /// Takes in that something went wrong beside all tasks.
    fn fail(&mut self, draft: &Draft<'_>, address: &Address, failure: Failure) {
        let Some(at) = draft.index.get(address) else { return };
        self.failed = true;
        let operation = Operation::Read;
        self.run.emit(Some(address), EventKind::Failed { operation, failure: failure.clone() });
        self.outcomes[*at] = Some(failure.into());
    }
    /// Makes moves durable before anything else happens (MOVE-1). All of them take part in one commit: between two, a
    /// record would depend on an address that no record has.
    async fn relocate(&mut self, draft: &Draft<'_>) {
        let moves = draft.nodes.iter().zip(&self.held).filter_map(|(node, held)| {
            let (record, _) = node.record.as_ref()?;
            let original = draft.relocation.originals.get(&record.id)?;
            let mut steps = Vec::new();
            if original.record.address != record.address {
                steps.push(Step::Moved { to: record.address.clone() });
            }
            if !original.relinked.is_empty() {
                steps.push(Step::Relinked { moved: original.relinked.clone() });
            }
            Some(held.steps(self.run, steps))
        });
        if let Err(error) = try_join_all(moves).await {
            self.failed = true;
            self.store_failed = Some(error);
        }
    }

    /// The second pass (BIND-6): what was applied with values that have changed since is reconciled once more, in
    /// place, until nothing changes.
    async fn converge(&mut self, draft: &mut Draft<'_>) {
        if draft.loose.is_empty() {
            return;
        }
        for _ in 0..CONVERGENCE_ROUNDS_MAX {
            let changed = self.outdated(draft);
            if changed.is_empty() || self.stopping() {
                return;
            }
            for &at in &changed {
                let decision = &mut draft.nodes[at].decision;
                decision.start = Start::Record;
                decision.action =
                    if decision.action.grant() == Grant::NoOp { Action::NoOp } else { Action::Update };
            }
            let tasks = again_tasks(draft, &changed);
            self.run_tasks(draft, &tasks).await;
        }
        for at in self.outdated(draft) {
            let (before, bound_before) = self.used[at].clone().unwrap_or_default();
            let (after, bound_after) = prepare::resolved(draft, at).unwrap_or_default();
            let message = match before == after {
                false => format!("it does not settle: its inputs alternate between {before} and {after}"),
                true => format!(
                    "it does not settle: its bindings alternate between {} and {}",
                    shown(&bound_before),
                    shown(&bound_after)
                ),
            };
            let failure =
                Failure::new(FailureClass::Conflict, message).hint("remove one of the bindings of the cycle");
            self.failed = true;
            self.outcomes[at] = Some(failure.into());
        }
    }

    /// What was applied with values that stood in for others is held to the plan when those are settled (PLANFILE-3).
    fn hold_provisional_premises(&mut self, draft: &Draft<'_>) {
        for &at in draft.provisional.iter().filter(|_| self.run.bound) {
            let done = matches!(self.outcomes[at], Some(Outcome::Done(_)));
            let Some(inputs) = prepare::resolved_inputs(draft, at).filter(|_| done) else { continue };
            if let Err(failure) = prepare::hold_premise(&draft.nodes[at], &inputs) {
                self.failed = true;
                self.outcomes[at] = Some(failure.into());
            }
        }
    }

    /// What was to stay as it is follows from values that were to stay too. Where one of them changed all the same, it is
    /// out of date, and only another plan may bring it along (UNKNOWN-13).
    fn hold_kept_premises(&mut self, draft: &Draft<'_>) {
        let changed =
            |at: usize| matches!(&self.outcomes[at], Some(Outcome::Done(it)) if *it != Action::NoOp);
        let kept = |at: &usize| {
            let node = &draft.nodes[*at];
            let stays = node.is_declared() && node.decision.action == Action::NoOp && node.record.is_some();
            let undisturbed = matches!(self.outcomes[*at], None | Some(Outcome::Done(Action::NoOp)));
            stays && undisturbed && draft.upstream(*at).any(changed)
        };
        let stale: Vec<(usize, Failure)> = (0..draft.nodes.len())
            // What a saved plan does not look at again stays all the same; what the run was told to leave out may not.
            .filter(|at| (draft.selection.contains(*at) || !draft.selection.is_partial()) && kept(at))
            .filter_map(|at| {
                let node = &draft.nodes[at];
                let now = prepare::resolved_inputs(draft, at)?;
                let (_, bindings) = prepare::resolved(draft, at)?;
                let held =
                    prepare::hold_premise(node, &now).and_then(|()| prepare::hold_bindings(node, &bindings));
                held.err().map(|failure| (at, failure))
            })
            .collect();
        for (at, failure) in stale {
            let address = draft.nodes[at].address.clone();
            self.fail(draft, &address, failure);
        }
    }

    /// The nodes that were applied with other inputs or bindings than they would be now.
    fn outdated(&self, draft: &Draft) -> Vec<usize> {
        let stale = |at: &usize| match (&self.used[*at], &self.outcomes[*at]) {
            (Some((inputs, bindings)), Some(Outcome::Done(_))) => prepare::resolved(draft, *at)
                .is_some_and(|(now, bound)| !now.same(inputs) || bound != *bindings),
            _ => false,
        };
        draft.order.iter().copied().filter(stale).collect()
    }

    async fn run_tasks(&mut self, draft: &mut Draft<'_>, tasks: &Tasks) {
        let order = match tasks.graph.order() {
            Ok(order) => order,
            // Dependencies of the program have no cycle, so only a mistake in building tasks could make one.
            Err(cycle) => unreachable!("tasks wait for each other: {cycle:?}"),
        };
        let remaining = tasks.graph.remaining(&order);
        let mut waiting: Vec<usize> =
            (0..tasks.tasks.len()).map(|it| tasks.graph.dependencies(it).count()).collect();
        let mut blocked: Vec<Option<Address>> = vec![None; tasks.tasks.len()];
        let mut running = FuturesUnordered::new();
        let nodes = tasks.tasks.iter().map(|task| &draft.nodes[task.node()]);
        let parallelism = self.run.options.plan.parallelism;
        let mut queue = Queue::new(&self.run.limits, self.run.program, parallelism, nodes.zip(remaining));
        (0..tasks.tasks.len()).filter(|task| waiting[*task] == 0).for_each(|task| queue.push(task));
        loop {
            while !self.stopping() {
                let Some(task) = queue.start() else { break };
                let at = tasks.tasks[task].node();
                let refused =
                    self.refused.as_ref().filter(|_| matches!(tasks.tasks[task], Task::DeleteOld(_)));
                let refusal = refused.map(|(invalid, failure)| refusal(draft, at, *invalid, failure));
                let future = begin(self.run, self.held[at].clone(), draft, tasks.tasks[task]);
                let future = async move {
                    match refusal {
                        Some(failure) => Err(Trouble::Failed(failure)),
                        None => future.await,
                    }
                };
                running.push(async move { (task, future.await) });
            }
            let finished = {
                let abandon = std::pin::pin!(self.run.cancellation.abandon.cancelled());
                match select(running.next(), abandon).await {
                    Either::Left((finished, _)) => finished,
                    // What is under way is left as it is; its intents say what may have happened.
                    Either::Right(_) => return,
                }
            };
            let Some((task, outcome)) = finished else { break };
            if outcome.is_ok() {
                self.run.limits.succeeded(&draft.nodes[tasks.tasks[task].node()].address);
            }
            queue.ended(task);
            let cause = self.finish(draft, tasks.tasks[task], outcome);
            // Whoever waited may start now, or is skipped, and whoever waits for that one.
            let mut settled = vec![(task, cause)];
            while let Some((task, cause)) = settled.pop() {
                for dependent in tasks.graph.dependents(task) {
                    waiting[dependent] -= 1;
                    if blocked[dependent].is_none() {
                        blocked[dependent].clone_from(&cause);
                    }
                    if waiting[dependent] > 0 {
                        continue;
                    }
                    match blocked[dependent].clone() {
                        None => queue.push(dependent),
                        Some(cause) => {
                            self.skip(draft, tasks.tasks[dependent], &cause);
                            settled.push((dependent, Some(cause)));
                        }
                    }
                }
            }
        }
    }

    /// Whether nothing new may start.
    fn stopping(&self) -> bool {
        let cancelled = self.run.cancellation.finish.is_cancelled() && !planted!(IgnoreCancellation);
        cancelled || self.store_failed.is_some() || (self.failed && self.run.options.fail_fast)
    }

    /// Takes a result in; the address that others were waiting for in vain, if it failed.
    fn finish(
        &mut self,
        draft: &mut Draft,
        task: Task,
        outcome: Result<Finished, Trouble>,
    ) -> Option<Address> {
        let at = task.node();
        let address = draft.nodes[at].address.clone();
        match outcome {
            Ok(finished) => {
                self.tell_quiet_end(draft, task, &finished);
                if matches!(task, Task::Precreate(_)) {
                    draft.stubbed.insert(at);
                }
                if let Some(attributes) = finished.attributes {
                    if matches!(task, Task::Apply(_)) {
                        self.used[at] = Some((attributes.inputs().clone(), finished.bindings));
                    }
                    draft.attributes[at] = Some(attributes);
                }
                if matches!(task, Task::Apply(_)) {
                    let wrong = draft.postconditions(at);
                    if wrong.has_errors() {
                        // The object is there and recorded; what depends on it must not rely on it.
                        let failure = prepare::invalid(wrong);
                        self.failed = true;
                        let operation = operation_of(task, draft.nodes[at].decision.action);
                        self.run
                            .emit(Some(&address), EventKind::Failed { operation, failure: failure.clone() });
                        self.outcomes[at] = Some(failure.into());
                        return Some(address);
                    }
                }
                if matches!(task, Task::Apply(_) | Task::Delete(_)) {
                    self.outcomes[at] = Some(Outcome::Done(finished.action));
                }
                None
            }
            Err(trouble) => {
                let failure = match trouble {
                    Trouble::Failed(failure) => failure,
                    Trouble::Store(error) => {
                        let failure = Failure::new(FailureClass::Fatal, error.to_string());
                        self.store_failed = Some(error);
                        failure
                    }
                };
                self.failed = true;
                let operation = operation_of(task, draft.nodes[at].decision.action);
                self.run.emit(Some(&address), EventKind::Failed { operation, failure: failure.clone() });
                // What goes with all its generations is told of once, whichever of them fails.
                let stays = draft.nodes[at].is_declared() && !draft.nodes[at].is_deleted_first();
                match task {
                    Task::CleanUp(_) if stays => self.clean_up_failures.push((address.clone(), failure)),
                    _ => self.outcomes[at] = Some(failure.into()),
                }
                Some(address)
            }
        }
    }

    /// What the generations that a task of the clean-up deletes may use.
    fn used_by_what_goes(&self, task: Task) -> Used {
        let Some(record) = self.held[task.node()].record() else { return Used::default() };
        let goes = |it: &&Generation| !matches!(task, Task::CleanUp(_)) || record.deposed.contains(it);
        let mut used = Used::default();
        for generation in record.generations().filter(goes) {
            match &generation.dependencies {
                Some(own) => used.firm.extend(own.iter().cloned()),
                None => {
                    used.firm.extend(record.meta.firm_dependencies().cloned());
                    used.circular.extend(record.meta.circular.iter().cloned());
                }
            }
        }
        used
    }

    /// Operations tell of their own end; what was planned and ended without one is told here.
    fn tell_quiet_end(&self, draft: &Draft, task: Task, finished: &Finished) {
        let node = &draft.nodes[task.node()];
        let kind = match (task, node.decision.action, finished.action) {
            _ if node.is_ephemeral() => return,
            (Task::Apply(_), Action::Read, _) => EventKind::Completed(Operation::Read),
            (Task::Apply(_), planned, Action::NoOp) if planned != Action::NoOp => EventKind::Unchanged,
            _ => return,
        };
        self.run.emit(Some(&node.address), kind);
    }

    fn skip(&mut self, draft: &Draft, task: Task, cause: &Address) {
        let at = task.node();
        if matches!(task, Task::CleanUp(_)) {
            return;
        }
        self.run.emit(Some(&draft.nodes[at].address), EventKind::Skipped { cause: cause.clone() });
        if self.outcomes[at].is_none() {
            self.outcomes[at] = Some(Outcome::Skipped(cause.clone()));
        }
    }

    /// What goes in the clean-up: older generations, and what waits for these (DELETE-3). Nothing that something uses which
    /// has to stay.
    fn going(&mut self, draft: &Draft) -> Vec<bool> {
        let late = late_deletes(draft);
        let (nodes, outcomes) = (0..draft.nodes.len(), &self.outcomes);
        let is_undone = |user: &usize| match &outcomes[*user] {
            None => draft.nodes[*user].decision.action != Action::NoOp && !late[*user],
            Some(outcome) => !matches!(outcome, Outcome::Done(_)),
        };
        let mut going: Vec<bool> = nodes.clone().map(|at| late[at] || self.may_clean_up(draft, at)).collect();
        let mut causes: Vec<Option<usize>> = vec![None; draft.nodes.len()];
        for at in nodes.clone().filter(|at| late[*at]) {
            causes[at] = draft.recorded_graph.dependents(at).find(is_undone);
            going[at] = causes[at].is_none();
        }
        let waits = |at: usize| late[at] || !self.held[at].deposed().is_empty();
        let mut staying: Vec<usize> = nodes.filter(|at| waits(*at) && !going[*at]).collect();
        while let Some(user) = staying.pop() {
            let used = draft.recorded_graph.dependencies(user).chain(draft.upstream(user));
            for at in used.filter(|at| *at != user) {
                if std::mem::replace(&mut going[at], false) {
                    causes[at] = Some(user);
                    staying.push(at);
                }
            }
        }
        for (at, cause) in causes.iter().enumerate().filter(|(at, _)| late[*at]) {
            if let Some(cause) = cause {
                self.skip(draft, Task::Delete(at), &draft.nodes[*cause].address.clone());
            }
        }
        going
    }

    /// Whether the older generations of a node may go: it and all that used them are done (REPLACE-5).
    fn may_clean_up(&self, draft: &Draft, at: usize) -> bool {
        let node = &draft.nodes[at];
        if !node.is_declared() || self.held[at].deposed().is_empty() {
            return false;
        }
        let settled = |other: usize| match &self.outcomes[other] {
            _ if planted!(CleanUpEarly) => true,
            // What is no longer declared, and kept for the sake of something that is left out, uses what it used.
            None => draft.nodes[other].is_declared() || draft.nodes[other].decision.action != Action::NoOp,
            Some(outcome) => matches!(outcome, Outcome::Done(_)),
        };
        let selected = |other: usize| draft.selection.contains(other);
        // Who used it when it was last recorded uses it still, unless its own change is done.
        let mut users = draft.downstream(at).chain(draft.recorded_graph.dependents(at));
        selected(at)
            && settled(at)
            && users.all(|other| selected(other) && settled(other))
            && !self.stopping()
    }

    async fn conclude(mut self, draft: &Draft<'_>, plan: Plan) -> RunReport {
        let run = self.run;
        let mut outcomes: Vec<(Address, Outcome)> = Vec::new();
        for (at, node) in draft.nodes.iter().enumerate() {
            match self.outcomes[at].take() {
                // Of what is opened for a run, only what went wrong is worth a word.
                outcome if node.is_ephemeral() && !matches!(outcome, Some(Outcome::Failed(_))) => {}
                Some(outcome) => outcomes.push((node.address.clone(), outcome)),
                None if node.decision.action != Action::NoOp => {
                    outcomes.push((node.address.clone(), Outcome::NotStarted));
                }
                None => {}
            }
        }
        outcomes.extend(self.clean_up_failures.drain(..).map(|(address, it)| (address, it.into())));
        outcomes.sort_by(|left, right| left.0.cmp(&right.0));
        let mut report = RunReport {
            run: run.run.to_string(),
            plan,
            outcomes,
            store_failure: self.store_failed.take(),
            outputs: None,
            warnings: Vec::new(),
        };
        report.warnings.extend(unsaid(&report.plan, &run.warned.take()));
        let cancelled = run.cancellation.finish.is_cancelled();
        if report.succeeded() && !cancelled && !draft.selection.is_partial() {
            match stack_outputs(run, draft) {
                Ok(outputs) => report.outputs = Some(outputs),
                Err(wrong) => report.warnings.extend(wrong.iter().map(ToString::to_string)),
            }
            let found = if run.destroy { Diagnostics::new() } else { draft.checks(run.program) };
            report.warnings.extend(unsaid(&report.plan, &found));
        }
        run.emit(None, EventKind::RunFinished { succeeded: report.succeeded() });
        if report.store_failure.is_none() {
            let records: Vec<Arc<Record>> = self.held.iter().filter_map(|held| held.record()).collect();
            let used = run.recorded.without_unused(records.iter().map(|record| &**record));
            report.store_failure = run.journal.flush(report.outputs.clone(), used).await.err();
        }
        report
    }
}

/// The nodes that are in a cycle which was opened, or depend on one.
fn provisional(draft: &Draft<'_>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut reached: Vec<usize> = draft.loose.iter().map(|(from, _)| *from).collect();
    while let Some(at) = reached.pop() {
        if found.insert(at) {
            reached.extend(draft.graph.dependents(at));
        }
    }
    found
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
fn begin<'a>(run: &'a Run<'a>, held: Arc<Held>, draft: &Draft, task: Task) -> Doing<'a> {
    match task {
        Task::Precreate(at) => {
            let prepared = prepare::prepare_stub(run, draft, at);
            Box::pin(async move { prepared?.run(run, &held).await })
        }
        Task::Apply(at) => {
            let prepared = prepare::prepare(run, draft, at);
            Box::pin(async move { prepared?.run(run, &held).await })
        }
        Task::DeleteOld(_) | Task::Delete(_) | Task::CleanUp(_) => {
            let admitted = delete::admit(run, draft, task);
            let prepared = delete::prepare(run, draft, task);
            Box::pin(async move {
                admitted?;
                prepared.run(run, &held).await
            })
        }
    }
}

type Doing<'a> = Pin<Box<dyn Future<Output = Result<Finished, Trouble>> + 'a>>;

/// Judges the known inputs of all that is to be deleted first, before any of it is (REPLACE-2, CRUD-7).
async fn validate_delete_first(run: &Run<'_>, draft: &Draft<'_>) -> Option<(usize, Failure)> {
    for (at, node) in draft.nodes.iter().enumerate() {
        let replaced = node.decision.order == Some(ReplaceOrder::DeleteFirst) && draft.selection.contains(at);
        let (true, Some(handler), Some(config), Some(desired)) =
            (replaced, node.handler(), &node.config, &node.desired)
        else {
            continue;
        };
        if !desired.effective.is_wholly_known() {
            continue;
        }
        let context = run.context(&node.address, &node.address, 0, 0, IdempotencyToken::from_bytes([0; 16]));
        let request = CheckRequest { config, desired, context: &context };
        if let Err(failure) = run.bounded(run.options.plan.timeout, handler.check(request)).await {
            return Some((at, failure));
        }
    }
    None
}

/// What is told of a resource that is not deleted because its own replacement, or another one's, is not valid.
fn refusal(draft: &Draft, at: usize, invalid: usize, failure: &Failure) -> Failure {
    if at == invalid {
        return failure.clone();
    }
    let message =
        format!("it is not deleted, because {} could not be made: {failure}", draft.nodes[invalid].address);
    Failure::new(FailureClass::Conflict, message)
}

/// What a failed task was about.
fn operation_of(task: Task, action: Action) -> Operation {
    match (task, action) {
        (Task::Precreate(_), _) | (Task::Apply(_), Action::Create | Action::Replace | Action::MayReplace) => {
            Operation::Create
        }
        (Task::Apply(_), Action::Read) => Operation::Read,
        (Task::Apply(_), _) => Operation::Update,
        _ => Operation::Delete,
    }
}

/// The stack's outputs, on real values (APPLY-12).
fn stack_outputs(run: &Run<'_>, draft: &Draft) -> Result<Value, Diagnostics> {
    let scope = draft.known();
    let mut diagnostics = Diagnostics::new();
    let mut outputs = Vec::new();
    for declared in &run.program.outputs {
        let evaluated = declared.value.evaluate(&scope);
        diagnostics.extend(evaluated.diagnostics);
        outputs.push((declared.name.clone(), evaluated.value.into_secret_if(declared.secret)));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(Value::object(outputs)) }
}

/// What the plan said already need not be said again.
fn unsaid(plan: &Plan, found: &Diagnostics) -> Vec<String> {
    let news = found.iter().filter(|it| !plan.warnings.iter().any(|told| told == *it));
    news.map(ToString::to_string).collect()
}

/// Bindings as a message quotes them. Secret payloads are hidden.
fn shown(bindings: &[Binding]) -> String {
    let each: Vec<String> = bindings.iter().map(|it| format!("{} = {}", it.key, it.payload)).collect();
    format!("{{ {} }}", each.join(", "))
}
