//! No store sees a secret, nothing is lost by that, and whoever changes what is sealed is found out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod conformance;
mod envelope;
mod keys;
mod rekeying;
mod seals;
mod services;
mod world;
