//! From modules to a program for the engine.
//!
//! [`Loaded::load`] reads the folder; [`Loaded::build`] finds the types that are used, expands modules and resources,
//! evaluates and checks everything once with all outputs unknown, and lowers what is left to declarations whose
//! expressions the engine evaluates when it knows more. What depends on no resource is lowered to plain values.
//!
//! If the number of instances of something depends on outputs, a build is *pending*: its program is the part that can be
//! previewed, and the next build is given what the preview knows.

mod addresses;
mod bodies;
mod body;
mod build;
mod computed;
mod console;
mod moves;
mod providers;
mod resources;
mod stated;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin, SourceMap, Value};
use trueup_program::{Program, Scope};
use trueup_provider::Registry;

use crate::declare::{Module, RequiredProvider, Settings};
use crate::eval::{Random, Reads};
use crate::modules::{ModuleNode, load_modules};
use crate::variables::GivenVariables;
use crate::world::named;

/// A folder that was read.
pub struct Loaded {
    folder: PathBuf,
    tree: Arc<ModuleNode>,
    /// The texts that diagnostics refer to.
    pub sources: SourceMap,
    /// What is wrong with the texts.
    pub diagnostics: Diagnostics,
    /// Whether there are stack files in the folder at all.
    pub found: bool,
}

/// What a build is told.
pub struct BuildRequest<'a> {
    /// The providers.
    pub registry: &'a Registry,
    /// The stack's name.
    pub stack: SmolStr,
    /// The stage.
    pub stage: SmolStr,
    /// What people give.
    pub variables: &'a GivenVariables,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// When the plan is made.
    pub plan_time: SystemTime,
    /// The time that `timestamp` tells at apply: with a saved plan, later.
    pub now: SystemTime,
    /// Fills a buffer with random bytes, for `uuid` and `bcrypt`.
    pub random: Arc<Random>,
    /// What the program is for.
    pub purpose: Purpose,
    /// What a preview of an earlier, pending build knows.
    pub known: Option<&'a (dyn Scope + Sync)>,
    /// What that build waited for.
    pub waited_for: &'a [Origin],
}

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// To be brought about.
    #[default]
    Deploy,
    /// To be deleted as a whole: only providers count, as far as they can be configured (DELETE-8).
    Destroy,
    /// To be judged: variables without a value are unknown.
    Validate,
}

/// A program.
#[derive(Debug)]
pub struct Built {
    /// What is declared; a part of it, if the build is pending.
    pub program: Program,
    /// What the build waits for: where the number of instances depends on outputs. Empty if it is complete.
    pub pending: Vec<Origin>,
    /// Why nothing more will become known before a deploy, if that is so: the program stays the part that it is.
    pub stuck: Option<Diagnostics>,
    /// What to tell the user, short of an error.
    pub warnings: Diagnostics,
    /// The values that variables of the root module were given.
    pub variables: Vec<(SmolStr, Value)>,
    /// The files that expressions read, also those that they read later, as more becomes known.
    pub reads: Reads,
}

/// A program that is not sound.
#[derive(Debug)]
pub struct Unsound {
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// The texts that diagnostics refer to.
    pub sources: SourceMap,
}

impl Loaded {
    /// Reads a folder with all modules it calls.
    pub fn load(folder: &Path) -> Self {
        let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
        let tree = load_modules(folder, &mut sources, &mut diagnostics);
        let found = std::fs::read_dir(folder).is_ok_and(|entries| {
            let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            names.any(|name| crate::folder::is_source(&name))
        });
        Loaded { folder: folder.to_owned(), tree, sources, diagnostics, found }
    }

    /// What the program says about itself.
    pub fn settings(&self) -> &Settings {
        &self.tree.module.settings
    }

    /// The variables of the root module.
    pub fn variables(&self) -> impl Iterator<Item = &SmolStr> {
        self.tree.module.variables.keys()
    }

    /// The providers that the program asks for, module by module: by name, or by the types that it uses.
    pub fn providers(&self) -> Vec<(SmolStr, RequiredProvider)> {
        let mut found = Vec::new();
        for node in self.tree.modules() {
            let Module { settings, providers, resources, .. } = &node.module;
            let mut told: BTreeSet<SmolStr> = BTreeSet::new();
            for (local, required) in &settings.required_providers {
                told.insert(local.clone());
                found.push((local.clone(), required.clone()));
            }
            let configured = providers.iter().map(|it| it.name.clone());
            let used = resources.iter().map(|(key, declared)| named(key, declared));
            for name in configured.chain(used).filter(|name| told.insert(name.local.clone())) {
                let implied = RequiredProvider {
                    source: None,
                    version: None,
                    aliases: Vec::new(),
                    origin: name.origin,
                };
                found.push((name.local, implied));
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
