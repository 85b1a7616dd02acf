//! Events: what happens during a run, as one typed stream for console, JSON, history and users' own subscribers.

mod console;
mod line;
mod run_events;
mod sink;

use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::{Address, Change, Entries, Failure, Path, Value};
use trueup_state::{Holder, Scope};

use crate::options::RunOrigin;
use crate::plan::{PlannedAction, Reason};

pub use console::ConsoleLines;
pub(crate) use run_events::RunEvents;
pub use sink::{EventSink, JsonLines, Subscriber};

/// The version of the events' form.
pub const EVENT_VERSION: u32 = 2;

/// Something that happened (EVENT-3).
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Counts up from 0 within a run; `None` for what is no part of its history: waiting, and progress.
    pub sequence: Option<u64>,
    /// When.
    pub at: SystemTime,
    /// The stack and stage.
    pub scope: Scope,
    /// The run.
    pub run: SmolStr,
    /// The resource it concerns.
    pub resource: Option<Address>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, PartialEq, Debug)]
pub enum EventKind {
    /// A run began.
    RunStarted {
        /// Such as `deploy`.
        reason: SmolStr,
        /// Who started it, and where.
        holder: crate::options::Holder,
        /// How.
        origin: RunOrigin,
    },
    /// A run ended.
    RunFinished {
        /// Whether all was done.
        succeeded: bool,
    },
    /// A run waits for someone else to end theirs (STATE-4).
    Waiting {
        /// Who that is.
        holder: Holder,
        /// Since when they have been at it.
        since: SystemTime,
    },
    /// It was decided what to do with a resource.
    Decision {
        /// As in EVENT-4.
        decision: SmolStr,
        /// Where its inputs changed.
        changes: Vec<Change>,
        /// The inputs to come.
        inputs: Value,
    },
    /// An object differs from its record, or is gone.
    DriftDetected {
        /// Where: before is recorded, after is observed; all that was recorded, if it is gone.
        changes: Vec<Change>,
        /// Whether the object is gone.
        gone: bool,
    },
    /// An operation begins.
    Started {
        /// Which.
        operation: Operation,
        /// Where the inputs change, for an update.
        changes: Vec<Change>,
        /// The inputs it is called with; for a delete, those of the object.
        inputs: Value,
    },
    /// An operation is over and recorded.
    Completed {
        /// Which.
        operation: Operation,
        /// The outputs of the object; null after a delete.
        outputs: Value,
    },
    /// An operation failed for good.
    Failed {
        /// Which.
        operation: Operation,
        /// How.
        failure: Failure,
    },
    /// An operation failed and is tried again.
    Retry {
        /// Which.
        operation: Operation,
        /// How often it was tried.
        attempts: u32,
        /// How long until the next.
        wait_ms: u64,
        /// Why.
        failure: Failure,
    },
    /// Something was not done because something else failed.
    Skipped {
        /// What.
        cause: Address,
    },
    /// It turned out, on real values, that nothing had to be done.
    Unchanged,
    /// An object that existed became ours.
    Adopted {
        /// Its outputs.
        outputs: Value,
    },
    /// A provider says what it is doing.
    Progress {
        /// What.
        doing: String,
    },
}

/// What is done to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// It is made.
    Create,
    /// It is brought up to date.
    Update,
    /// It is removed.
    Delete,
    /// It is looked at.
    Read,
}

impl Operation {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
            Operation::Read => "read",
        }
    }
}

impl EventKind {
    /// The beginning of an operation that changes no inputs of an object.
    pub(crate) fn started(operation: Operation, inputs: &Value) -> Self {
        EventKind::Started { operation, changes: Vec::new(), inputs: inputs.clone() }
    }

    /// The decision on a planned action.
    pub(crate) fn decided(action: &PlannedAction) -> Self {
        EventKind::Decision {
            decision: action.decision(),
            changes: action.changes.clone(),
            inputs: action.inputs.clone(),
        }
    }

    /// The drift of a planned action, if there is any: of an object that is gone, all that was recorded (DRIFT-6).
    pub(crate) fn drifted(action: &PlannedAction) -> Option<Self> {
        let gone = action.reasons.contains(&Reason::Gone);
        let lost = |(name, value): (&SmolStr, &Value)| Change {
            path: Path::attribute(name.clone()),
            before: Some(value.clone()),
            after: None,
            certain: true,
        };
        let changes = match gone {
            true => action.prior_outputs.as_entries().into_iter().flat_map(Entries::iter).map(lost).collect(),
            false => action.drift.clone(),
        };
        (gone || !changes.is_empty()).then_some(EventKind::DriftDetected { changes, gone })
    }

    /// The name by which subscribers know it (EVENT-1).
    pub fn name(&self) -> String {
        match self {
            EventKind::RunStarted { .. } => "reconciler.run.started".to_owned(),
            EventKind::RunFinished { .. } => "reconciler.run.finished".to_owned(),
            EventKind::Waiting { .. } => "reconciler.run.waiting".to_owned(),
            EventKind::Decision { .. } => "reconciler.deploy.decision".to_owned(),
            EventKind::DriftDetected { .. } => "reconciler.drift.detected".to_owned(),
            EventKind::Started { operation, .. } => format!("reconciler.{}.started", operation.name()),
            EventKind::Completed { operation, .. } => format!("reconciler.{}.completed", operation.name()),
            EventKind::Failed { .. } => "reconciler.operation.failed".to_owned(),
            EventKind::Retry { .. } => "reconciler.operation.retry".to_owned(),
            EventKind::Skipped { .. } => "reconciler.operation.skipped".to_owned(),
            EventKind::Unchanged => "reconciler.operation.unchanged".to_owned(),
            EventKind::Adopted { .. } => "reconciler.adopt.completed".to_owned(),
            EventKind::Progress { .. } => "reconciler.operation.progress".to_owned(),
        }
    }
}

impl Event {
    /// The event as one line of JSON. Secrets are left out.
    pub fn to_json(&self) -> String {
        line::written(self)
    }
}
