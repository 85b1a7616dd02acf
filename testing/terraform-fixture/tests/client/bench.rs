//! A folder of objects, a store and the engine with our provider in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use trueup_core::{Address, Value, value};
use trueup_engine::{Cancellation, DeployOptions, Deployed, EventSink, Outcome, Plan, Reconciler, RunReport};
use trueup_program::{Program, ProviderDeclaration, ResourceDeclaration, RetryPolicy};
use trueup_provider::{Registry, RuntimeClock};
use trueup_state::{MemoryStore, Record, Scope, Store};
use trueup_terraform::{Launch, Pool, ProviderOptions, TerraformProvider};
use trueup_test_servers::environment::variable;

/// Both versions of the protocol.
pub(crate) const VERSIONS: [Fixture; 2] = [Fixture(5), Fixture(6)];

/// Our provider with a version of the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixture(pub(crate) u8);

impl Fixture {
    pub(crate) fn name(self) -> String {
        format!("fixture{}", self.0)
    }

    pub(crate) fn program(self) -> PathBuf {
        match self.0 {
            5 => env!("CARGO_BIN_EXE_terraform-provider-fixture5").into(),
            _ => env!("CARGO_BIN_EXE_terraform-provider-fixture6").into(),
        }
    }

    /// A resource of one of its types.
    pub(crate) fn resource(self, kind: &str, name: &str, inputs: Value) -> ResourceDeclaration {
        ResourceDeclaration::new(self.address(kind, name), inputs.into())
    }

    pub(crate) fn address(self, kind: &str, name: &str) -> Address {
        format!("fixture{}_{kind}.{name}", self.0).parse().unwrap()
    }

    pub(crate) fn provider(self, cache: Option<PathBuf>, pool: Arc<Pool>) -> TerraformProvider {
        self.started_by(self.program(), cache, pool)
    }

    /// The provider, started by this program.
    pub(crate) fn started_by(
        self,
        program: PathBuf,
        cache: Option<PathBuf>,
        pool: Arc<Pool>,
    ) -> TerraformProvider {
        TerraformProvider::new(ProviderOptions {
            name: self.name().into(),
            address: format!("example.com/trueup/{}", self.name()),
            version: Default::default(),
            launch: Launch::new(program, environment()),
            cache,
            pool,
            secrets: Default::default(),
        })
    }
}

/// What plugins need of the environment.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    ["PATH", "HOME", "TMPDIR"].iter().filter_map(|name| Some((name.into(), variable(name)?))).collect()
}

pub(crate) struct Bench {
    pub(crate) fixture: Fixture,
    folder: tempfile::TempDir,
    store: MemoryStore,
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) pool: Arc<Pool>,
    options: DeployOptions,
}

impl Bench {
    pub(crate) fn new(fixture: Fixture) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = runtime.block_on(async { Arc::new(RuntimeClock::new()) });
        let mut options = DeployOptions::new("test");
        let backoff = Duration::from_millis(1);
        options.plan.retry = RetryPolicy { attempts_max: 2, backoff, backoff_max: backoff }.into();
        let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::on_clock(clock));
        Bench { fixture, folder, store, runtime, pool: Pool::new(4), options }
    }

    /// Where the objects are.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn reconciler(&self) -> Reconciler {
        let provider = self.fixture.provider(Some(self.cache()), self.pool.clone());
        Reconciler::new(Arc::new(self.store.clone()), Registry::new().with(provider), EventSink::new())
    }

    /// A program of these resources, with the provider's configuration.
    pub(crate) fn program(&self, resources: impl IntoIterator<Item = ResourceDeclaration>) -> Program {
        let folder = self.folder();
        let config = value!({ folder: (folder.to_str().unwrap()) });
        Program {
            stack: "stack".into(),
            providers: vec![ProviderDeclaration { name: self.fixture.name().into(), config: config.into() }],
            resources: resources.into_iter().collect(),
            ..Program::default()
        }
    }

    /// A program of one resource.
    pub(crate) fn one(&self, kind: &str, inputs: Value) -> Program {
        self.program([self.fixture.resource(kind, "x", inputs)])
    }

    pub(crate) fn try_plan(&self, program: &Program) -> Result<Plan, String> {
        let planned = self.runtime.block_on(self.reconciler().plan(program, &self.options.plan));
        planned.map_err(|error| error.to_string())
    }

    #[track_caller]
    pub(crate) fn plan(&self, program: &Program) -> Plan {
        self.try_plan(program).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What would happen, in a word for each resource.
    #[track_caller]
    pub(crate) fn actions(&self, program: &Program) -> Vec<&'static str> {
        self.plan(program).actions.iter().map(|planned| planned.action.name()).collect()
    }

    pub(crate) fn deploy(&self, program: &Program) -> RunReport {
        let (reconciler, cancellation) = (self.reconciler(), Cancellation::new());
        let deployed = reconciler.deploy(program, &self.options, &cancellation);
        match self.runtime.block_on(deployed).unwrap_or_else(|error| panic!("{error}")) {
            Deployed::Ran(report) => *report,
            Deployed::Planned(plan) => panic!("only planned: {plan}"),
        }
    }

    #[track_caller]
    pub(crate) fn deployed(&self, program: &Program) {
        let report = self.deploy(program);
        assert!(report.succeeded(), "{:#?}", report.outcomes);
    }

    /// Deploys and expects that something failed: all the messages.
    #[track_caller]
    pub(crate) fn failed(&self, program: &Program) -> String {
        let report = self.deploy(program);
        let failures = report.outcomes.iter().filter_map(|(_, outcome)| match outcome {
            Outcome::Failed(failure) => Some(failure.to_string()),
            _ => None,
        });
        let failures: Vec<String> = failures.collect();
        assert!(!failures.is_empty(), "{:#?}", report.outcomes);
        failures.join("\n")
    }

    /// The records, by the names of their resources.
    pub(crate) fn records(&self) -> BTreeMap<String, Record> {
        let snapshot = self.runtime.block_on(self.store.load(&Scope::new("stack", "test"))).unwrap();
        let named = |record: &Record| (record.address.name().to_owned(), record.clone());
        snapshot.records.iter().map(|(record, _)| named(record)).collect()
    }

    /// The recorded outputs of the resource `x`.
    pub(crate) fn outputs(&self) -> Value {
        self.records()["x"].current.as_ref().unwrap().object.as_ref().unwrap().outputs.clone()
    }

    /// The objects that exist: type and id, with their attributes.
    pub(crate) fn objects(&self) -> BTreeMap<String, Json> {
        objects_in(&self.folder())
    }

    /// Changes an object behind everyone's back.
    pub(crate) fn tamper(&self, object: &str, attribute: &str, value: impl Into<Json>) {
        let path = self.folder().join(format!("{object}.json"));
        let mut json: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        json[attribute] = value.into();
        std::fs::write(path, json.to_string()).unwrap();
    }
}

/// The objects in a folder: type and id, with their attributes.
pub(crate) fn objects_in(folder: &Path) -> BTreeMap<String, Json> {
    let mut objects = BTreeMap::new();
    for kind in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(kind.path()).into_iter().flatten().flatten() {
            let json = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
            let id = file.path().file_stem().unwrap().to_string_lossy().into_owned();
            objects.insert(format!("{}/{id}", kind.file_name().to_string_lossy()), json);
        }
    }
    objects
}
