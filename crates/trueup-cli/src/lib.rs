//! The command line: what people type, and what they are shown.
//!
//! - [`Composition`]: what a binary hands over: front end, providers, stores
//! - [`front_end`]: the seam through which the command line reaches programs, in whatever language they are written
//!
//! Only this crate knows arguments, terminal, environment and home directory. It hands them on as data.

mod composition;
pub mod front_end;

pub use composition::{Composition, OpenStore, StoreRequest};
