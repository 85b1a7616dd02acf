//! Diagnostics: what is wrong with an input, where, and what to do about it.
//!
//! A user's mistake is never an error that stops at the first; it is a diagnostic, gathered with all the others.

mod report;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use report::{Report, Style};

use crate::path::Path;
use crate::source::Origin;

/// One thing to tell the user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub summary: String,
    /// The declaration it is about, such as `std_file.readme`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The position within the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// The place in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The place of what it repeats, such as the first of two declarations of one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Origin>,
    /// Places whose text must not be shown in any excerpt, because a secret stands there.
    #[serde(default, skip_serializing_if = "<[Origin]>::is_empty")]
    pub concealed: Arc<[Origin]>,
    /// A few words to stand under the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Further explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The class of the failure that it tells of, for machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can run.
    Error,
    /// Worth knowing.
    Warning,
}

impl Diagnostic {
    /// An error with this summary.
    pub fn error(summary: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into())
    }

    /// A warning with this summary.
    pub fn warning(summary: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary.into())
    }

    fn new(severity: Severity, summary: String) -> Self {
        Diagnostic {
            severity,
            summary,
            subject: None,
            path: None,
            origin: None,
            first: None,
            concealed: Arc::default(),
            label: None,
            detail: None,
            hints: Vec::new(),
            class: None,
        }
    }

    /// Says which declaration it is about.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Says which position it is about, and where that stands in the source.
    #[must_use]
    pub fn at(mut self, path: Path, origin: Option<Origin>) -> Self {
        self.path = Some(path);
        self.origin = origin;
        self
    }

    /// Says where it stands that is repeated here.
    #[must_use]
    pub fn repeating(mut self, first: Option<Origin>) -> Self {
        self.first = first;
        self
    }

    /// Keeps the text at these places from being shown.
    #[must_use]
    pub fn concealing(mut self, secrets: Arc<[Origin]>) -> Self {
        self.concealed = secrets;
        self
    }

    /// Adds a few words to stand under the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds further explanation.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    /// One line, for where there is no source to show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.summary)?;
        self.hints.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

/// Diagnostics as they are gathered.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.0.iter_mut()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.0.extend(more);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}
