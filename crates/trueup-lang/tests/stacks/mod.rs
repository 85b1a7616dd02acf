//! Whole folders: read, built, planned and deployed on the engine, with real files and the standard providers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod bindings;
mod conditions;
pub(crate) mod differential;
mod ephemeral;
mod expansion;
mod files;
mod lifecycle;
mod mistakes;
mod modules;
mod moves;
mod private_values;
mod references;
mod terraform;
mod variables;
