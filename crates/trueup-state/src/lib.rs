//! What is kept of a stack, and what keeps it.
//!
//! - [`Record`], [`Generation`], [`Status`]: what is kept of each resource
//! - [`Configurations`]: what providers were given when their objects were made
//! - [`Entry`], [`transition`]: the only way records change
//! - [`Store`], [`Batch`], [`Snapshot`]: what keeps them, durably
//! - [`StoreError`], [`Cause`]: why a store failed
//! - [`Lease`], [`FencingToken`]: one writer at a time
//! - [`MemoryStore`]: the store for tests and dry runs
//! - [`sealing`]: what keeps secrets from the store
//! - [`moving`]: from one store to another
//! - [`rows`]: what stores that keep rows have in common
//!
//! This crate decides nothing about what to do with resources: that is the engine's.

mod cause;
mod configurations;
mod entry;
mod lease;
mod memory;
pub mod moving;
mod record;
pub mod rows;
pub mod sealing;
mod store;
mod transition;

pub use cause::Cause;
pub use configurations::{Configuration, ConfigurationNumber, Configurations};
pub use entry::{Entry, Step, UnixMillis};
pub use lease::{Acquired, FencingToken, HeldLease, Holder, Lease};
pub use memory::MemoryStore;
pub use record::{Attempt, Generation, Metadata, Record, RecordId, Status};
pub use store::{Batch, HistoryLine, RunSummary, Scope, Snapshot, Store, StoreError, Version, Write};
pub use transition::{IllegalStep, transition};
