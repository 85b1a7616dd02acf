//! Runs the simulator: its tests in every run, and as a program for as long as one likes.
//!
//! The tests share the build of everything else but for the engine, which has bugs to be planted here and nowhere else.
//! The program, and the tests in a soak, are built for speed with all assertions.

use std::time::Instant;

use crate::cargo::{self, Ending, cargo};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::workspace;

const PACKAGE: [&str; 3] = ["--package", "trueup-sim", "--all-features"];
const FAST: [&str; 2] = ["--profile", "sim"];

/// The program, with these arguments.
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).arg("run").args(FAST).args(PACKAGE).arg("--").args(arguments))
}

/// Simulates rows of the crash table and seeds from this one on until the deadline. The program counts whole minutes, one at
/// least: it can end up to a minute late. The build ends at the deadline.
#[allow(clippy::disallowed_methods, reason = "measures real processes: no clock to inject")]
pub(crate) fn explore_until(repository: &Repository, from: u64, ends: Instant) -> Result<Ending, Failure> {
    let mut build = cargo(&repository.root);
    let built = cargo::run_until(build.arg("build").args(FAST).args(PACKAGE), ends)?;
    if built != Ending::Complete {
        return Ok(Ending::NotBuilt);
    }
    let seconds = ends.saturating_duration_since(Instant::now()).as_secs();
    let minutes = ((seconds + 30) / 60).max(1);
    run(repository, &["--minutes", &minutes.to_string(), "--from", &from.to_string()])?;
    Ok(Ending::CutOff)
}

/// Builds the tests that [`test()`] runs.
pub(crate) fn build(repository: &Repository) -> Result<(), Failure> {
    cargo::run(workspace::linted(repository)?.args(["test", "--no-run"]).args(PACKAGE).arg("--tests"))
}

/// The short budget of every change.
pub(crate) fn test(repository: &Repository) -> Result<(), Failure> {
    cargo::run(workspace::linted(repository)?.arg("test").args(PACKAGE).arg("--tests"))
}

/// The whole crash table, thousands of seeds, and every planted bug; and those bugs that the engine's laws find.
pub(crate) fn long_test(repository: &Repository) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).arg("test").args(FAST).args(PACKAGE).arg("--tests"))?;
    let laws = ["test", "--package", "trueup-engine", "--features", "mutations", "--test", "tests", "laws::"];
    cargo::run(workspace::linted(repository)?.args(laws))
}
