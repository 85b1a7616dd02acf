//! The engine as its users see it: a reconciler made of state, registry and event sink.

mod run;

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{Either, select};
use smol_str::SmolStr;
use trueup_core::Diagnostics;
use trueup_program::Program;
use trueup_provider::{Clock, IdempotencyToken, Registry, RuntimeClock};
use trueup_state::{HeldLease, Scope, Snapshot, Store, StoreError};

pub(crate) use self::run::{Execution, RunTerms};
use crate::admission::AdmissionControl;
use crate::call::Caller;
use crate::draft::ExecutablePlan;
use crate::ephemeral::Ephemerals;
use crate::events::{Event, EventKind, EventSink};
use crate::executor::{Cancellation, RunReport};
use crate::looking::Looking;
use crate::options::{DeployOptions, PlanOptions};
use crate::plan::Plan;
use crate::planner::{self, PassDump, Preview, Sources, Trace};
use crate::random::{Random, SystemRandom};
use crate::run_kind::RunKind;
use crate::saved::Following;

/// Plans and deploys programs.
pub struct Reconciler {
    store: Arc<dyn Store>,
    registry: Registry,
    events: EventSink,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    looking: Arc<Looking>,
    admission: Option<Arc<dyn AdmissionControl>>,
    following: Option<Following>,
    interruption: Cancellation,
    on_start: Option<Arc<OnStart>>,
    read: Mutex<Option<(Scope, Snapshot)>>,
}

/// Hears of a plan that is about to be carried out.
type OnStart = dyn Fn(&Plan) + Send + Sync;

/// Why a run did not begin, or had to be given up as a whole.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The program or the plan is not sound; nothing was changed.
    #[error("{}", told(.0))]
    Unsound(Diagnostics),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Someone else is at it (STATE-4).
    #[error("the stage is held by {}", .0.holder)]
    Held(Box<HeldLease>),
    /// It was interrupted before anything was changed.
    #[error("interrupted")]
    Interrupted,
}

impl From<Diagnostics> for EngineError {
    fn from(diagnostics: Diagnostics) -> Self {
        EngineError::Unsound(diagnostics)
    }
}

fn told(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.iter().flat_map(|it| {
        let detail = it.detail.iter().flat_map(|detail| detail.lines()).map(|line| format!("  {line}"));
        std::iter::once(it.to_string()).chain(detail)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a deploy came to.
#[derive(Debug)]
pub enum Deployed {
    /// Only the plan was asked for, or it was not approved.
    Planned(Box<Plan>),
    /// The plan was carried out, as far as it went.
    Ran(Box<RunReport>),
}

impl Reconciler {
    /// A reconciler on the machine's clock and randomness.
    pub fn new(store: Arc<dyn Store>, registry: Registry, events: EventSink) -> Self {
        let (clock, random) = (Arc::new(RuntimeClock::new()), Arc::new(SystemRandom));
        Reconciler {
            store,
            registry,
            events,
            clock,
            random,
            looking: Arc::default(),
            admission: None,
            following: None,
            interruption: Cancellation::new(),
            on_start: None,
            read: Mutex::default(),
        }
    }

    /// The same on another clock and randomness.
    #[must_use]
    pub fn with(mut self, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        self.clock = clock;
        self.random = random;
        self
    }

    /// Takes records that were read while the program was built: the next plan for their scope uses them. That they are a
    /// little older does no harm. Under the lease, a run always checks that the records its plan follows from are unchanged.
    pub fn read_ahead(&self, scope: Scope, snapshot: Snapshot) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((scope, snapshot));
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The same, with plans that are saved, or follow a saved one.
    pub(crate) fn with_following(mut self, following: Following) -> Self {
        self.following = Some(following);
        self
    }

    /// What its plans are saved or followed with.
    pub(crate) fn follows(&self) -> Option<&Following> {
        self.following.as_ref()
    }

    pub(crate) fn looking(&self) -> &Looking {
        &self.looking
    }

    /// The same, counting what its plans look at.
    #[must_use]
    pub fn counting(mut self, looking: Arc<Looking>) -> Self {
        self.looking = looking;
        self
    }

    /// The same, showing each change to an admission control before it is made.
    #[must_use]
    pub fn admitted_by(mut self, admission: Arc<dyn AdmissionControl>) -> Self {
        self.admission = Some(admission);
        self
    }

    /// The same, announcing each plan that is about to be carried out: the lease is held, and nothing has begun.
    #[must_use]
    pub fn on_start(mut self, announce: impl Fn(&Plan) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Arc::new(announce));
        self
    }

    /// The same, where changes by hand are given up when this is cancelled before they have changed anything: while another
    /// run holds the lease, and while objects are looked at.
    #[must_use]
    pub fn interrupted_by(mut self, interruption: Cancellation) -> Self {
        self.interruption = interruption;
        self
    }

    /// The outcome of work that has changed nothing yet, unless it is interrupted.
    pub(crate) async fn uninterrupted<T>(
        &self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let stop = self.interruption.finish_token();
        match select(pin!(work), pin!(stop.cancelled())).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(EngineError::Interrupted),
        }
    }

    /// What a deploy of the program would do. Changes nothing and takes no lease. Subscribers are told what is decided and
    /// what has drifted (EVENT-7).
    pub async fn plan(&self, program: &Program, options: &PlanOptions) -> Result<Plan, EngineError> {
        let plan = self.plan_before_run(program, options).await?;
        self.announce(&plan, &self.fresh_run());
        Ok(plan)
    }

    /// The same, for whoever plans before a run: subscribers hear of the run alone.
    pub async fn plan_before_run(
        &self,
        program: &Program,
        options: &PlanOptions,
    ) -> Result<Plan, EngineError> {
        Ok(self.planned(program, options, RunKind::Deploy, &mut Trace::default()).await?.plan)
    }

    /// What a destroy would do.
    pub async fn plan_destroy(&self, program: &Program, options: &PlanOptions) -> Result<Plan, EngineError> {
        let plan = self.planned(program, options, RunKind::Destroy, &mut Trace::default()).await?.plan;
        self.announce(&plan, &self.fresh_run());
        Ok(plan)
    }

    /// Tells subscribers of a plan that is not carried out: no history has it.
    pub(crate) fn announce(&self, plan: &Plan, run: &SmolStr) {
        if self.events.is_empty() {
            return;
        }
        for action in &plan.actions {
            for kind in [Some(EventKind::decided(action)), EventKind::drifted(action)].into_iter().flatten() {
                self.events.emit(Event {
                    sequence: None,
                    at: self.clock.now(),
                    scope: plan.scope.clone(),
                    run: run.clone(),
                    resource: Some(action.address.clone()),
                    kind,
                });
            }
        }
    }

    /// Plans and carries the plan out.
    pub async fn deploy(
        &self,
        program: &Program,
        options: &DeployOptions,
        cancellation: &Cancellation,
    ) -> Result<Deployed, EngineError> {
        self.deploy_approved(program, options, cancellation, &mut |_| true).await
    }

    /// The same, if the plan is approved. No lease is held while someone thinks; if the state changed in the meantime,
    /// the plan is made anew and asked for again (STATE-11).
    pub async fn deploy_approved(
        &self,
        program: &Program,
        options: &DeployOptions,
        cancellation: &Cancellation,
        approve: &mut dyn FnMut(&Plan) -> bool,
    ) -> Result<Deployed, EngineError> {
        self.run(program, options, cancellation, RunKind::Deploy, approve).await
    }

    /// Deletes all that is recorded.
    pub async fn destroy(
        &self,
        program: &Program,
        options: &DeployOptions,
        cancellation: &Cancellation,
    ) -> Result<Deployed, EngineError> {
        self.destroy_approved(program, options, cancellation, &mut |_| true).await
    }

    /// The same, if the plan is approved.
    pub async fn destroy_approved(
        &self,
        program: &Program,
        options: &DeployOptions,
        cancellation: &Cancellation,
        approve: &mut dyn FnMut(&Plan) -> bool,
    ) -> Result<Deployed, EngineError> {
        self.run(program, options, cancellation, RunKind::Destroy, approve).await
    }

    /// A plan, and what each pass of the planner did on the way; the passes that were reached, if it is refused.
    pub async fn plan_traced(
        &self,
        program: &Program,
        options: &PlanOptions,
    ) -> (Result<Plan, EngineError>, Vec<PassDump>) {
        let mut trace = Trace::wanted();
        let planned = self.planned(program, options, RunKind::Deploy, &mut trace).await;
        (planned.map(|planned| planned.plan), trace.into_dumps())
    }

    /// What the outputs of a program's resources and data sources would be, as far as a plan knows them. A front end
    /// that must know some of them to say what else there is asks for them with the part it knows already.
    pub async fn preview(&self, program: &Program, options: &PlanOptions) -> Result<Preview, EngineError> {
        Ok(self.planned(program, options, RunKind::Deploy, &mut Trace::default()).await?.draft.into())
    }

    /// What is wrong with a program by itself: types, references and inputs, as far as they can be judged without state
    /// and without looking at anything.
    pub async fn validate(&self, program: &Program, options: &PlanOptions) -> Result<(), EngineError> {
        Ok(planner::validate(&self.sources(program, options, RunKind::Deploy)).await?)
    }

    pub(crate) fn sources<'p>(
        &'p self,
        program: &'p Program,
        options: &'p PlanOptions,
        kind: RunKind,
    ) -> Sources<'p> {
        let following = self.following.as_ref();
        Sources {
            program,
            calls: self.caller(program, options),
            options,
            kind,
            looking: &self.looking,
            ephemerals: Ephemerals::new(self.clock.clone(), options.timeout),
            observations: following.map(|it| &it.observations),
            about: following.and_then(|it| it.about.as_ref()),
        }
    }

    /// Makes the calls of a plan or run of this program.
    pub(crate) fn caller<'p>(&'p self, program: &'p Program, options: &'p PlanOptions) -> Caller<'p> {
        let scope = Scope::new(program.stack.clone(), options.stage.clone());
        Caller::new(&self.registry, self.clock.clone(), scope, options).of_program(program)
    }

    /// A name for another run.
    pub(crate) fn fresh_run(&self) -> SmolStr {
        IdempotencyToken::from_bytes(self.random.bytes()).to_string().into()
    }

    pub(crate) async fn planned<'p>(
        &'p self,
        program: &'p Program,
        options: &'p PlanOptions,
        kind: RunKind,
        trace: &mut Trace,
    ) -> Result<ExecutablePlan<'p>, EngineError> {
        let scope = Scope::new(program.stack.clone(), options.stage.clone());
        let snapshot = self.recorded(&scope, options).await?;
        Ok(Box::pin(planner::plan(&self.sources(program, options, kind), snapshot, trace)).await?)
    }

    /// The records to plan from: those that are assumed, those that were read ahead, once, or else the store's.
    pub(crate) async fn recorded(
        &self,
        scope: &Scope,
        options: &PlanOptions,
    ) -> Result<Snapshot, StoreError> {
        if let Some(assumed) = &options.assumed {
            return Ok(Snapshot::clone(assumed));
        }
        let read = self.read.lock().ok().and_then(|mut read| read.take());
        match read {
            Some((of, snapshot)) if of == *scope => Ok(snapshot),
            _ => self.store.load(scope).await,
        }
    }
}
