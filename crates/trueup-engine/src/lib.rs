//! From program to plan to changed infrastructure.
//!
//! - [`Stack`]: programs in Rust, with typed references
//! - [`Reconciler`]: plans, deploys and destroys; made of a store, a registry and an event sink
//! - [`Plan`]: what would be done, why, and what may be done at most
//! - [`Event`], [`EventSink`]: what happens, for console, JSON, history and users' own subscribers
//! - [`RunReport`]: what a run came to
//! - [`AdmissionControl`]: what judges changes on real values, before they are made
//! - [`SavedPlan`]: a plan that is carried out later, exactly as it is or not at all
//! - [`HandChange`]: what people change in state by hand
//!
//! The engine owns order, retries, recovery and what is recorded. It knows no terminal, no environment and no file:
//! programs, stores, providers, clock and randomness are handed to it.

mod admission;
mod call;
mod draft;
mod ephemeral;
mod events;
mod executor;
mod failures;
mod graph;
mod hand;
mod index;
mod inputs;
mod journal;
mod lease;
mod lease_reason;
mod looking;
mod mutations;
mod options;
mod outputs;
mod plan;
mod planner;
mod providers;
mod random;
mod reconciler;
mod run_kind;
mod saved;
mod sighting;
mod stack;
mod warning_log;

pub use admission::{AdmissionControl, FinalChange};
pub use events::{
    ConsoleLines, EVENT_VERSION, Event, EventKind, EventSink, JsonLines, Operation, Subscriber,
};
pub use executor::{Cancellation, Outcome, RunReport};
pub use failures::{describe_attempt, describe_failure, located};
pub use hand::{ChangeReport, HandChange, HandStep};
pub use lease_reason::LeaseReason;
pub use looking::Looking;
#[cfg(feature = "mutations")]
pub use mutations::{Mutation, plant};
pub use options::{CiJob, DeployOptions, Holder, PlanOptions, RunOrigin};
pub use plan::{Action, Grant, Plan, PlannedAction, PlannedMove, Reason, ReplaceOrder};
pub use planner::{PassDump, Preview};
pub use random::{Random, SeededRandom, SystemRandom};
pub use reconciler::{Deployed, EngineError, Reconciler};
pub use run_kind::RunKind;
pub use saved::{
    PLAN_FILE_BYTES_MAX, PlanFileError, PlanHeader, PlanSeal, Protection, SavedOptions, SavedPlan,
    changed_premises, holds_secrets, read_plan, read_plan_header, write_plan,
};
pub use stack::{Declared, DeclaredData, Depends, ProviderConfiguration, Removal, Stack};
