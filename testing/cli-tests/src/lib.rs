//! What the test binaries share: resource types that keep real files, and wait for them.
//!
//! This package exists for its tests. `shelf` is a stack in Rust, `lines` has a small language of its own: between them
//! they reach all that the command line does.

mod file;
mod gate;
pub mod language;

pub use file::File;
pub use gate::Gate;

use trueup::{NativeProvider, Registry};

/// The provider of the test binaries.
pub fn registry() -> Registry {
    Registry::new().with(NativeProvider::new("test").crud::<File>("file").crud::<Gate>("gate"))
}
