//! A folder with all modules it calls, each folder read once however often it is called.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostics, SourceMap};

use crate::declare::{Module, ModuleCall, at, declare};
use crate::folder::read_folder;

/// A module and the modules it calls.
#[derive(Debug)]
pub struct ModuleNode {
    /// What its files declare.
    pub module: Module,
    /// Its folder.
    pub folder: PathBuf,
    /// Its folder as seen from the root module's: what `path.module` says.
    pub shown: PathBuf,
    /// The modules it calls, by the names of the calls.
    pub calls: IndexMap<SmolStr, Arc<ModuleNode>>,
}

/// The deepest nesting of calls.
const DEPTH_MAX: usize = 64;

/// The most folders of a program. By way of links, a few folders can have paths without end.
const FOLDERS_MAX: usize = 10_000;

/// Reads a folder and all modules it calls.
pub fn load_modules(root: &Path, sources: &mut SourceMap, diagnostics: &mut Diagnostics) -> Arc<ModuleNode> {
    let mut loader =
        Loader { root, sources, diagnostics, known: BTreeMap::new(), loaded: 0, active: Vec::new() };
    loader.load(PathBuf::from("."))
}

impl ModuleNode {
    /// All folders of the tree, as seen from the root's.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.modules().into_iter().map(|node| node.shown.clone()).collect()
    }

    /// All modules of the tree, in the order of their folders.
    pub fn modules(&self) -> Vec<&ModuleNode> {
        let mut found = BTreeMap::new();
        let mut nodes = vec![self];
        while let Some(node) = nodes.pop() {
            // A folder that is called from many others is still one folder.
            if found.insert(node.shown.clone(), node).is_none() {
                nodes.extend(node.calls.values().map(|node| &**node));
            }
        }
        found.into_values().collect()
    }
}

struct Loader<'a> {
    root: &'a Path,
    sources: &'a mut SourceMap,
    diagnostics: &'a mut Diagnostics,
    known: BTreeMap<PathBuf, Arc<ModuleNode>>,
    /// How many folders were begun with.
    loaded: usize,
    /// The folders whose calls are being loaded, the outermost first, as they are without links.
    active: Vec<PathBuf>,
}

impl Loader<'_> {
    fn load(&mut self, shown: PathBuf) -> Arc<ModuleNode> {
        if let Some(node) = self.known.get(&shown) {
            return node.clone();
        }
        self.loaded += 1;
        let folder = self.root.join(&shown);
        let files = read_folder(&folder, &shown, self.sources, self.diagnostics);
        let module = declare(files, self.diagnostics);
        for variable in module.variables.values().filter(|variable| variable.is_private()) {
            variable.default.iter().for_each(|default| self.sources.withhold(default.origin));
        }
        self.active.push(without_links(&folder));
        let mut calls = IndexMap::new();
        for (name, call) in &module.calls {
            if let Some(inner) = self.called_folder(&shown, call) {
                calls.insert(name.clone(), self.load(inner));
            }
        }
        self.active.pop();
        let node = Arc::new(ModuleNode { module, folder, shown: shown.clone(), calls });
        self.known.insert(shown, node.clone());
        node
    }

    /// The folder that a call names, as seen from the root's.
    fn called_folder(&mut self, caller: &Path, call: &ModuleCall) -> Option<PathBuf> {
        let local = ["./", "../"].iter().any(|start| call.source.starts_with(start));
        if !local && !matches!(call.source.as_str(), "." | "..") {
            let summary = format!("the module source `{}` is not supported", call.source);
            let hint = "modules come from local folders: copy it here and write `source = \"./folder\"`";
            self.diagnostics.push(at(call.source_origin, summary).hint(hint));
            return None;
        }
        let folder = normal(&caller.join(call.source.as_str()));
        let (name, shown) = (&call.name.text, folder.display());
        let (summary, hint) = if !self.root.join(&folder).is_dir() {
            (format!("there is no folder `{shown}`"), "check `source`")
        } else if self.active.contains(&without_links(&self.root.join(&folder))) {
            (format!("module `{name}` calls itself by way of `{shown}`"), "a module cannot contain itself")
        } else if self.active.len() >= DEPTH_MAX {
            let summary = format!("module `{name}` is more than {DEPTH_MAX} calls deep");
            (summary, "call modules from further up, and pass outputs of one to another")
        } else if self.loaded >= FOLDERS_MAX {
            let summary = format!("this program has more than {FOLDERS_MAX} module folders");
            (summary, "links between folders give one folder many paths; call it by one")
        } else {
            return Some(folder);
        };
        self.diagnostics.push(at(call.source_origin, summary).hint(hint));
        None
    }
}

/// A folder as it is found without links. One that is gone meanwhile stays as it is named: reading it says so.
fn without_links(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// A relative path without detours.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    if normal.as_os_str().is_empty() { PathBuf::from(".") } else { normal }
}
