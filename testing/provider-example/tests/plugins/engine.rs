//! The engine with the provider in it: its types as they are, or the plugin.

use std::path::PathBuf;
use std::sync::Arc;

use trueup_core::{Value, value};
use trueup_engine::{Cancellation, DeployOptions, Deployed, EventSink, Outcome, Plan, Reconciler};
use trueup_program::{Program, ProviderDeclaration, ResourceDeclaration};
use trueup_provider::{Registry, RuntimeClock};
use trueup_state::{MemoryStore, Scope, Store};
use trueup_terraform::{Launch, Pool, ProviderOptions, TerraformProvider};
use trueup_test_servers::environment::variable;

/// How the engine reaches the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Native,
    Plugin,
}

pub(crate) struct Engine {
    pub(crate) way: Way,
    folder: tempfile::TempDir,
    store: MemoryStore,
    runtime: tokio::runtime::Runtime,
    pool: Arc<Pool>,
    options: DeployOptions,
}

impl Engine {
    pub(crate) fn new(way: Way) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = runtime.block_on(async { Arc::new(RuntimeClock::new()) });
        let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::on_clock(clock));
        Engine { way, folder, store, runtime, pool: Pool::new(4), options: DeployOptions::new("test") }
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    fn reconciler(&self) -> Reconciler {
        let registry = match self.way {
            Way::Native => Registry::new().with(notes_provider::provider()),
            Way::Plugin => Registry::new().with(TerraformProvider::new(ProviderOptions {
                name: "notes".into(),
                address: "example.com/trueup/notes".to_owned(),
                version: Default::default(),
                launch: Launch::new(super::binary(), plugin_environment()),
                cache: None,
                pool: self.pool.clone(),
                secrets: Default::default(),
            })),
        };
        Reconciler::new(Arc::new(self.store.clone()), registry, EventSink::new())
    }

    /// A program of one resource `x`, or of none.
    pub(crate) fn program(&self, kind: &str, inputs: Option<&Value>) -> Program {
        let folder = self.objects();
        let config = value!({ folder: (folder.to_str().unwrap()) });
        let resource = inputs.map(|inputs| {
            let address = format!("notes_{kind}.x").parse().unwrap();
            ResourceDeclaration::new(address, inputs.clone().into())
        });
        Program {
            stack: "stack".into(),
            providers: vec![ProviderDeclaration { name: "notes".into(), config: config.into() }],
            resources: resource.into_iter().collect(),
            ..Program::default()
        }
    }

    pub(crate) fn plan(&self, program: &Program) -> Result<Plan, String> {
        let planned = self.runtime.block_on(self.reconciler().plan(program, &self.options.plan));
        planned.map_err(|error| error.to_string())
    }

    /// Deploys; what failed, if anything did.
    pub(crate) fn deploy(&self, program: &Program) -> Result<(), String> {
        let (reconciler, cancellation) = (self.reconciler(), Cancellation::new());
        let deployed = reconciler.deploy(program, &self.options, &cancellation);
        let report = match self.runtime.block_on(deployed).map_err(|error| error.to_string())? {
            Deployed::Ran(report) => report,
            Deployed::Planned(plan) => panic!("only planned: {plan}"),
        };
        let failures = report.outcomes.iter().filter_map(|(_, outcome)| match outcome {
            Outcome::Failed(failure) => Some(failure.to_string()),
            _ => None,
        });
        let failures: Vec<String> = failures.collect();
        if report.succeeded() { Ok(()) } else { Err(failures.join("\n")) }
    }

    /// The recorded outputs of the resource `x`, if it is there.
    pub(crate) fn outputs(&self) -> Option<Value> {
        let snapshot = self.runtime.block_on(self.store.load(&Scope::new("stack", "test"))).unwrap();
        let (record, _) = snapshot.records.first()?;
        Some(record.current.as_ref()?.object.as_ref()?.outputs.clone())
    }
}

/// What plugins need of the environment.
pub(crate) fn plugin_environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    ["PATH", "HOME", "TMPDIR"].iter().filter_map(|name| Some(((*name).into(), variable(name)?))).collect()
}
