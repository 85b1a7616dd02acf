//! What a run came to.

use trueup_core::{Address, Failure, Value};
use trueup_state::StoreError;

use crate::plan::{Action, Plan};

/// How one resource ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// This was done, and is recorded.
    Done(Action),
    /// It failed. Boxed, because there are many outcomes and few failures.
    Failed(Box<Failure>),
    /// It was not begun, because this failed.
    Skipped(Address),
    /// It was not begun, because the run was stopped.
    NotStarted,
    /// It was begun, and the run did not wait for its end. The next run finds out what came of it.
    InFlight,
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(Box::new(failure))
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The run.
    pub run: String,
    /// What was planned.
    pub plan: Plan,
    /// How each resource with something to do ended, in the order of their addresses. A clean-up of older generations
    /// that failed is listed beside what happened to the resource itself.
    pub outcomes: Vec<(Address, Outcome)>,
    /// Why nothing more could be recorded, if that is what ended the run.
    pub store_failure: Option<StoreError>,
    /// The stack's outputs, if the run succeeded.
    pub outputs: Option<Value>,
    /// What to tell the user, short of an error.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// Whether all that was planned was done.
    pub fn succeeded(&self) -> bool {
        let done = self.outcomes.iter().all(|(_, outcome)| matches!(outcome, Outcome::Done(_)));
        done && self.store_failure.is_none()
    }

    /// Takes in that the lease could not be given back. It expires by itself; only a state that is gone fails the run.
    pub(crate) fn not_released(&mut self, error: StoreError) {
        match error {
            StoreError::TakenAway { .. } => self.store_failure = Some(error),
            _ => self.warnings.push(format!("{error}; the lease expires by itself")),
        }
    }

    /// How a resource ended.
    pub fn outcome(&self, address: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|(own, _)| own.to_string() == address).map(|(_, outcome)| outcome)
    }
}
