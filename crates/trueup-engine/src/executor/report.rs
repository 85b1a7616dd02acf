//! The report of a run, and the events at its beginning and end.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use trueup_core::{Address, Diagnostics, Failure, Value};
use trueup_provider::Recovery;
use trueup_state::{Record, StoreError};

use super::Run;
use super::run_loop::Progress;
use super::tasks::{Task, TaskResult};
use crate::call::contained_now;
use crate::draft::Draft;
use crate::events::{EventKind, Operation};
use crate::failures::outcome_unknown;
use crate::outputs::stack_outputs;
use crate::plan::{Action, Plan};

/// How one resource ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// This was done, and is recorded.
    Done(Action),
    /// It failed. Boxed, because there are many outcomes and few failures.
    Failed(Box<Failure>),
    /// It was not begun, because this failed.
    Skipped(Address),
    /// It was not begun, because the run was stopped.
    NotStarted,
    /// It was begun and not finished: the run did not wait for its end, or stopped half way. The next run takes it up.
    InFlight,
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(Box::new(failure))
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The run.
    pub run: String,
    /// What was planned.
    pub plan: Plan,
    /// How each resource with something to do ended, in the order of their addresses. A clean-up of older generations
    /// that failed is listed beside what happened to the resource itself.
    pub outcomes: Vec<(Address, Outcome)>,
    /// Why nothing more could be recorded, if that is what ended the run.
    pub store_failure: Option<StoreError>,
    /// The stack's outputs, if the run succeeded.
    pub outputs: Option<Value>,
    /// What to tell the user, short of an error.
    pub warnings: Vec<String>,
    /// Why the lease could not be released. It expires by itself.
    pub unreleased: Option<StoreError>,
    /// How many of the older generations that the plan knew of are gone.
    pub cleaned_up: usize,
    /// Creates of which only a person can find out what came of them, with what to do (CRASH-1).
    pub unresolved: Vec<(Address, String)>,
}

impl RunReport {
    /// Whether all that was planned was done.
    pub fn succeeded(&self) -> bool {
        let done = self.outcomes.iter().all(|(_, outcome)| matches!(outcome, Outcome::Done(_)));
        done && self.store_failure.is_none()
    }

    /// Takes in that the lease could not be given back. It expires by itself; only a state that is gone fails the run.
    pub(crate) fn not_released(&mut self, error: StoreError) {
        match error {
            StoreError::TakenAway { .. } => self.store_failure = Some(error),
            _ => self.unreleased = Some(error),
        }
    }

    /// How a resource ended.
    pub fn outcome(&self, address: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|(own, _)| own.to_string() == address).map(|(_, outcome)| outcome)
    }
}

/// How many lines of the history are held before they are written. Fewer go with the first step.
const LINES_AT_ONCE: usize = 4096;

/// Tells what was decided. A large plan is never held as text as a whole.
pub(super) async fn announce(run: &Run<'_>, plan: &Plan) -> Result<(), StoreError> {
    for action in &plan.actions {
        run.emit(Some(&action.address), EventKind::decided(action));
        if let Some(drift) = EventKind::drifted(action) {
            run.emit(Some(&action.address), drift);
        }
        if run.journal.noted() >= LINES_AT_ONCE {
            run.journal.flush(None, None).await?;
        }
    }
    Ok(())
}

impl Progress<'_> {
    pub(super) async fn conclude(mut self, draft: &Draft<'_>, plan: Plan) -> RunReport {
        let run = self.run;
        let mut outcomes: Vec<(Address, Outcome)> = Vec::new();
        for (at, node) in draft.nodes.enumerate() {
            match self.outcomes[at].take() {
                // Of what is opened for a run, only what went wrong is worth a word.
                outcome if node.is_ephemeral() && !matches!(outcome, Some(Outcome::Failed(_))) => {}
                Some(outcome) => outcomes.push((node.address.clone(), outcome)),
                None if self.half_done.contains(&at) => {
                    outcomes.push((node.address.clone(), Outcome::InFlight));
                }
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
            unreleased: None,
            unresolved: self.unresolved(draft),
            cleaned_up: 0,
        };
        report.cleaned_up = self.cleaned_up(draft, &report.plan);
        report.warnings.extend(unsaid(&report.plan, &run.calls.warnings.take()));
        let cancelled = run.cancellation.finish.is_cancelled();
        if report.succeeded() && !cancelled && !draft.selection.is_partial() {
            let concluding = pin!(async {
                let outputs = stack_outputs(&run.calls, run.program, run.kind, draft).await;
                let found = match run.kind.is_destroy() {
                    true => Diagnostics::new(),
                    false => run.calls.answered(&draft.answers, || draft.checks(run.program)).await,
                };
                (outputs, found)
            });
            // A run that is stopped waits for no function of a provider.
            let stopped = pin!(run.cancellation.finish.cancelled());
            if let Either::Left(((outputs, found), _)) = select(concluding, stopped).await {
                match outputs {
                    Ok(outputs) => report.outputs = Some(outputs),
                    Err(wrong) => report.warnings.extend(wrong.iter().map(ToString::to_string)),
                }
                report.warnings.extend(unsaid(&report.plan, &found));
            }
        }
        run.emit(None, EventKind::RunFinished { succeeded: report.succeeded() });
        if report.store_failure.is_none() {
            let records: Vec<Arc<Record>> =
                self.writers.iter().filter_map(|writer| writer.record()).collect();
            let used = run.recorded.without_unused(records.iter().map(|record| &**record));
            report.store_failure = run.journal.flush(report.outputs.clone(), used).await.err();
        }
        report
    }

    /// How many of the older generations that the plan knew of are gone.
    fn cleaned_up(&self, draft: &Draft<'_>, plan: &Plan) -> usize {
        let planned = plan.actions.iter().filter(|action| !action.deposed.is_empty());
        let gone = planned.filter_map(|action| {
            let record = self.writers[*draft.index.get(&action.address)?].record();
            let left: Vec<_> = record.iter().flat_map(|it| &it.deposed).map(|it| it.number).collect();
            Some(action.deposed.iter().filter(|number| !left.contains(number)).count())
        });
        gone.sum()
    }

    /// What the next run will not be able to find out by itself.
    fn unresolved(&self, draft: &Draft<'_>) -> Vec<(Address, String)> {
        let unresolved = draft.nodes.enumerate().filter_map(|(at, node)| {
            let record = self.writers[at].record()?;
            let current = record.current.as_ref().filter(|it| it.is_interrupted())?;
            let (handler, inputs) = (node.handler()?, current.inputs()?);
            let recovery = contained_now(|| handler.recovery(&inputs.effective)).ok()?;
            let hints = outcome_unknown(&node.address, handler.traits()).hints;
            (recovery == Recovery::Blind).then(|| (node.address.clone(), hints.join("; ")))
        });
        unresolved.collect()
    }

    /// Operations tell of their own end; what was planned and ended without one is told here.
    pub(super) fn tell_quiet_end(&self, draft: &Draft, task: Task, finished: &TaskResult) {
        let node = &draft.nodes[task.node()];
        let kind = match (task, node.decision.action, finished.action) {
            _ if node.is_ephemeral() => return,
            (Task::Apply(_), Action::Read, _) => {
                let outputs = finished.attributes.as_ref().map(|it| it.outputs().clone());
                EventKind::Completed { operation: Operation::Read, outputs: outputs.unwrap_or_default() }
            }
            (Task::Apply(_), planned, Action::NoOp) if planned != Action::NoOp => EventKind::Unchanged,
            _ => return,
        };
        self.run.emit(Some(&node.address), kind);
    }

    /// Takes in that something went wrong beside all tasks.
    pub(super) fn fail(&mut self, draft: &Draft<'_>, address: &Address, failure: Failure) {
        let Some(at) = draft.index.get(address) else { return };
        self.failed = true;
        let operation = Operation::Read;
        self.run.emit(Some(address), EventKind::Failed { operation, failure: failure.clone() });
        self.outcomes[*at] = Some(failure.into());
    }
}

/// What the plan said already need not be said again.
fn unsaid(plan: &Plan, found: &Diagnostics) -> Vec<String> {
    let news = found.iter().filter(|it| !plan.warnings.iter().any(|told| told == *it));
    news.map(ToString::to_string).collect()
}
