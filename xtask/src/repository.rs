//! Where things lie in this repository, and which files there are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The checkout that the tool was built in.
pub(crate) struct Repository {
    pub(crate) root: PathBuf,
}

impl Repository {
    pub(crate) fn of_this_tool() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: here.parent().unwrap_or(here).to_owned() }
    }

    /// The build directory that examples share with the workspace, so that dependencies are built once.
    pub(crate) fn target_dir(&self) -> PathBuf {
        self.root.join("target")
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

    /// All files with an extension below a folder of the root, in a fixed order. A folder that is not there has none.
    pub(crate) fn files_below(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>, Failure> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.join(folder)];
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

    /// The path as it is shown to people.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
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
