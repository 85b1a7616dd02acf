//! Why a measurement could not be made.

use std::fmt;
use std::path::Path;

/// One sentence, ready to be shown.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(summary: impl Into<String>) -> Self {
        Self(summary.into())
    }

    /// Something about a file or folder failed.
    pub(crate) fn at(path: &Path, error: impl fmt::Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
