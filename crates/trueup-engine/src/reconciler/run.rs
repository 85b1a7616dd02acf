//! A run: the plan is approved, the lease taken, and the plan carried out or made again.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use smol_str::SmolStr;
use trueup_program::Program;
use trueup_state::{HeldLease, Holder as LeaseHolder, Record, RecordId, Scope, Snapshot, Status, Version};

use super::{Deployed, EngineError, Reconciler};
use crate::call::{RunCalls, Throttle};
use crate::draft::ExecutablePlan;
use crate::ephemeral::Ephemerals;
use crate::events::{Event, EventKind, RunEvents};
use crate::executor::{Cancellation, Run, RunReport, execute};
use crate::journal::Journal;
use crate::lease::RunLease;
use crate::lease_reason::LeaseReason;
use crate::mutations::planted;
use crate::options::{DeployOptions, Holder};
use crate::plan::Plan;
use crate::planner::{self, Trace};
use crate::run_kind::RunKind;

/// How long a run may take from its plan to its lease without looking again for what it is to create.
const WAIT_COUNTS: Duration = Duration::from_secs(1);

/// The terms on which a plan is carried out.
#[derive(Clone, Copy)]
pub(crate) struct RunTerms {
    pub(crate) kind: RunKind,
    /// Whether what was known when the plan was made must come out so (PLANFILE-3).
    pub(crate) bound: bool,
    /// Whether others had time to make something between the plan and the lease.
    pub(crate) waited: bool,
}

/// All that a plan is carried out with.
#[derive(Clone, Copy)]
pub(crate) struct Execution<'a> {
    pub(crate) lease: &'a RunLease,
    pub(crate) program: &'a Program,
    pub(crate) options: &'a DeployOptions,
    pub(crate) cancellation: &'a Cancellation,
    pub(crate) run: &'a SmolStr,
    pub(crate) terms: RunTerms,
}

/// The versions a plan was made from.
struct ReadSet {
    versions: Vec<(RecordId, Version)>,
    /// Whether an operation had begun and not ended: another run may have had it in flight.
    unfinished: bool,
}

impl ReadSet {
    fn of(snapshot: &Snapshot) -> Self {
        let unfinished = |record: &Record| record.generations().any(|it| it.status != Status::Ready);
        ReadSet {
            versions: snapshot.records.iter().map(|(record, version)| (record.id, *version)).collect(),
            unfinished: snapshot.records.iter().any(|(record, _)| unfinished(record)),
        }
    }
}

/// Why a plan was refused.
struct PlanError {
    error: EngineError,
    /// Whether a provider did not answer in time. That says nothing of the records: another plan from newer ones would wait
    /// for it again.
    timed_out: bool,
}

impl From<PlanError> for EngineError {
    fn from(refused: PlanError) -> Self {
        refused.error
    }
}

impl Reconciler {
    /// Plans, has the plan approved, and carries it out under the lease.
    pub(super) async fn run(
        &self,
        program: &Program,
        options: &DeployOptions,
        cancellation: &Cancellation,
        kind: RunKind,
        approve: &mut dyn FnMut(&Plan) -> bool,
    ) -> Result<Deployed, EngineError> {
        let scope = Scope::new(program.stack.clone(), options.plan.stage.clone());
        let run = self.fresh_run();
        loop {
            let snapshot = self.recorded(&scope, &options.plan).await?;
            let read = ReadSet::of(&snapshot);
            let planned = match self.planned_from(snapshot, program, options, kind).await {
                Err(PlanError { error: EngineError::Unsound(_), timed_out: false })
                    if !options.dry_run && (read.unfinished || self.has_changed(&scope, &read).await?) =>
                {
                    self.planned_alone(&scope, program, options, &run, kind).await?
                }
                planned => planned?,
            };
            let looked_by = self.clock.now();
            if options.dry_run {
                self.announce(&planned.plan, &run);
                return Ok(Deployed::Planned(Box::new(planned.plan)));
            }
            if !approve(&planned.plan) {
                return Ok(Deployed::Planned(Box::new(planned.plan)));
            }
            let lease = self.take_lease(&scope, options, &run, kind).await?;
            let waited = self.clock.now().duration_since(looked_by).is_ok_and(|it| it >= WAIT_COUNTS);
            let outcome = match self.store.versions(&scope).await {
                Ok(recorded) if !planned.plan.follows_from(&recorded) && !planted!(ApplyStalePlan) => {
                    Ok(None)
                }
                Ok(_) => {
                    let terms = RunTerms { kind, bound: false, waited };
                    let with = Execution { lease: &lease, program, options, cancellation, run: &run, terms };
                    let executing = self.execute(with, planned);
                    let ran = lease.kept_during(async { Ok(executing.await) }).await;
                    ran.map(|report| Some(Deployed::Ran(Box::new(report))))
                }
                Err(error) => Err(error.into()),
            };
            // What was lost to another run need not be given back; what cannot be given back expires by itself. How the run
            // went must be told all the same.
            let released = lease.release().await;
            if let Some(mut deployed) = outcome? {
                if let (Deployed::Ran(report), Err(error)) = (&mut deployed, released) {
                    report.not_released(error);
                }
                return Ok(deployed);
            }
        }
    }

    /// Plans from records that were read under the lease, when no other run had an operation in flight (STATE-12). Repeats
    /// that while other runs change the records during the plan, since their operations may be what it was refused for.
    async fn planned_alone<'p>(
        &'p self,
        scope: &Scope,
        program: &'p Program,
        options: &'p DeployOptions,
        run: &SmolStr,
        kind: RunKind,
    ) -> Result<ExecutablePlan<'p>, EngineError> {
        loop {
            let lease = self.take_lease(scope, options, run, kind).await?;
            let loaded = self.store.load(scope).await;
            // Nothing was done under it, and what cannot be given back expires by itself.
            drop(lease.release().await);
            let snapshot = loaded?;
            let read = ReadSet::of(&snapshot);
            match self.planned_from(snapshot, program, options, kind).await {
                Err(PlanError { error: EngineError::Unsound(_), timed_out: false })
                    if self.has_changed(scope, &read).await? => {}
                planned => return Ok(planned?),
            }
        }
    }

    async fn planned_from<'p>(
        &'p self,
        snapshot: Snapshot,
        program: &'p Program,
        options: &'p DeployOptions,
        kind: RunKind,
    ) -> Result<ExecutablePlan<'p>, PlanError> {
        let sources = self.sources(program, &options.plan, kind);
        let planned = Box::pin(planner::plan(&sources, snapshot, &mut Trace::default())).await;
        planned.map_err(|wrong| PlanError { error: wrong.into(), timed_out: sources.calls.has_timed_out() })
    }

    async fn has_changed(&self, scope: &Scope, read: &ReadSet) -> Result<bool, EngineError> {
        Ok(self.store.versions(scope).await? != read.versions)
    }

    pub(crate) async fn take_lease(
        &self,
        scope: &Scope,
        options: &DeployOptions,
        run: &SmolStr,
        kind: RunKind,
    ) -> Result<RunLease, EngineError> {
        self.take_lease_for(scope, options, run, LeaseReason::Run(kind)).await
    }

    /// Takes the lease. Whoever waits for it is told for whom, once for each holder.
    pub(crate) async fn take_lease_for(
        &self,
        scope: &Scope,
        options: &DeployOptions,
        run: &SmolStr,
        reason: LeaseReason,
    ) -> Result<RunLease, EngineError> {
        assert!(options.plan.assumed.is_none(), "a plan from assumed records is never carried out");
        let Holder { user, host } = options.holder.clone();
        let holder = LeaseHolder { run: run.to_string(), user, host, reason: reason.name().to_owned() };
        let mut told = None;
        let waiting = |held: &HeldLease| {
            if options.wait && told.as_ref() != Some(&held.token) {
                told = Some(held.token);
                self.events.emit(Event {
                    sequence: None,
                    at: self.clock.now(),
                    scope: scope.clone(),
                    run: run.clone(),
                    resource: None,
                    kind: EventKind::Waiting { holder: held.holder.clone(), since: held.since },
                });
            }
            options.wait
        };
        RunLease::take(&self.store, &self.clock, scope, &holder, options.lease_term, waiting).await
    }

    pub(crate) async fn execute(&self, with: Execution<'_>, planned: ExecutablePlan<'_>) -> RunReport {
        let Execution { lease, program, options, cancellation, run, terms } = with;
        let RunTerms { kind, bound, waited } = terms;
        let (scope, recorded) = (planned.plan.scope.clone(), planned.draft.recorded.clone());
        let journal = Journal::new(self.store.clone(), scope.clone(), lease.lease.token, recorded.clone());
        let (journal, clock) = (Arc::new(journal), self.clock.clone());
        let events = RunEvents::new(self.events.clone(), journal.clone(), clock, scope, run.clone());
        let (events, throttle) = (Arc::new(events), Arc::new(Throttle::new(options.plan.parallelism)));
        let calls = self.caller(program, &options.plan).during(RunCalls {
            lease,
            throttle: throttle.clone(),
            stop: cancellation.finish_token(),
            events: events.clone(),
        });
        let run = Run {
            program,
            options,
            kind,
            run: run.clone(),
            calls,
            random: self.random.clone(),
            events,
            journal,
            recorded,
            cancellation: cancellation.clone(),
            throttle,
            started: self.clock.now(),
            records: AtomicU64::new(0),
            bound,
            waited,
            late_configs: tokio::sync::Mutex::default(),
            declared: std::sync::OnceLock::new(),
            ephemerals: Ephemerals::new(self.clock.clone(), options.plan.timeout),
            admission: self.admission.as_deref(),
        };
        if let Some(admission) = run.admission {
            admission.begin(&planned.plan);
        }
        if let Some(announce) = &self.on_start {
            announce(&planned.plan);
        }
        let (holder, origin) = (options.holder.clone(), options.origin.clone());
        run.emit(None, EventKind::RunStarted { reason: kind.name().into(), holder, origin });
        // In a box of its own: unoptimised, these futures take more than a thread's stack has room for.
        Box::pin(execute(&run, planned)).await
    }
}
