//! Who an object is: its deterministic name, whose it is, and which attempt made it.

mod generation;
mod name;
mod ownership;
mod token;

pub use generation::{GenerationNumber, Slot};
pub use name::NameRules;
pub(crate) use name::physical_name;
pub use ownership::{Owner, Ownership};
pub use token::IdempotencyToken;
