//! What can be simulated and named: the scenario of a seed, or a row of the crash table, with or without a kill. Its name
//! is what one types to see it again.

use std::fmt;

use crate::process::Incident;
use crate::scenario::{Scenario, Size, generate, row};

/// A case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// Where its scenario comes from.
    pub source: Source,
    /// The point at which a process is killed, beside what the scenario says.
    pub kill: Option<u64>,
}

/// Where a scenario comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The large one of a seed, with all that can go wrong.
    Large(u64),
    /// The small one of a seed, with nothing going wrong but kills.
    Small(u64),
    /// A row of the crash table.
    Row(usize),
}

/// One seed in so many is that of a small scenario: killed everywhere, it takes as long as a hundred large ones.
const SMALL_EVERY: u64 = 20;

impl Case {
    /// A case without a kill of its own.
    pub fn of(source: Source) -> Self {
        Case { source, kill: None }
    }

    /// The case of a seed: mostly a large one.
    pub fn of_seed(seed: u64) -> Self {
        Case::of(if seed % SMALL_EVERY == 1 { Source::Small(seed) } else { Source::Large(seed) })
    }

    /// The same with a kill.
    pub fn killed_at(self, point: u64) -> Self {
        Case { kill: Some(point), ..self }
    }

    /// What happens in it.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = match self.source {
            Source::Large(seed) => generate(seed, Size::Large),
            Source::Small(seed) => generate(seed, Size::Small),
            Source::Row(number) => row(number).scenario(),
        };
        let doomed = self.doomed_step(&scenario);
        if let (Some(point), Some(step)) = (self.kill, doomed.and_then(|at| scenario.steps.get_mut(at))) {
            step.incidents.push((point, Incident::Kill));
        }
        scenario
    }

    /// The step in which it is killed at every point, if it is small enough for that.
    pub(crate) fn doomed_step(&self, scenario: &Scenario) -> Option<usize> {
        match self.source {
            Source::Large(_) => None,
            Source::Small(_) => scenario.steps.len().checked_sub(1),
            Source::Row(_) => Some(1),
        }
    }

    /// Whether one rerun after the kill must be enough.
    pub(crate) fn ends_with_one_rerun(&self) -> bool {
        matches!(self.source, Source::Row(number) if row(number).ends_with_one_rerun())
    }
}

/// The arguments of `cargo xtask sim` that show it.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Source::Large(seed) => write!(f, "--seed {seed}")?,
            Source::Small(seed) => write!(f, "--small --seed {seed}")?,
            Source::Row(number) => write!(f, "--row {number}")?,
        }
        self.kill.map_or(Ok(()), |point| write!(f, " --kill {point}"))
    }
}
