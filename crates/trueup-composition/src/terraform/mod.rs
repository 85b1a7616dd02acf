//! Terraform's providers, found by their names and started when something is asked of them.

mod missing;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use smol_str::SmolStr;
use trueup_cli::terraform::{cache_folder, requirements, settings};
use trueup_cli::{Environment, RegistryRequest};
use trueup_core::KnownSecrets;
use trueup_provider::{BoxFuture, Provider, ProviderAddress, ProviderSource, Registry};
use trueup_terraform::{Host, Launch, Pool, ProviderOptions, TerraformProvider};
use trueup_terraform_find::{Found, Problem, ProblemKind, Requirement, Settings, VersionConstraints, find};

use crate::plugin_guard::guard;
use crate::plugin_host::host;
pub(crate) use missing::MissingProvider;

/// How many plugins run at a time: a large one takes some hundred megabytes.
const PLUGINS_MAX: usize = 8;

/// How many seconds a plugin may take to begin, on machines where a minute is too little or too much.
const START_TIMEOUT: &str = "TRUEUP_PLUGIN_START_TIMEOUT";

/// All providers of Terraform that this machine has.
pub(crate) struct TerraformProviders {
    requirements: Vec<Requirement>,
    settings: Result<Settings, Problem>,
    environment: Environment,
    /// How long a plugin may take to begin, if someone says so.
    start_timeout: Result<Option<Duration>, Problem>,
    /// How plugins are hosted.
    host: Result<Option<Host>, Problem>,
    /// Where schemas are kept.
    schemas: Option<PathBuf>,
    pool: Arc<Pool>,
    secrets: KnownSecrets,
    found: Mutex<BTreeMap<SmolStr, Arc<dyn Provider>>>,
}

impl TerraformProviders {
    /// Those for a stack, beside the ones that are built in.
    pub(crate) fn new(request: &RegistryRequest, builtin: &Registry, environment: Environment) -> Self {
        let settings = settings(&request.folder, &environment);
        for warning in settings.iter().flat_map(|settings| &settings.warnings) {
            tracing::warn!("{warning}");
        }
        TerraformProviders {
            requirements: requirements(&request.providers, builtin),
            settings,
            start_timeout: start_timeout(&environment),
            host: host(&environment, request.interactive).map_err(refused),
            schemas: cache_folder(&environment).map(|cache| cache.join("schemas")),
            environment,
            pool: Pool::new(PLUGINS_MAX),
            secrets: builtin.secrets().clone(),
            found: Mutex::default(),
        }
    }

    fn find(&self, name: &str, address: &ProviderAddress) -> Arc<dyn Provider> {
        match self.found_on_disk(address).and_then(|found| self.options(name, found)) {
            Ok(options) => Arc::new(TerraformProvider::new(options)),
            Err(problem) => Arc::new(MissingProvider::new(name, &problem)),
        }
    }

    fn found_on_disk(&self, address: &ProviderAddress) -> Result<Found, Problem> {
        let settings = self.settings.as_ref().map_err(Problem::clone)?;
        let mut required: Vec<Requirement> =
            self.requirements.iter().filter(|it| it.address == *address).cloned().collect();
        if required.is_empty() {
            // Something that is recorded, and no program speaks of it any more.
            let (address, constraints) = (address.clone(), VersionConstraints::default());
            required.push(Requirement { address, constraints, origin: None });
        }
        match find(&required, settings) {
            Ok(mut found) => found.pop().ok_or_else(|| refused("it is built in".to_owned())),
            Err(mut problems) => {
                Err(problems.pop().unwrap_or_else(|| refused("it was not found".to_owned())))
            }
        }
    }

    fn options(&self, name: &str, found: Found) -> Result<ProviderOptions, Problem> {
        let mut launch =
            Launch { guard: guard(), ..Launch::new(found.program, self.environment.all().to_vec()) };
        launch.host = self.host.clone()?;
        launch.start_timeout = self.start_timeout.clone()?.unwrap_or(launch.start_timeout);
        Ok(ProviderOptions {
            name: name.into(),
            address: found.address.to_string(),
            version: found.version.map(|version| SmolStr::from(version.to_string())).unwrap_or_default(),
            launch,
            cache: self.schemas.clone(),
            pool: self.pool.clone(),
            secrets: self.secrets.clone(),
        })
    }
}

impl ProviderSource for TerraformProviders {
    fn provider(&self, name: &str) -> Option<Arc<dyn Provider>> {
        let address: ProviderAddress = name.parse().ok()?;
        let mut known = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(name.into()).or_insert_with(|| self.find(name, &address));
        Some(found.clone())
    }

    fn acknowledge(&self) {
        self.pool.acknowledge();
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.pool.shut_down())
    }
}

/// A provider that is none.
fn refused(what: String) -> Problem {
    Problem { address: None, origin: None, kind: ProblemKind::Package { what, overridden: false } }
}

fn start_timeout(environment: &Environment) -> Result<Option<Duration>, Problem> {
    let Some(text) = environment.get(START_TIMEOUT) else { return Ok(None) };
    match text.parse() {
        Ok(seconds) => Ok(Some(Duration::from_secs(seconds))),
        Err(_) => Err(refused(format!("{START_TIMEOUT} is `{text}`, which is no number of seconds"))),
    }
}
