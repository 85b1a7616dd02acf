//! What tests of binaries with our command line share: a [`Folder`] in which a binary runs and tells, a [`Screen`] on
//! which it is watched, and [`steady`] for snapshots of what it says. JSON must be as its schema in the book says.
//!
//! A test waits for what stands on a screen or lies in a folder, never for time to pass. Whatever is not as it should
//! be panics: this is for tests alone.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod compiler;
mod documents;
mod folder;
mod plugins;
mod screen;
mod started;
mod steady;

pub use compiler::rustc;
pub use folder::{Folder, Told};
pub use plugins::{fixture_providers, provider_folder};
pub use screen::Screen;
pub use started::Started;
pub use steady::steady;

/// The keys that answer prompts.
pub mod keys {
    /// To the choice on the right.
    pub const RIGHT: &[u8] = b"\x1b[C";
    /// To the choice on the left.
    pub const LEFT: &[u8] = b"\x1b[D";
    /// Takes the choice.
    pub const ENTER: &[u8] = b"\r";
    /// Interrupts.
    pub const CONTROL_C: &[u8] = b"\x03";
}
