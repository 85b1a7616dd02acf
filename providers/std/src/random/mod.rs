//! Random values: drawn once, then kept in state. There is no object outside.
//!
//! Since nothing exists outside, a draw that was cut off is simply repeated.

mod draw;
mod id;
mod integer;
mod pet;
mod string;
mod uuid;
mod words;

pub use id::{RandomId, RandomIdOutput};
pub use integer::{RandomInteger, RandomIntegerOutput};
pub use pet::RandomPet;
pub use string::{RandomPassword, RandomPasswordOutput, RandomString, RandomTextOutput};
pub use uuid::RandomUuid;
pub(crate) use uuid::uuid;
