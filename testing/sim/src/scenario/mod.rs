//! Scenarios: a program, edits of it, operations, and what goes wrong meanwhile. Plain data, so that they can be shrunk and
//! told.

mod edit;
mod generate;
mod rings;
mod rows;
mod shrink;
mod sketch;
mod text;
mod variants;

pub use edit::Edit;
pub use generate::{Size, generate};
pub use rows::{ROWS, Row, row};
pub use shrink::shrink;
pub use sketch::{Item, Sketch};

#[cfg(test)]
pub(crate) use sketch::secret_of;
pub(crate) use sketch::{BEARER, COLOURS, STACK, STAGE, address, page_name};

use crate::actor::Deed;
use crate::cloud::{Faults, Lateness};
use crate::process::Incident;
use crate::store::StoreFaults;
use crate::tally::Ingredient;

/// All that happens in one simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Decides what the scenario itself leaves open: latencies, tokens, what arrives late.
    pub seed: u64,
    /// The steps, one after another. In the end everything is let settle.
    pub steps: Vec<Step>,
}

/// One step: changes of program and cloud, then an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is changed in the program.
    pub edits: Vec<Edit>,
    /// What is changed in the cloud by hand.
    pub deeds: Vec<Deed>,
    /// What is run.
    pub operation: Operation,
    /// What happens at which point of the run.
    pub incidents: Vec<(u64, Incident)>,
    /// What goes wrong in the cloud.
    pub faults: Faults,
    /// What goes wrong in the store.
    pub store: StoreFaults,
    /// How late the cloud shows what happened.
    pub lateness: Lateness,
    /// How many operations run at a time.
    pub parallelism: u64,
    /// Whether a new release is installed before.
    pub upgrade: bool,
    /// Whether the state is lost before.
    pub loses_state: bool,
    /// By how many seconds the wall clock is set forward before, or back.
    pub clock_step_s: i64,
    /// Whether a person settles at once afterwards what only a person can.
    pub hasty: bool,
    /// A second process that does the same at the same time.
    pub rival: Option<Rival>,
    /// How long nobody does anything afterwards.
    pub pause_ms: u64,
}

/// A second process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rival {
    /// How much later it begins.
    pub delay_ms: u64,
    /// Whether whoever starts it takes the lease away from the first.
    pub unlocks: bool,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Deploy everything.
    Deploy,
    /// Deploy, and take over what is someone else's.
    Adopt,
    /// Deploy without looking for drift.
    DeployBlindly,
    /// Deploy one resource and what it depends on.
    Target(u64),
    /// Deploy all but one resource and what depends on it.
    Exclude(u64),
    /// Replace one resource whatever its plan says.
    Replace(u64),
    /// Let records take over what is observed.
    Refresh,
    /// Delete everything.
    Destroy,
}

impl Operation {
    /// What it counts as.
    pub(crate) fn ingredient(&self) -> Ingredient {
        match self {
            Operation::Deploy => Ingredient::Deploy,
            Operation::Adopt => Ingredient::Adopt,
            Operation::DeployBlindly => Ingredient::DeployBlindly,
            Operation::Target(_) => Ingredient::Target,
            Operation::Exclude(_) => Ingredient::Exclude,
            Operation::Replace(_) => Ingredient::Replace,
            Operation::Refresh => Ingredient::Refresh,
            Operation::Destroy => Ingredient::Destroy,
        }
    }
}
