//! Why a phase failed: one sentence, and the findings it rests on, if there are any.

use std::fmt;

/// A phase's failure, ready to be shown.
#[derive(Debug)]
pub(crate) struct Failure {
    summary: String,
    findings: Vec<String>,
}

impl Failure {
    pub(crate) fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), findings: Vec::new() }
    }

    /// Succeeds when nothing was found, and otherwise fails with all findings at once.
    pub(crate) fn unless_empty(findings: Vec<String>, summary: impl Into<String>) -> Result<(), Self> {
        if findings.is_empty() { Ok(()) } else { Err(Self { summary: summary.into(), findings }) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.summary)?;
        for finding in &self.findings {
            write!(formatter, "\n  {finding}")?;
        }
        Ok(())
    }
}
