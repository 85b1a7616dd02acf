//! What the checks came to.

use std::fmt;

/// How one check ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The type does as it should.
    Passed,
    /// It does not: what was expected and what happened.
    Failed(String),
    /// It could not be checked: what the kit would need.
    Skipped(String),
}

/// How all checks ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckReport {
    /// Each check's name, which states what should hold, and how it ended.
    pub checks: Vec<(&'static str, Outcome)>,
}

impl CheckReport {
    /// Whether no check failed and at least one passed: a type of which nothing could be checked has shown nothing.
    pub fn passed(&self) -> bool {
        let any = |is: fn(&Outcome) -> bool| self.checks.iter().any(|(_, outcome)| is(outcome));
        any(|outcome| *outcome == Outcome::Passed) && !any(|outcome| matches!(outcome, Outcome::Failed(_)))
    }

    /// How a check ended.
    pub fn outcome(&self, check: &str) -> Option<&Outcome> {
        self.checks.iter().find(|(name, _)| *name == check).map(|(_, outcome)| outcome)
    }

    /// Ends the test unless every check passed or was skipped for a reason, and not all were skipped.
    ///
    /// # Panics
    /// With the whole report, if one failed or none passed.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.passed(), "the type does not show that it keeps its contract\n{self}");
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.checks {
            let name = name.replace('_', " ");
            match outcome {
                Outcome::Passed => writeln!(f, "  ✓ {name}")?,
                Outcome::Failed(why) => writeln!(f, "  ✗ {name}: {why}")?,
                Outcome::Skipped(why) => writeln!(f, "  - {name}: {why}")?,
            }
        }
        Ok(())
    }
}
