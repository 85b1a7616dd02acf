//! Policy files.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use trueup_files::Accept;

use crate::cel::{CelError, Program};
use crate::judge::{RESOURCE, VARIABLES};
use crate::{Effect, Policies, Policy};

/// More is no policy, but a mistake.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Why policies could not be read.
#[derive(Debug)]
pub struct PolicyError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for PolicyError {}

/// What a file holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(default)]
    policy: Vec<Written>,
}

/// A policy as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    effect: Effect,
    when: String,
    message: String,
}

impl Policies {
    /// Adds the policies of a file, or of all `*.toml` files of a folder in the order of their names.
    pub fn read(&mut self, path: &Path) -> Result<(), PolicyError> {
        let fail = |what: String| PolicyError { path: path.to_owned(), what };
        let found = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
        if !found.is_dir() {
            return self.read_file(path);
        }
        let entries = std::fs::read_dir(path).map_err(|error| fail(error.to_string()))?;
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut paths = paths.map_err(|error| fail(error.to_string()))?;
        // A name that some systems take for the same must not leave a policy out.
        paths.retain(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")));
        paths.sort();
        paths.iter().try_for_each(|path| self.read_file(path))
    }

    fn read_file(&mut self, path: &Path) -> Result<(), PolicyError> {
        let fail = |what: String| PolicyError { path: path.to_owned(), what };
        let text = trueup_files::read_text(path, Accept::Regular, FILE_BYTES_MAX);
        self.add(path, &text.map_err(|error| fail(error.to_string()))?).map_err(fail)
    }

    /// Adds the policies of a text.
    fn add(&mut self, path: &Path, text: &str) -> Result<(), String> {
        let file: PolicyFile = toml::from_str(text).map_err(|error| error.to_string())?;
        for written in file.policy {
            let Written { name, effect, when, message } = written;
            if let Some(other) = self.policies.iter().find(|other| other.name == name) {
                return Err(format!("a policy `{name}` is already in {}", other.file.display()));
            }
            let compiled = Program::compile(&when, &VARIABLES);
            let program = compiled.map_err(|error| uncompiled(&name, &when, &error))?;
            let of_resources = program.refers_to(RESOURCE);
            self.policies.push(Policy {
                name,
                effect,
                message,
                program,
                of_resources,
                file: path.to_owned(),
            });
        }
        Ok(())
    }
}

/// Why a `when` can't be compiled, with the place and a hint.
fn uncompiled(name: &str, when: &str, error: &CelError) -> String {
    let (line, column) = error.position(when);
    let excerpt = error.excerpt(when);
    let hint = error.fix().map(|fix| format!("\nhelp: {fix}")).unwrap_or_default();
    format!("`when` of policy `{name}`, line {line}, column {column}: {error}\n{excerpt}{hint}")
}
