//! The commands of each phase. A phase stops at its first failing command; checks of our own report all their findings.

use std::path::Path;
use std::process::Command;

use trueup_test_servers::environment::variable;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::runner::OnFailure;
use crate::servers::Servers;
use crate::{architecture, book, deny, doc_tests, licences, links, reference, sim, spec_ids, workspace};

/// Property tests try this many cases, unless the environment says otherwise; a soak tries more.
const PROPERTY_CASES: &str = "64";

pub(crate) fn format(repository: &Repository) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).args(["fmt", "--all", "--check"]))?;
    for manifest in repository.example_manifests()? {
        cargo::run(cargo(&repository.root).args(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
    }
    Ok(())
}

/// Builds and lints everything that later phases run.
pub(crate) fn build(repository: &Repository) -> Result<(), Failure> {
    cargo::run(&mut workspace::on_all(repository, &["test", "--no-run"])?)?;
    cargo::run(&mut workspace::on_all(repository, &["test", "--no-run", "--benches"])?)?;
    sim::build(repository)
}

/// Builds the program alone, as [`build`] does.
pub(crate) fn build_program(repository: &Repository) -> Result<(), Failure> {
    cargo::run(&mut workspace::on_all(repository, &["build", "--bin=trueup"])?)
}

pub(crate) fn test(repository: &Repository) -> Result<(), Failure> {
    let servers = Servers::start();
    let mut tests = workspace::all_tests(repository, OnFailure::KeepGoing)?;
    if variable("PROPTEST_CASES").is_none() {
        tests.env("PROPTEST_CASES", PROPERTY_CASES);
    }
    servers.share_with(&mut tests);
    cargo::run(&mut tests)?;
    drop(servers);
    // Nextest does not know documentation tests.
    cargo::run(&mut workspace::on_all(repository, &["test", "--doc"])?)?;
    sim::test(repository)
}

/// Lock files of the examples, and the stack of the README. Examples in Rust are run by a test of `trueup`; a soak builds
/// them as a user's own crates.
pub(crate) fn examples(repository: &Repository) -> Result<(), Failure> {
    for manifest in repository.example_manifests()? {
        // Resolves its dependencies, and builds nothing.
        let mut lock = cargo(&repository.root);
        lock.args(["metadata", "--locked", "--format-version=1", "--manifest-path"]).arg(&manifest);
        cargo::capture(&mut lock)?;
    }
    site(repository)
}

/// The stack that the README begins with, as it begins, in a copy: deploys twice, and leaves nothing behind.
fn site(repository: &Repository) -> Result<(), Failure> {
    let copy = repository.target_dir().join("examples-site");
    let failed = |error: std::io::Error| Failure::new(format!("cannot copy examples/site: {error}"));
    if copy.exists() {
        std::fs::remove_dir_all(&copy).map_err(failed)?;
    }
    std::fs::create_dir_all(&copy).map_err(failed)?;
    for name in ["main.tu.hcl", "page.html.tftpl"] {
        std::fs::copy(repository.root.join("examples/site").join(name), copy.join(name)).map_err(failed)?;
    }
    for command in ["deploy", "deploy", "destroy"] {
        let mut run = Command::new(repository.built("trueup"));
        cargo::run(run.args([command, "--yes", "--stage", "demo", "--chdir"]).arg(&copy))?;
    }
    let left = ["out", "site.tar"].into_iter().find(|name| copy.join(name).exists());
    left.map_or(Ok(()), |name| Err(Failure::new(format!("destroying examples/site left {name} behind"))))
}

/// Each example as a user's own crate, with its own lock file.
pub(crate) fn examples_alone(repository: &Repository) -> Result<(), Failure> {
    for manifest in repository.example_manifests()? {
        let mut lint = on_example("clippy", repository, &manifest);
        cargo::run(lint.args(["--all-targets", "--", "-D", "warnings"]))?;
        cargo::run(&mut on_example("test", repository, &manifest))?;
        // A plugin is started by its client. Programs with our command line need to be asked something.
        if !manifest.ends_with("provider/Cargo.toml") {
            cargo::run(on_example("run", repository, &manifest).args(["--", "version"]))?;
        }
    }
    Ok(())
}

pub(crate) fn docs(repository: &Repository) -> Result<(), Failure> {
    texts(repository)?;
    Failure::unless_empty(reference::check(repository)?, "the reference is not what the program says:")?;
    // The crates that users program against; a soak documents the others too.
    api_docs(
        repository,
        &["trueup", "trueup-core", "trueup-engine", "trueup-program", "trueup-provider", "trueup-state"],
    )
}

/// Checks the documents without building anything.
pub(crate) fn texts(repository: &Repository) -> Result<(), Failure> {
    let mut findings = links::check(repository)?;
    findings.extend(book::check(repository)?);
    findings.extend(spec_ids::check(repository)?);
    findings.extend(architecture::check(repository)?);
    findings.extend(doc_tests::check(repository)?);
    Failure::unless_empty(findings, "the documents do not hold together:")
}

/// Builds the API documentation of these packages, or of all if none are named.
pub(crate) fn api_docs(repository: &Repository, packages: &[&str]) -> Result<(), Failure> {
    let mut doc = cargo(&repository.root);
    doc.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    doc.args(packages.iter().map(|package| format!("--package={package}")));
    if packages.is_empty() {
        doc.args(["--workspace", "--all-features"]);
    }
    cargo::run(&mut doc)
}

pub(crate) fn licences(repository: &Repository) -> Result<(), Failure> {
    licences::check(repository)
}

pub(crate) fn deny(repository: &Repository) -> Result<(), Failure> {
    deny::check(repository)
}

/// A cargo command on an example as a user's own crate: with its own lock file, which must be up to date.
fn on_example(subcommand: &str, repository: &Repository, manifest: &Path) -> Command {
    let mut command = cargo(&repository.root);
    command.arg(subcommand).arg("--locked").arg("--manifest-path").arg(manifest);
    command.arg("--target-dir").arg(repository.target_dir());
    command
}
