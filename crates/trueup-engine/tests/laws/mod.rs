//! The invariants over generated programs: each law is a property of every program, every edit of it and every
//! instant at which a run may be cut off.
//!
//! `sketch` makes programs and edits as small data, `course` deploys them one after another on the bench of the
//! lifecycle tests, and each other file holds laws. A failing law prints the smallest scenario it was shrunk to; its
//! numbers stand for the addresses that `sketch::address` gives them. `PROPTEST_CASES` sets how many are tried.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod classify;
mod converge;
mod course;
mod crash;
mod grant;
mod hold;
mod order;
mod saved;
mod sketch;
mod trouble;

use proptest::prelude::ProptestConfig;
use trueup_test_servers::sized;

/// How many scenarios each law is tried on, unless `PROPTEST_CASES` says otherwise. A failure prints the scenario it was
/// shrunk to, so none is kept in a file.
fn cases() -> ProptestConfig {
    const UNTOLD: u32 = 256;
    let told = ProptestConfig::default();
    let cases = if told.cases == UNTOLD { sized(32, 400) } else { told.cases };
    ProptestConfig { cases, failure_persistence: None, ..told }
}
