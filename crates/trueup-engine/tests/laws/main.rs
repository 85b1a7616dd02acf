//! The invariants over generated programs: each law is a property of every program, every edit of it and every
//! instant at which a run may be cut off.
//!
//! `sketch` makes programs and edits as small data, `course` deploys them one after another on the bench of the
//! lifecycle tests, and each other file holds laws. A failing law prints the smallest scenario it was shrunk to; its
//! numbers stand for the addresses that `sketch::address` gives them. `PROPTEST_CASES` sets how many are tried.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

// The derives refer to the crate by this name.
extern crate trueup_provider as trueup;

mod classify;
mod converge;
mod course;
mod crash;
#[path = "../lifecycle/failing.rs"]
#[allow(dead_code, reason = "the bench of the lifecycle tests is made with it")]
mod failing;
mod grant;
mod hold;
mod order;
mod saved;
mod sketch;
#[path = "../lifecycle/world.rs"]
#[allow(dead_code, reason = "the lifecycle tests use more of it")]
mod world;

use proptest::prelude::ProptestConfig;

/// How many scenarios each law is tried on, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 96;

/// A failure prints the scenario it was shrunk to, so none is kept in a file.
fn cases() -> ProptestConfig {
    const UNTOLD: u32 = 256;
    let told = ProptestConfig::default();
    let cases = if told.cases == UNTOLD { CASES } else { told.cases };
    ProptestConfig { cases, failure_persistence: None, ..told }
}
