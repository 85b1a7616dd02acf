//! What is done to a stack, and measured.

use serde::{Deserialize, Serialize};

/// One command of a user, in the order in which the life of a stack has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    Validate,
    /// The first deploy: everything is created.
    Deploy,
    /// A plan when there is nothing to do.
    Plan,
    /// Listing what is recorded. Where a tool has no such command of its own, it is left out.
    Records,
    /// A plan after one resource of all was changed.
    PlanOne,
    /// A deploy of that change.
    DeployOne,
    /// A deploy after every resource was changed.
    DeployAll,
    Destroy,
}

impl Operation {
    pub(crate) const ALL: [Operation; 8] = [
        Operation::Validate,
        Operation::Deploy,
        Operation::Plan,
        Operation::Records,
        Operation::PlanOne,
        Operation::DeployOne,
        Operation::DeployAll,
        Operation::Destroy,
    ];

    /// For people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Operation::Validate => "validate",
            Operation::Deploy => "first deploy",
            Operation::Plan => "no-op plan",
            Operation::Records => "list records",
            Operation::PlanOne => "plan of one change",
            Operation::DeployOne => "one change",
            Operation::DeployAll => "all changed",
            Operation::Destroy => "destroy",
        }
    }

    /// Which edition of the program it works on.
    pub(crate) fn edition(self) -> Edition {
        match self {
            Operation::Validate | Operation::Deploy | Operation::Plan | Operation::Records => Edition::First,
            Operation::PlanOne | Operation::DeployOne => Edition::OneChanged,
            Operation::DeployAll | Operation::Destroy => Edition::AllChanged,
        }
    }

    /// Whether it needs what the first deploy made.
    pub(crate) fn needs_deploy(self) -> bool {
        self > Operation::Deploy
    }

    /// Whether it changes something, so that the disk has a say in how long it takes.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Operation::Deploy | Operation::DeployOne | Operation::DeployAll | Operation::Destroy)
    }
}

/// What the program says at a point in the life of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    First,
    OneChanged,
    AllChanged,
}
