//! The environment, read once and handed on as data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;

/// What begins the names of variables for programs: as Terraform's users know it, then ours, which counts more.
pub(super) const VARIABLE_PREFIXES: [&str; 2] = ["TF_VAR_", "TRUEUP_VAR_"];

/// The environment of the process, or a test's. A clone shares it. It holds secrets, so it has no `Debug`.
#[derive(Clone, Default)]
pub struct Environment {
    shared: Arc<Contents>,
}

#[derive(Default)]
struct Contents {
    all: Vec<(OsString, OsString)>,
    /// Those of `all` that are UTF-8.
    text: BTreeMap<String, String>,
    home: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of the process.
    #[expect(clippy::disallowed_methods, reason = "the one place where the environment comes in")]
    pub fn of_process() -> Self {
        Self::new(std::env::vars_os().collect(), std::env::home_dir())
    }

    pub(super) fn new(all: Vec<(OsString, OsString)>, home: Option<PathBuf>) -> Self {
        let text = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        let text = all.iter().filter_map(text).collect();
        Environment { shared: Arc::new(Contents { all, text, home }) }
    }

    /// These variables alone.
    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        Self::new(variables.map(|(name, value)| (name.into(), value.into())).into(), None)
    }

    /// The same environment without these variables.
    pub fn without(&self, names: &[&str]) -> Self {
        let Contents { all, home, .. } = &*self.shared;
        let kept = all.iter().filter(|(name, _)| !names.iter().any(|left_out| name == left_out));
        Self::new(kept.cloned().collect(), home.clone())
    }

    /// A variable. An empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.exact(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.shared.home.as_deref()
    }

    /// All variables, for processes that inherit them.
    pub fn all(&self) -> &[(OsString, OsString)] {
        &self.shared.all
    }

    /// All variables that are UTF-8.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.shared.text
    }

    /// A variable as it is set, be it to nothing.
    pub(crate) fn exact(&self, name: &str) -> Option<&String> {
        self.shared.text.get(name)
    }

    /// The variables whose names begin so.
    #[cfg(feature = "s3")]
    pub(crate) fn starting_with(&self, prefix: &str) -> Vec<(String, String)> {
        let named = self.variables().iter().filter(|(name, _)| name.starts_with(prefix));
        named.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether a variable is set to anything.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The variables for programs; of two for the same one, the later counts.
    pub(crate) fn program_variables(&self) -> Vec<(SmolStr, String)> {
        let of = |prefix: &'static str| {
            let named = self
                .variables()
                .iter()
                .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value)));
            named.map(|(name, value)| (SmolStr::new(name), value.clone()))
        };
        VARIABLE_PREFIXES.into_iter().flat_map(of).collect()
    }

    /// The user's folder for what is remembered from one command to another.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let state = self.get("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(".local").join("state")));
        Some(state?.join("trueup"))
    }

    /// The user's configuration file.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        let given = self.get("TRUEUP_CONFIG").map(PathBuf::from);
        let folder = || {
            let config = self.get("XDG_CONFIG_HOME").map(PathBuf::from);
            config.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(".config")))
        };
        given.or_else(|| Some(folder()?.join("trueup").join("config.toml")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_variables_count_more_than_terraforms() {
        let environment =
            Environment::of([("TRUEUP_VAR_a", "ours"), ("TF_VAR_b", "1"), ("TF_VAR_a", "theirs"), ("A", "")]);
        let expected = [("a", "theirs"), ("b", "1"), ("a", "ours")];
        let expected = expected.map(|(name, value)| (SmolStr::new(name), value.to_owned()));
        assert_eq!(environment.program_variables(), expected);
    }
}
