//! Where the binaries of providers are: our own beside the program, others below the folders that are named, then below
//! those where they usually lie.

use std::collections::BTreeMap;
use std::path::PathBuf;

use trueup_cli_harness::{fixture_providers, provider_folder};
use trueup_test_servers::environment::variable;

use crate::referee::case::Step;

/// The folder of the binary of a provider.
pub(crate) fn folder_of(kind: &str) -> Option<PathBuf> {
    if kind.starts_with("fixture") {
        return Some(fixture_providers(env!("CARGO_BIN_EXE_trueup")).to_owned());
    }
    let named = variable("TRUEUP_REFEREE_PROVIDERS");
    provider_folder(kind, named.iter().flat_map(std::env::split_paths))
}

/// The CLI configuration by which both programs find the providers that a configuration asks for; or the one that is
/// missing.
pub(crate) fn settings(step: &Step) -> Result<String, String> {
    let mut overrides = BTreeMap::new();
    for source in step.sources() {
        let kind = source.rsplit('/').next().unwrap_or(source);
        let folder = folder_of(kind).ok_or_else(|| kind.to_owned())?;
        overrides.insert(source, folder);
    }
    let lines: String = overrides
        .iter()
        .map(|(source, folder)| format!("    \"{source}\" = \"{}\"\n", folder.display()))
        .collect();
    Ok(format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n  direct {{}}\n}}\n"))
}
