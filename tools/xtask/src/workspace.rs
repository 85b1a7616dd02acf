//! The one build that all phases share: the whole workspace, with one set of features, linted while it is compiled.
//!
//! Clippy runs as the compiler of the workspace's own crates. So nothing is compiled once to be linted and once more to
//! be run, and a build that succeeds has no lint left.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::runner::OnFailure;

/// Every feature that users can choose. `mutations`, which plants bugs in the engine, is for the simulator alone.
const FEATURES: &str = "trueup/conformance,trueup/lang,trueup/postgres,trueup/s3,trueup/sqlite,trueup-bin/full,trueup-terraform/server";

/// A cargo command on all packages but the simulator, for which the engine is built with bugs to plant.
pub(crate) fn on_all<S: AsRef<OsStr>>(repository: &Repository, subcommand: &[S]) -> Result<Command, Failure> {
    let mut command = linted(repository)?;
    command.args(subcommand).args(["--workspace", "--exclude", "trueup-sim", "--features", FEATURES]);
    Ok(command)
}

/// The command that runs all tests but those of documentation, by cargo-nextest if it is installed.
pub(crate) fn all_tests(repository: &Repository, on_failure: OnFailure) -> Result<Command, Failure> {
    let mut tests = on_all(repository, &runner(repository, on_failure))?;
    // Otherwise each test of plugins would ask cargo for them, which builds half of their dependencies once more: alone, the
    // package needs fewer features.
    tests.env(trueup_test_servers::BUILT, "1");
    Ok(tests)
}

/// The same for some packages. Their dependencies are built with no more features than they need.
pub(crate) fn tests_of(repository: &Repository, packages: &[String]) -> Result<Command, Failure> {
    let mut command = linted(repository)?;
    command.args(runner(repository, OnFailure::KeepGoing));
    command.args(packages.iter().map(|package| format!("--package={package}")));
    Ok(command)
}

/// The subcommand that runs tests, and its options.
fn runner(repository: &Repository, on_failure: OnFailure) -> Vec<String> {
    let is_there = cargo::succeeds_quietly(cargo(&repository.root).args(["nextest", "--version"]));
    if !is_there {
        println!("cargo-nextest is not installed: tests run under plain `cargo test`");
        let keep_going = (on_failure == OnFailure::KeepGoing).then_some("--no-fail-fast");
        return ["test"].into_iter().chain(keep_going).map(str::to_owned).collect();
    }
    // More threads than cores: many tests wait for a disk, a server or a retry.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) * 4;
    let on_failure = match on_failure {
        OnFailure::Stop => "--max-fail=1:immediate",
        OnFailure::KeepGoing => "--no-fail-fast",
    };
    let options = ["nextest", "run", on_failure, "--status-level=slow", "--no-tests=pass"];
    options.map(str::to_owned).into_iter().chain([format!("--test-threads={threads}")]).collect()
}

/// A cargo command whose compiler is clippy, with every lint an error.
pub(crate) fn linted(repository: &Repository) -> Result<Command, Failure> {
    let mut command = cargo(&repository.root);
    let [wrapper, arguments] = cargo::LINT_VARIABLES;
    command.env(wrapper, clippy(repository)?);
    // This is how `cargo clippy -- -D warnings` tells its driver.
    command.env(arguments, "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(command)
}

/// Clippy's driver, which lies beside the compiler.
fn clippy(repository: &Repository) -> Result<PathBuf, Failure> {
    let asked = Command::new("rustc").current_dir(&repository.root).args(["--print", "sysroot"]).output();
    let sysroot = asked.map_err(|error| Failure::new(format!("cannot start rustc: {error}")))?;
    let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
    let name = format!("clippy-driver{}", std::env::consts::EXE_SUFFIX);
    let driver = PathBuf::from(sysroot).join("bin").join(name);
    if driver.is_file() {
        Ok(driver)
    } else {
        Err(Failure::new(format!("{} is missing: rustup component add clippy", driver.display())))
    }
}
