//! How a task ends.

use trueup_core::Failure;
use trueup_provider::Binding;
use trueup_state::StoreError;

use super::Task;
use crate::draft::Attributes;
use crate::events::Operation;
use crate::plan::Action;

/// A failed task: a provider or store error.
#[derive(Debug)]
pub(crate) enum TaskError {
    /// The operation failed.
    Failed(Failure),
    /// The store failed: nothing more can be recorded.
    Store(StoreError),
    /// The run was stopped before anything of the task was begun.
    Stopped,
}

impl From<Failure> for TaskError {
    fn from(failure: Failure) -> Self {
        TaskError::Failed(failure)
    }
}

impl From<StoreError> for TaskError {
    fn from(error: StoreError) -> Self {
        TaskError::Store(error)
    }
}

/// The result of a task that succeeded.
pub(crate) struct TaskResult {
    pub(crate) action: Action,
    /// What dependents see of it; `None` for a delete.
    pub(crate) attributes: Option<Attributes>,
    /// What was attached to it.
    pub(crate) bindings: Vec<Binding>,
}

/// What a failed task was about.
pub(in crate::executor) fn operation_of(task: Task, action: Action) -> Operation {
    match (task, action) {
        (Task::Precreate(_), _) | (Task::Apply(_), Action::Create | Action::Replace | Action::MayReplace) => {
            Operation::Create
        }
        (Task::Apply(_), Action::Read) => Operation::Read,
        (Task::Apply(_), _) => Operation::Update,
        _ => Operation::Delete,
    }
}
