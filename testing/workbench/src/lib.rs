//! The engine and a store in memory, on which the tests of providers deploy programs one after another.
//!
//! A [`Workbench`] keeps all that is told meanwhile, so that a test can look for secrets in it. The other functions make
//! programs out of values. All of it ends the test where something is not as expected.
#![allow(clippy::unwrap_used, reason = "it is part of tests, which may panic")]

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use trueup_core::{Address, Path, Value};
use trueup_engine::{
    Cancellation, ConsoleLines, DeployOptions, Deployed, EngineError, EventSink, JsonLines, Outcome, Plan,
    Reconciler, RunReport,
};
use trueup_program::{DataDeclaration, Expression, Node, OutputDeclaration, Program, Reference};
use trueup_program::{ResourceDeclaration, RetryPolicy};
use trueup_provider::{Registry, RuntimeClock};
use trueup_state::{Acquired, Holder, MemoryStore, Record, Scope, Store};

/// Whatever is told during a test.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl io::Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The engine and a store in memory. The stack is called `stack`, its stage `test`.
pub struct Workbench {
    registry: Box<dyn Fn() -> Registry>,
    store: MemoryStore,
    clock: Arc<RuntimeClock>,
    runtime: tokio::runtime::Runtime,
    /// How programs are deployed.
    pub options: DeployOptions,
    told: Told,
}

impl Workbench {
    /// With nothing recorded yet, and these providers, made anew for each run.
    pub fn new(registry: impl Fn() -> Registry + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = runtime.block_on(async { Arc::new(RuntimeClock::new()) });
        let mut options = DeployOptions::new("test");
        let backoff = Duration::from_millis(1);
        options.plan.retry = RetryPolicy { attempts_max: 3, backoff, backoff_max: backoff }.into();
        Workbench {
            registry: Box::new(registry),
            store: MemoryStore::on_clock(clock.clone()),
            clock,
            runtime,
            options,
            told: Told::default(),
        }
    }

    /// Forgets all that was recorded.
    pub fn forget(&mut self) {
        self.store = MemoryStore::on_clock(self.clock.clone());
    }

    fn reconciler(&self, sink: EventSink) -> Reconciler {
        Reconciler::new(Arc::new(self.store.clone()), (self.registry)(), sink)
    }

    fn note(&self, text: &str) {
        self.told.0.lock().unwrap().extend_from_slice(text.as_bytes());
    }

    /// Plans.
    pub fn try_plan(&self, program: &Program) -> Result<Plan, EngineError> {
        let planned =
            self.runtime.block_on(self.reconciler(EventSink::new()).plan(program, &self.options.plan));
        match &planned {
            Ok(plan) => self.note(&format!("{plan}\n{plan:?}\n")),
            Err(error) => self.note(&format!("{error}\n{error:?}\n")),
        }
        planned
    }

    /// Plans, and expects that there is a plan.
    pub fn plan(&self, program: &Program) -> String {
        self.try_plan(program).unwrap_or_else(|error| panic!("{error}")).to_string()
    }

    /// The messages of a plan that is refused.
    pub fn refused(&self, program: &Program) -> String {
        match self.try_plan(program) {
            Ok(plan) => panic!("it was planned:\n{plan}"),
            Err(error) => error.to_string(),
        }
    }

    /// Deploys.
    pub fn deploy(&self, program: &Program) -> RunReport {
        self.running(|reconciler| {
            self.runtime.block_on(reconciler.deploy(program, &self.options, &Cancellation::new()))
        })
    }

    /// Deploys and expects that all was done.
    #[track_caller]
    pub fn deployed(&self, program: &Program) -> RunReport {
        let report = self.deploy(program);
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        report
    }

    /// Deploys and expects that something failed: all the messages.
    #[track_caller]
    pub fn failed(&self, program: &Program) -> String {
        let report = self.deploy(program);
        let failures = report.outcomes.iter().filter_map(|(address, outcome)| match outcome {
            Outcome::Failed(failure) => Some(format!("{address}: {failure}")),
            _ => None,
        });
        let failures: Vec<String> = failures.collect();
        assert!(!failures.is_empty(), "{:#?}", report.outcomes);
        failures.join("\n")
    }

    /// Destroys, and expects that nothing is left.
    #[track_caller]
    pub fn destroyed(&self) {
        let report = self.running(|reconciler| {
            let nothing = program([]);
            self.runtime.block_on(reconciler.destroy(&nothing, &self.options, &Cancellation::new()))
        });
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        assert!(self.records().is_empty());
    }

    fn running(&self, run: impl FnOnce(&Reconciler) -> Result<Deployed, EngineError>) -> RunReport {
        let told = self.told.clone();
        let heard = move |event: &trueup_engine::Event| {
            told.0.lock().unwrap().extend_from_slice(format!("{event:?}\n").as_bytes());
        };
        let sink = EventSink::new()
            .with(heard)
            .with(JsonLines(self.told.clone()))
            .with(ConsoleLines(self.told.clone()));
        let outcome = run(&self.reconciler(sink.clone()));
        sink.close();
        self.note(&format!("{outcome:?}\n"));
        match outcome {
            Ok(Deployed::Ran(report)) => *report,
            other => panic!("{other:?}"),
        }
    }

    /// All plans, events, reports and errors so far.
    pub fn told(&self) -> String {
        String::from_utf8(self.told.0.lock().unwrap().clone()).unwrap()
    }

    /// The records, by the names of their resources.
    pub fn records(&self) -> BTreeMap<String, Record> {
        let snapshot = self.runtime.block_on(self.store.load(&Scope::new("stack", "test"))).unwrap();
        snapshot
            .records
            .into_iter()
            .map(|(record, _)| (record.address.name().to_owned(), Record::clone(&record)))
            .collect()
    }

    /// The recorded outputs of a resource.
    pub fn outputs(&self, name: &str) -> Value {
        self.records()[name].current.as_ref().unwrap().object.as_ref().unwrap().outputs.clone()
    }

    /// Lets a deploy begin and cuts it off once something holds, as a kill would; whether it came to that.
    pub fn deploy_cut_off_once(&self, program: &Program, holds: impl Fn() -> bool) -> bool {
        let reconciler = self.reconciler(EventSink::new());
        let cancellation = Cancellation::new();
        let cut_off = self.runtime.block_on(async {
            let mut deploy = Box::pin(reconciler.deploy(program, &self.options, &cancellation));
            std::future::poll_fn(|task| {
                if deploy.as_mut().poll(task).is_ready() {
                    return Poll::Ready(false);
                }
                if holds() {
                    return Poll::Ready(true);
                }
                // Looked at again and again: what happens in another process wakes nobody here.
                task.waker().wake_by_ref();
                Poll::Pending
            })
            .await
        });
        self.runtime.block_on(self.take_lease_away());
        cut_off
    }

    /// The lease of a run that was killed would expire.
    async fn take_lease_away(&self) {
        let scope = Scope::new("stack", "test");
        let holder =
            Holder { run: "other".into(), user: "ada".into(), host: "here".into(), reason: "test".into() };
        match self.store.acquire(&scope, &holder, self.options.lease_term).await.unwrap() {
            Acquired::Held(held) => drop(self.store.unlock(&scope, &held.holder.run).await.unwrap()),
            Acquired::Lease(lease) => self.store.release(&scope, &lease).await.unwrap(),
        }
    }
}

/// The address of this text.
pub fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// A resource with these inputs.
pub fn resource(of: &str, inputs: Value) -> ResourceDeclaration {
    ResourceDeclaration::new(address(of), inputs.into())
}

/// The same, with one more input that refers to another resource's output.
pub fn referring(of: &str, inputs: &Value, input: &str, to: &str, output: &str) -> ResourceDeclaration {
    let entries = inputs.as_entries().unwrap().iter();
    let mut entries: Vec<_> =
        entries.map(|(name, value)| (name.clone(), Expression::from(value.clone()))).collect();
    entries.push((input.into(), reference(to, output)));
    ResourceDeclaration::new(address(of), Expression::new(Node::Object(entries)))
}

/// A reference to an output.
pub fn reference(to: &str, output: &str) -> Expression {
    let path: Path = output.parse().unwrap();
    Expression::new(Node::Reference(Reference { address: address(to), path }))
}

/// A program of these resources.
pub fn program<const N: usize>(resources: [ResourceDeclaration; N]) -> Program {
    Program { stack: "stack".into(), resources: resources.into(), ..Program::default() }
}

/// A program that reads something and gives it out.
pub fn reading(of: &str, inputs: Value) -> Program {
    let data = DataDeclaration::new(address(of), inputs.into());
    let value = Expression::new(Node::Reference(Reference { address: address(of), path: Path::ROOT }));
    let output = OutputDeclaration { name: "seen".into(), value, secret: false };
    Program { data: vec![data], outputs: vec![output], ..program([]) }
}

/// A text marked secret.
pub fn secret(text: &str) -> Value {
    Value::from(text).into_secret()
}
