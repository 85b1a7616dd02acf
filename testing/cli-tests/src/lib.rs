//! What the test binaries share: resource types that keep real files, and wait for them.
//!
//! This package exists for its tests. `shelf` is a stack in Rust, `lines` has a small language of its own: between them
//! they reach all that the command line does. `team` is the program `trueup` with these types.

mod file;
mod gate;
pub mod language;

pub use file::File;
pub use gate::Gate;

use trueup::{NativeProvider, Registry};

/// The provider of the test binaries.
pub fn provider() -> NativeProvider {
    NativeProvider::new("test").crud::<File>("file").crud::<Gate>("gate")
}

/// A registry with this provider alone.
pub fn registry() -> Registry {
    Registry::new().with(provider())
}
