//! Terraform's providers, found by their names and started when something is asked of them.

mod missing;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use smol_str::SmolStr;
use trueup_cli::RegistryRequest;
use trueup_provider::{BoxFuture, Provider, ProviderAddress, ProviderSource, Registry};
use trueup_terraform::{Launch, Pool, ProviderOptions, TerraformProvider};
use trueup_terraform_find::{
    AddressError, Found, Problem, ProblemKind, Requirement, Settings, Surroundings, VersionConstraints, find,
};

use crate::plugin_guard::guard;
use missing::MissingProvider;

/// How many plugins run at a time: a large one takes some hundred megabytes.
const PLUGINS_MAX: usize = 8;

/// How many seconds a plugin may take to begin, on machines where a minute is too little or too much.
const START_TIMEOUT: &str = "TRUEUP_PLUGIN_START_TIMEOUT";

/// All providers of Terraform that this machine has.
pub(crate) struct TerraformProviders {
    requirements: Vec<Requirement>,
    settings: Result<Settings, Problem>,
    environment: Vec<(OsString, OsString)>,
    /// How long a plugin may take to begin, if someone says so.
    start_timeout: Option<Duration>,
    /// Where schemas are kept.
    schemas: Option<PathBuf>,
    pool: Arc<Pool>,
    found: Mutex<BTreeMap<SmolStr, Arc<dyn Provider>>>,
}

impl TerraformProviders {
    /// Those for a stack, beside the ones that are built in.
    pub(crate) fn new(
        request: &RegistryRequest,
        builtin: &Registry,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        let variables = text_variables(&environment);
        let home = std::env::home_dir();
        let cache = cache_folder(&variables);
        let packages = cache.as_ref().map(|cache| cache.join("providers"));
        let settings = Settings::gather(&Surroundings {
            folder: &request.folder,
            home: home.as_deref(),
            cache: packages.as_deref(),
            variables: &variables,
        });
        for warning in settings.iter().flat_map(|settings| &settings.warnings) {
            tracing::warn!("{warning}");
        }
        TerraformProviders {
            requirements: requirements(request, builtin),
            settings,
            environment,
            start_timeout: variables
                .get(START_TIMEOUT)
                .and_then(|seconds| seconds.parse().ok())
                .map(Duration::from_secs),
            schemas: cache.map(|cache| cache.join("schemas")),
            pool: Pool::new(PLUGINS_MAX),
            found: Mutex::default(),
        }
    }

    fn find(&self, name: &str, address: &ProviderAddress) -> Arc<dyn Provider> {
        match self.found_on_disk(address) {
            Ok(found) => Arc::new(TerraformProvider::new(self.options(name, found))),
            Err(problem) => Arc::new(MissingProvider::new(name, &problem)),
        }
    }

    fn found_on_disk(&self, address: &ProviderAddress) -> Result<Found, Problem> {
        let settings = self.settings.as_ref().map_err(Problem::clone)?;
        let wanted = address.to_string();
        let mut required: Vec<Requirement> =
            self.requirements.iter().filter(|it| it.address.to_string() == wanted).cloned().collect();
        if required.is_empty() {
            // Something that is recorded, and no program speaks of it any more.
            let constraints = VersionConstraints::default();
            let address = wanted.parse().map_err(|error: AddressError| refused(error.to_string()))?;
            required.push(Requirement { address, constraints, origin: None });
        }
        match find(&required, settings) {
            Ok(mut found) => found.pop().ok_or_else(|| refused("it is built in".to_owned())),
            Err(mut problems) => {
                Err(problems.pop().unwrap_or_else(|| refused("it was not found".to_owned())))
            }
        }
    }

    fn options(&self, name: &str, found: Found) -> ProviderOptions {
        let mut launch = Launch { guard: guard(), ..Launch::new(found.program, self.environment.clone()) };
        launch.start_timeout = self.start_timeout.unwrap_or(launch.start_timeout);
        ProviderOptions {
            name: name.into(),
            address: found.address.to_string(),
            version: found.version.map(|version| SmolStr::from(version.to_string())).unwrap_or_default(),
            launch,
            cache: self.schemas.clone(),
            pool: self.pool.clone(),
        }
    }
}

impl ProviderSource for TerraformProviders {
    fn provider(&self, name: &str) -> Option<Arc<dyn Provider>> {
        let address: ProviderAddress = name.parse().ok()?;
        let mut known = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(name.into()).or_insert_with(|| self.find(name, &address));
        Some(found.clone())
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.pool.shut_down())
    }
}

/// A provider that is none.
fn refused(what: String) -> Problem {
    Problem { address: None, origin: None, kind: ProblemKind::Package { what, overridden: false } }
}

/// What a program asks for, as far as it is Terraform's.
fn requirements(request: &RegistryRequest, builtin: &Registry) -> Vec<Requirement> {
    let mut found = Vec::new();
    for required in &request.providers {
        let address = match &required.source {
            Some(source) => source.clone(),
            None if builtin.has(&required.local) => continue,
            None => ProviderAddress::implied(&required.local),
        };
        // What is no address or no constraint was told where it stands.
        let Ok(address) = address.to_string().parse() else { continue };
        let constraints = required.versions.as_deref().map(str::parse).transpose();
        let Ok(constraints) = constraints else { continue };
        let constraints = constraints.unwrap_or_default();
        found.push(Requirement { address, constraints, origin: Some(required.origin) });
    }
    found
}

fn text_variables(environment: &[(OsString, OsString)]) -> BTreeMap<String, String> {
    let text =
        |(name, value): &(OsString, OsString)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()));
    environment.iter().filter_map(text).collect()
}

/// Where things are kept that can be had again.
fn cache_folder(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    folder.map(|folder| folder.join("trueup"))
}
