//! Where the binaries of providers are: our own beside the program, others below the folders that are named, then below
//! those where they usually lie.

use std::path::{Path, PathBuf};

use trueup_cli_harness::fixture_providers;

/// How deep folders are searched.
const DEPTH_MAX: usize = 8;

/// The folder of the binary of a provider.
pub(crate) fn folder_of(kind: &str) -> Option<PathBuf> {
    if kind.starts_with("fixture") {
        return Some(fixture_providers(env!("CARGO_BIN_EXE_trueup")).to_owned());
    }
    let named = std::env::var_os("TRUEUP_REFEREE_PROVIDERS");
    let named: Vec<PathBuf> = named.iter().flat_map(std::env::split_paths).collect();
    let home = std::env::home_dir().map(|home| home.join(".terraform.d"));
    let usual = ["/usr/share/terraform/plugins", "/usr/local/share", "/opt"].map(PathBuf::from);
    let roots = named.into_iter().chain(home).chain(usual);
    roots.into_iter().find_map(|root| below(&root, kind))
}

fn below(root: &Path, kind: &str) -> Option<PathBuf> {
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let rest = name.strip_prefix("terraform-provider-").and_then(|name| name.strip_prefix(kind));
            if path.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
                && !name.ends_with(".zip")
            {
                return Some(folder);
            }
        }
    }
    None
}

/// The CLI configuration by which both programs find the providers that these texts ask for; or the one that is missing.
pub(crate) fn settings<'t>(texts: impl Iterator<Item = &'t str>) -> Result<String, String> {
    let mut overrides = std::collections::BTreeMap::new();
    for line in texts.flat_map(str::lines) {
        let Some(source) = line.split("source").nth(1).and_then(|rest| rest.split('"').nth(1)) else {
            continue;
        };
        let Some((_, kind)) = source.rsplit_once('/').filter(|_| !source.starts_with('.')) else { continue };
        let folder = folder_of(kind).ok_or_else(|| kind.to_owned())?;
        overrides.insert(source.to_owned(), folder);
    }
    let lines: String = overrides
        .iter()
        .map(|(source, folder)| format!("    \"{source}\" = \"{}\"\n", folder.display()))
        .collect();
    Ok(format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n  direct {{}}\n}}\n"))
}
