//! Where things lie in this repository, and which files there are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trueup_test_servers::environment::variable;

use crate::failure::Failure;

/// The checkout that the tool was built in.
pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    target_dir: PathBuf,
}

impl Repository {
    pub(crate) fn of_this_tool() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.ancestors().nth(2).unwrap_or(here);
        Self::at(root, variable("CARGO_TARGET_DIR"))
    }

    fn at(root: &Path, target_dir: Option<OsString>) -> Self {
        // Cargo runs at the root, so a relative directory is meant from there; an absolute one stays as it is.
        let target_dir = root.join(target_dir.unwrap_or_else(|| "target".into()));
        Self { root: root.to_owned(), target_dir }
    }

    /// The build directory that examples share with the workspace, so that dependencies are built once: the one that
    /// `CARGO_TARGET_DIR` names, where it is set.
    pub(crate) fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    /// A program that the phase `build` has built.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.target_dir.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The manifest of each example, relative to the root, in order of name.
    pub(crate) fn example_manifests(&self) -> Result<Vec<PathBuf>, Failure> {
        let examples = entries(&self.root.join("examples"))?;
        let manifests = examples.iter().map(|example| example.join("Cargo.toml"));
        Ok(manifests.filter(|manifest| manifest.is_file()).map(|manifest| self.relative(&manifest)).collect())
    }

    /// The markdown documents at the root and below `docs`.
    pub(crate) fn documents(&self) -> Result<Vec<PathBuf>, Failure> {
        let at_root = entries(&self.root)?.into_iter().filter(|path| has_extension(path, "md"));
        Ok(at_root.chain(self.files_below("docs", "md")?).collect())
    }

    /// As [`files_in`], for a folder of the root.
    pub(crate) fn files_below(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>, Failure> {
        files_in(&self.root.join(folder), extension)
    }

    /// The path as it is shown to people.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

/// The output of a git command.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let failed = |why: &str| Failure::new(format!("`git {}` failed: {why}", arguments.join(" ")));
    let output = Command::new("git").current_dir(root).args(arguments).output();
    let output = output.map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// All files with an extension in a folder and below, in a fixed order. A folder that is not there has none.
pub(crate) fn files_in(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if has_extension(&path, extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What lies in a folder, sorted, without hidden things and build output.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let cannot_list = |error| Failure::new(format!("cannot list {}: {error}", folder.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot_list)? {
        let entry = entry.map_err(cannot_list)?;
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_built_where_cargo_builds() {
        let built = |target_dir: Option<&str>| {
            Repository::at(Path::new("/checkout"), target_dir.map(OsString::from)).target_dir().to_owned()
        };
        assert_eq!(built(None), Path::new("/checkout/target"));
        assert_eq!(built(Some("elsewhere")), Path::new("/checkout/elsewhere"));
        assert_eq!(built(Some("/tmp/elsewhere")), Path::new("/tmp/elsewhere"));
    }
}
