//! A simulator for the engine: a cloud, a store, a clock and people that all go wrong, decided by one seed.
//!
//! [`generate`](scenario::generate) draws a [`Scenario`](scenario::Scenario), [`simulate`] lets it happen on a
//! `World` (`run`) in which the engine runs unmodified, and the `invariants` are judged by the log of all that happened.
//! [`mod@explore`] does that for many [`Case`]s, killing small scenarios at every point and large ones at random, and
//! shrinks what fails.
//!
//! Time passes only while everyone waits, nothing runs beside anything else, and no map has an order of its own: a seed and
//! a commit reproduce everything.

// The derives refer to the crate by this name.
extern crate trueup_provider as trueup;

mod actor;
mod case;
mod clock;
mod cloud;
pub mod explore;
mod invariants;
mod log;
mod process;
mod random;
mod run;
pub mod scenario;
mod store;
mod tally;
mod trace;
mod types;

pub use actor::Deed;
pub use case::{Case, Source};
pub use cloud::{Faults, Kind, Lateness};
pub use invariants::Violation;
pub use process::Incident;
pub use random::Dice;
pub use run::{Simulated, simulate};
pub use store::StoreFaults;
pub use tally::{Ingredient, Tally};
