//! A folder with stack files, and an engine to deploy it with.

use std::sync::Arc;
use std::time::SystemTime;

use tempfile::TempDir;
use trueup_core::{Report, Style, Value};
use trueup_engine::{
    Cancellation, DeployOptions, Deployed, EngineError, EventSink, Plan, Reconciler, RunReport,
};
use trueup_front_end::{
    BuildRequest, BuiltProgram, GivenVariable, InvalidProgram, Purpose, RandomBytes, Variables,
};
use trueup_lang::StackFolder;
use trueup_program::{FunctionAnswers, Program};
use trueup_provider::{Registry, RuntimeClock};
use trueup_provider_std::{Randomness, Surroundings, std_provider, terraform_provider};
use trueup_state::MemoryStore;

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) variables: Variables,
    random: Arc<RandomBytes>,
    runtime: tokio::runtime::Runtime,
    store: MemoryStore,
}

impl Bench {
    pub(crate) fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = runtime.block_on(async { Arc::new(RuntimeClock::new()) });
        let bench = Bench {
            folder: tempfile::tempdir().unwrap(),
            variables: Variables::default(),
            random: Arc::new(|bytes: &mut [u8]| bytes.fill(7)),
            runtime,
            store: MemoryStore::on_clock(clock),
        };
        for (name, text) in files {
            bench.write(name, text);
        }
        bench
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.variables.given.push(GivenVariable::Value { name: name.into(), text: value.to_owned() });
        self
    }

    fn registry(&self) -> Registry {
        let surroundings = Surroundings::new(self.folder.path());
        let standard = std_provider(surroundings);
        Registry::new().with(standard).with(terraform_provider(Randomness::default()))
    }

    fn reconciler(&self) -> Reconciler {
        Reconciler::new(Arc::new(self.store.clone()), self.registry(), EventSink::new())
    }

    /// Builds the program, in as many rounds as it takes.
    pub(crate) fn build(&self) -> Result<BuiltProgram, InvalidProgram> {
        let loaded = StackFolder::read(self.folder.path());
        let registry = self.registry();
        self.runtime.block_on(async {
            let mut preview = None;
            let mut waited_for = Vec::new();
            loop {
                let known = preview.as_ref().map(|known| known as &(dyn trueup_program::Scope + Sync));
                let answers = FunctionAnswers::default();
                let request = self.request(&registry, &answers, Purpose::Deploy);
                let request = BuildRequest { known, waited_for: &waited_for, ..request };
                let built = loaded.build(request).await?;
                if built.pending.is_empty() {
                    return Ok(built);
                }
                if let Some(diagnostics) = built.stuck {
                    return Err(InvalidProgram { diagnostics, sources: built.program.sources });
                }
                let options = DeployOptions::new("test").plan;
                let seen = self.reconciler().preview(&built.program, &options).await;
                preview = Some(seen.unwrap_or_else(|error| panic!("{error}")));
                waited_for = built.pending;
            }
        })
    }

    fn request<'a>(
        &'a self,
        registry: &'a Registry,
        answers: &'a FunctionAnswers,
        purpose: Purpose,
    ) -> BuildRequest<'a> {
        BuildRequest {
            registry,
            stack: "stack",
            stage: "test",
            variables: &self.variables,
            home: None,
            plan_time: SystemTime::UNIX_EPOCH,
            now: SystemTime::UNIX_EPOCH,
            random: &self.random,
            purpose,
            answers,
            known: None,
            waited_for: &[],
        }
    }

    /// Builds the program for a purpose, in one round.
    pub(crate) fn build_for(&self, purpose: Purpose) -> Result<Program, String> {
        let registry = self.registry();
        let loaded = StackFolder::read(self.folder.path());
        let answers = FunctionAnswers::default();
        let built = self.runtime.block_on(loaded.build(self.request(&registry, &answers, purpose)));
        built.map(|built| built.program).map_err(|unsound| told(&unsound))
    }

    pub(crate) fn evaluate(&self, text: &str) -> Result<String, String> {
        let registry = self.registry();
        let loaded = StackFolder::read(self.folder.path());
        let answers = FunctionAnswers::default();
        let request = self.request(&registry, &answers, Purpose::Deploy);
        let value = self.runtime.block_on(loaded.evaluate(text, request));
        value.map(|value| value.to_string()).map_err(|unsound| told(&unsound))
    }

    pub(crate) fn program(&self) -> Program {
        match self.build() {
            Ok(built) => built.program,
            Err(unsound) => panic!("{}", told(&unsound)),
        }
    }

    /// What is wrong with the folder, as people see it.
    pub(crate) fn refused(&self) -> String {
        match self.build() {
            Ok(built) => match self.runtime.block_on(self.reconciler().plan(&built.program, &options())) {
                Err(EngineError::Unsound(diagnostics)) => {
                    told(&InvalidProgram { diagnostics, sources: built.program.sources })
                }
                Err(other) => other.to_string(),
                Ok(plan) => panic!("it was planned:\n{plan}"),
            },
            Err(unsound) => told(&unsound),
        }
    }

    pub(crate) fn warnings(&self) -> String {
        let built = self.build().unwrap_or_else(|unsound| panic!("{}", told(&unsound)));
        told(&InvalidProgram { diagnostics: built.warnings, sources: built.program.sources })
    }

    pub(crate) fn try_plan(&self) -> Result<Plan, EngineError> {
        let program = self.program();
        self.runtime.block_on(self.reconciler().plan(&program, &options()))
    }

    pub(crate) fn plan(&self) -> String {
        self.try_plan().unwrap_or_else(|error| panic!("{error}")).to_string()
    }

    pub(crate) fn deploy(&self) -> RunReport {
        let program = self.program();
        let (options, cancellation) = (DeployOptions::new("test"), Cancellation::new());
        let reconciler = self.reconciler();
        match self.runtime.block_on(reconciler.deploy(&program, &options, &cancellation)) {
            Ok(Deployed::Ran(report)) => *report,
            other => panic!("{other:?}"),
        }
    }

    /// Deploys; the outputs, or all that stood in the way.
    pub(crate) fn try_outputs(&self) -> Result<Value, String> {
        let built = self.build().map_err(|unsound| told(&unsound))?;
        let (options, cancellation) = (DeployOptions::new("test"), Cancellation::new());
        let reconciler = self.reconciler();
        match self.runtime.block_on(reconciler.deploy(&built.program, &options, &cancellation)) {
            Ok(Deployed::Ran(report)) => match report.outputs {
                Some(outputs) if report.succeeded() => Ok(outputs),
                _ => Err(format!("{:#?}", report.outcomes)),
            },
            Ok(other) => Err(format!("{other:?}")),
            Err(EngineError::Unsound(diagnostics)) => {
                Err(told(&InvalidProgram { diagnostics, sources: built.program.sources }))
            }
            Err(other) => Err(other.to_string()),
        }
    }

    /// Deploys, expects that all was done, and gives the outputs.
    pub(crate) fn outputs(&self) -> Value {
        let report = self.deploy();
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        report.outputs.unwrap()
    }

    /// One output of a folder that is deployed.
    pub(crate) fn output(&self, name: &str) -> String {
        self.outputs().get(name).unwrap_or_else(|| panic!("no output {name}")).to_string()
    }
}

fn options() -> trueup_engine::PlanOptions {
    DeployOptions::new("test").plan
}

fn told(unsound: &InvalidProgram) -> String {
    Report::new(&unsound.sources, Style::Plain).render(&unsound.diagnostics)
}

/// A stack in one file.
pub(crate) fn stack(text: &str) -> Bench {
    Bench::new([("main.tf", text)])
}
