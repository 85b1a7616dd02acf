//! From modules to a program for the engine.
//!
//! [`StackFolder::read`] reads the folder; [`StackFolder::build`] finds the types that are used, expands modules and resources,
//! evaluates and checks everything once with all outputs unknown, and lowers what is left to declarations whose
//! expressions the engine evaluates when it knows more. What depends on no resource is lowered to plain values.
//!
//! If the number of instances of something depends on outputs, a build is *pending*: its program is the part that can be
//! previewed, and the next build is given what the preview knows.

mod addresses;
mod bodies;
mod body;
mod build;
mod calls;
mod checks;
mod computed;
mod console;
mod deferral;
mod imports;
mod metas;
mod moves;
mod premises;
mod providers;
mod resources;
mod stated;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, SourceMap};
use trueup_front_end::{RequiredProvider, StackSettings};

use crate::declare::{Module, Settings};
use crate::modules::{ModuleNode, load_modules};
use crate::world::named;

/// A folder with stack files, as it was read.
pub struct StackFolder {
    folder: PathBuf,
    tree: Arc<ModuleNode>,
    /// The texts that diagnostics refer to.
    pub sources: SourceMap,
    /// What is wrong with the texts.
    pub diagnostics: Diagnostics,
    /// Whether there are stack files in the folder at all.
    pub found: bool,
}

impl StackFolder {
    /// Reads a folder with all modules it calls.
    pub fn read(folder: &Path) -> Self {
        let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
        let tree = load_modules(folder, &mut sources, &mut diagnostics);
        let found = std::fs::read_dir(folder).is_ok_and(|entries| {
            let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            names.any(|name| crate::folder::is_source(&name))
        });
        StackFolder { folder: folder.to_owned(), tree, sources, diagnostics, found }
    }

    /// The settings of the stack as a whole.
    pub fn settings(&self) -> StackSettings {
        let Settings { name, state, protected_stages, parallelism, retry, timeout, .. } =
            &self.tree.module.settings;
        StackSettings {
            name: name.as_ref().map(|(name, _)| name.clone()),
            state: state.clone(),
            protected_stages: protected_stages.clone(),
            parallelism: *parallelism,
            retry: *retry,
            timeout: *timeout,
        }
    }

    /// The variables of the root module.
    pub fn variables(&self) -> impl Iterator<Item = &SmolStr> {
        self.tree.module.variables.keys()
    }

    /// The providers that the program requires, module by module: by name, or by the types that it uses.
    pub fn providers(&self) -> Vec<RequiredProvider> {
        let mut found = Vec::new();
        for node in self.tree.modules() {
            let Module { settings, providers, resources, .. } = &node.module;
            let mut listed: BTreeSet<SmolStr> = BTreeSet::new();
            for (local, required) in &settings.required_providers {
                listed.insert(local.clone());
                found.push(RequiredProvider {
                    local: local.clone(),
                    source: required.source.clone(),
                    versions: required.version.clone(),
                    origin: required.origin,
                });
            }
            for config in providers.iter().filter(|config| config.version.is_some()) {
                let local = config.name.local.clone();
                let source = settings.required_providers.get(&local).and_then(|it| it.source.clone());
                let (versions, origin) = (config.version.clone(), config.name.origin);
                listed.insert(local.clone());
                found.push(RequiredProvider { local, source, versions, origin });
            }
            let configured = providers.iter().map(|it| it.name.clone());
            let used = resources.iter().map(|(key, declared)| named(key, declared));
            for name in configured.chain(used).filter(|name| listed.insert(name.local.clone())) {
                let origin = name.origin;
                found.push(RequiredProvider { local: name.local, source: None, versions: None, origin });
            }
        }
        found
    }

    /// All files that belong to the program, also those that only may.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let stages = PathBuf::from(crate::variables::STAGES);
        for folder in self.tree.folders().into_iter().chain([stages]) {
            let folder = self.folder.join(folder);
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let ours = |name: &String| {
                crate::folder::is_source(name) || name.ends_with(".tfvars") || name.ends_with(".tfvars.json")
            };
            files.extend(names.filter(ours).map(|name| folder.join(name)));
        }
        files.sort();
        files
    }
}
