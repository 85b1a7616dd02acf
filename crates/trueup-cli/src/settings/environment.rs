//! The environment, read once and handed on as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use smol_str::SmolStr;

/// What begins the names of variables for programs: as Terraform's users know it, then ours, which counts more.
const VARIABLE_PREFIXES: [&str; 2] = ["TF_VAR_", "TRUEUP_VAR_"];

/// The environment of the process, or what a test says it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
}

impl Environment {
    /// That of the process. What is not UTF-8 is left out: nothing here could use it.
    pub(crate) fn of_process() -> Self {
        let named = std::env::vars_os();
        let named =
            named.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Environment { variables: named.collect(), home: std::env::home_dir() }
    }

    /// One of these variables alone.
    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Environment { variables, home: None }
    }

    /// A variable. An empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// All variables.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// A variable as it is set, be it to nothing.
    pub(crate) fn exact(&self, name: &str) -> Option<&String> {
        self.variables.get(name)
    }

    /// The variables whose names begin so.
    #[cfg(feature = "s3")]
    pub(crate) fn starting_with(&self, prefix: &str) -> Vec<(String, String)> {
        let named = self.variables.iter().filter(|(name, _)| name.starts_with(prefix));
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
                .variables
                .iter()
                .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value)));
            named.map(|(name, value)| (SmolStr::new(name), value.clone()))
        };
        VARIABLE_PREFIXES.into_iter().flat_map(of).collect()
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
