//! A store and the engine, on which programs are deployed to a world one after another.

use std::sync::Arc;
use std::time::Duration;

use trueup_engine::{
    Cancellation, DeployOptions, Deployed, EngineError, EventSink, Outcome, Reconciler, RunReport, Stack,
    SystemRandom,
};
use trueup_program::{Program, ProviderDeclaration, RetryPolicy};
use trueup_provider::{Clock, Registry};
use trueup_state::{Acquired, Holder, MemoryStore, Record, Scope, Store};

use crate::world::World;

const STAGE: &str = "test";

pub(crate) struct Bench<'w> {
    pub(crate) world: &'w World,
    store: MemoryStore,
    clock: Arc<dyn Clock>,
    pub(crate) options: DeployOptions,
}

impl<'w> Bench<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        let clock = world.clock();
        let mut options = DeployOptions::new(STAGE);
        if world.is_emulated() {
            let backoff = Duration::from_millis(20);
            options.plan.retry = RetryPolicy { attempts_max: 4, backoff, backoff_max: backoff }.into();
        }
        Bench { world, store: MemoryStore::on_clock(clock.clone()), clock, options }
    }

    /// Forgets all that was recorded.
    pub(crate) fn forget(&mut self) {
        self.store = MemoryStore::on_clock(self.clock.clone());
    }

    pub(crate) fn registry(&self) -> Registry {
        Registry::new().with(self.world.provider())
    }

    /// A program that is made of typed resources.
    pub(crate) fn program(&self, declare: impl FnOnce(&mut Stack<'_>)) -> Program {
        let registry = self.registry();
        let mut stack = Stack::new(self.world.stack.as_str(), &registry);
        declare(&mut stack);
        let mut program = stack.build().unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        program
            .providers
            .push(ProviderDeclaration { name: "awsn".into(), config: self.world.config().into() });
        program
    }

    fn reconciler(&self) -> Reconciler {
        let store = Arc::new(self.store.clone());
        Reconciler::new(store, self.registry(), EventSink::new())
            .with(self.clock.clone(), Arc::new(SystemRandom))
    }

    pub(crate) async fn try_plan(&self, program: &Program) -> Result<String, EngineError> {
        Ok(Box::pin(self.reconciler().plan(program, &self.options.plan)).await?.to_string())
    }

    pub(crate) async fn plan(&self, program: &Program) -> String {
        self.try_plan(program).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) async fn deploy(&self, program: &Program) -> RunReport {
        match Box::pin(self.reconciler().deploy(program, &self.options, &Cancellation::new())).await {
            Ok(Deployed::Ran(report)) => *report,
            other => panic!("{other:?}"),
        }
    }

    /// Deploys and expects that all was done.
    pub(crate) async fn deployed(&self, program: &Program) -> RunReport {
        let report = self.deploy(program).await;
        let failed: Vec<String> = failures(&report);
        assert!(report.succeeded(), "{failed:#?}");
        report
    }

    /// Destroys everything and expects that nothing is left in the record.
    pub(crate) async fn destroyed(&self, program: &Program) {
        let destroyed =
            Box::pin(self.reconciler().destroy(program, &self.options, &Cancellation::new())).await;
        match destroyed {
            Ok(Deployed::Ran(report)) => assert!(report.succeeded(), "{:#?}", failures(&report)),
            other => panic!("{other:?}"),
        }
        assert!(self.records().await.is_empty());
    }

    /// The lease of a run that was cut off would expire.
    pub(crate) async fn take_lease_away(&self) {
        let scope = Scope::new(self.world.stack.as_str(), STAGE);
        let holder =
            Holder { run: "other".into(), user: "ada".into(), host: "here".into(), reason: "test".into() };
        match self.store.acquire(&scope, &holder, self.options.lease_term).await.unwrap() {
            Acquired::Held(held) => drop(self.store.unlock(&scope, &held.holder.run).await.unwrap()),
            Acquired::Lease(lease) => self.store.release(&scope, &lease).await.unwrap(),
        }
    }

    pub(crate) async fn records(&self) -> Vec<Record> {
        let snapshot = self.store.load(&Scope::new(self.world.stack.as_str(), STAGE)).await.unwrap();
        snapshot.records.into_iter().map(|(record, _)| Record::clone(&record)).collect()
    }
}

/// Each failure, with its resource, class, message and hints.
pub(crate) fn failures(report: &RunReport) -> Vec<String> {
    let failures = report.outcomes.iter().filter_map(|(address, outcome)| match outcome {
        Outcome::Failed(failure) => {
            let hints: String = failure.hints.iter().map(|hint| format!(" ({hint})")).collect();
            Some(format!("{address}: {failure}{hints}"))
        }
        _ => None,
    });
    failures.collect()
}
