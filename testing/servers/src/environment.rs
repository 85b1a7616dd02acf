//! The environment of the test command, for tests that start programs or are told something by whoever runs them.
#![expect(clippy::disallowed_methods, reason = "the one place where tests read it")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A variable.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// A variable that is text.
pub fn text_variable(name: &str) -> Option<String> {
    variable(name)?.into_string().ok()
}

/// A variable that is a number.
pub fn number_variable(name: &str) -> Option<u64> {
    text_variable(name)?.parse().ok()
}

/// All variables.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The home directory of whoever runs the tests.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// `PATH`, for programs that start others.
pub fn search_path() -> OsString {
    variable("PATH").unwrap_or_default()
}

/// Finds a program on the path.
pub fn program_on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&search_path()).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Keeps variables that begin so from a command.
pub fn remove_variables(command: &mut Command, prefix: &str) {
    for (name, _) in variables() {
        if name.to_string_lossy().starts_with(prefix) {
            command.env_remove(name);
        }
    }
}
