//! The packages of the workspace, as cargo lists them.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;

pub(crate) struct Package {
    pub(crate) name: String,
    /// Relative to the root of the repository.
    pub(crate) folder: PathBuf,
    /// The names of the packages that its own code uses: neither those of its tests nor those of its build script.
    pub(crate) dependencies: Vec<String>,
    /// Whether cargo looks for tests in the documentation of its library, if it is one.
    pub(crate) has_doc_tests: Option<bool>,
}

/// All packages of the workspace.
pub(crate) fn of(repository: &Repository) -> Result<Vec<Package>, Failure> {
    let mut metadata = cargo(&repository.root);
    metadata.args(["metadata", "--no-deps", "--format-version=1"]);
    let answer: Json = serde_json::from_slice(&cargo::capture(&mut metadata)?)
        .map_err(|error| Failure::new(format!("cannot read cargo's metadata: {error}")))?;
    Ok(list(&answer["packages"]).filter_map(|package| read(repository, package)).collect())
}

fn read(repository: &Repository, package: &Json) -> Option<Package> {
    let manifest = Path::new(package["manifest_path"].as_str()?);
    let is_library = |target: &&Json| list(&target["kind"]).any(|kind| kind == "lib" || kind == "proc-macro");
    let library = list(&package["targets"]).find(is_library);
    let normal = list(&package["dependencies"]).filter(|dependency| dependency["kind"].is_null());
    Some(Package {
        name: package["name"].as_str()?.to_owned(),
        folder: repository.relative(manifest.parent()?),
        dependencies: normal.filter_map(|it| Some(it["name"].as_str()?.to_owned())).collect(),
        has_doc_tests: library.and_then(|library| library["doctest"].as_bool()),
    })
}

fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}
