//! Drives a resource type through its whole life and checks that it keeps its contract.
//!
//! Give a [`Kit`] a provider, the name of a type and a few inputs, tell it how to meddle with the objects behind the
//! provider's back, and it creates, reads, updates, replaces, deletes, interrupts and recovers them through the same
//! form the engine calls. What it cannot check for want of such help it reports as skipped, with what is missing.
//!
//! A [`Driver`] does the same call by call, for tests of what is special about a type.

mod checks;
mod driver;
mod interrupt;
mod kit;
mod outcome;

pub use driver::Driver;
pub use kit::Kit;
pub use outcome::{CheckReport, Outcome};
