//! Where Terraform's providers are looked for, and which ones a program needs.

use std::path::{Path, PathBuf};

use trueup_front_end::RequiredProvider;
use trueup_provider::{ProviderAddress, Registry};
use trueup_terraform_find::{Problem, Requirement, Settings, Surroundings};

use crate::settings::Environment;

/// Where providers for the stack in this folder are looked for, by Terraform's CLI configuration and the environment.
pub fn settings(folder: &Path, environment: &Environment) -> Result<Settings, Problem> {
    let (home, variables) = (environment.home(), environment.variables());
    let cache = cache_folder(environment);
    Settings::gather(&Surroundings { folder, home, cache: cache.as_deref(), variables })
}

/// Where things are kept that can be had again.
pub fn cache_folder(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    folder.map(|folder| folder.join("trueup"))
}

/// What a program asks for, as far as it is not built in. What is no version constraint is told where it stands, by whoever
/// reads the text.
pub fn requirements(providers: &[RequiredProvider], builtin: &Registry) -> Vec<Requirement> {
    let mut found = Vec::new();
    for required in providers {
        let address = match &required.source {
            Some(source) => source.clone(),
            None if builtin.has(&required.local) || builtin.leaves_out(&required.local) => continue,
            None => ProviderAddress::implied(&required.local),
        };
        let constraints = required.versions.as_deref().map(str::parse).transpose();
        let Ok(constraints) = constraints else { continue };
        let constraints = constraints.unwrap_or_default();
        found.push(Requirement { address, constraints, origin: Some(required.origin) });
    }
    found
}
