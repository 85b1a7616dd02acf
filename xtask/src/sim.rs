//! Runs the simulator, as a program and as tests, built for speed with all assertions.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;

/// The profile of both, so that they share what is built.
const BUILD: [&str; 5] = ["--profile", "sim", "--package", "trueup-sim", "--all-features"];

/// The program, with these arguments.
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).arg("run").args(BUILD).arg("--").args(arguments))
}

/// Its tests: the short budget of every change.
pub(crate) fn test(repository: &Repository) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).arg("test").args(BUILD).arg("--tests"))
}
