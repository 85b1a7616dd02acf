//! What each phase runs. A phase stops at its first failing command; checks of our own gather all they find.

use std::path::Path;
use std::process::Command;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::{book, licences, links, reference, sim, spec_ids, tools};

pub(crate) fn format(repository: &Repository) -> Result<(), Failure> {
    cargo::run(cargo(&repository.root).args(["fmt", "--all", "--check"]))?;
    for manifest in repository.example_manifests()? {
        cargo::run(cargo(&repository.root).args(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
    }
    Ok(())
}

pub(crate) fn lint(repository: &Repository) -> Result<(), Failure> {
    const SELECTION: [&str; 3] = ["--workspace", "--all-targets", "--all-features"];
    const STRICT: [&str; 3] = ["--", "-D", "warnings"];

    cargo::run(cargo(&repository.root).arg("clippy").args(SELECTION).args(STRICT))?;
    for manifest in repository.example_manifests()? {
        // Locked here too: otherwise this phase would write the lock file whose absence `examples` must notice.
        cargo::run(on_example("clippy", repository, &manifest).args(SELECTION).args(STRICT))?;
    }
    Ok(())
}

pub(crate) fn test(repository: &Repository) -> Result<(), Failure> {
    const SELECTION: [&str; 4] = ["--workspace", "--all-features", "--exclude", "trueup-sim"];

    let mut tests = cargo(&repository.root);
    if cargo::succeeds_quietly(cargo(&repository.root).args(["nextest", "--version"])) {
        println!("tests run under cargo-nextest");
        tests.args(["nextest", "run"]).args(SELECTION);
    } else {
        println!("cargo-nextest is not installed: tests run under plain `cargo test`");
        tests.arg("test").args(SELECTION).args(["--lib", "--bins", "--tests"]);
    }
    tools::ensure(&mut tests);
    cargo::run(&mut tests)?;
    // Nextest does not know documentation tests.
    cargo::run(cargo(&repository.root).arg("test").args(SELECTION).arg("--doc"))?;
    // Apart from the others, because it is built another way.
    sim::test(repository)
}

pub(crate) fn examples(repository: &Repository) -> Result<(), Failure> {
    let manifests = repository.example_manifests()?;
    println!("examples: {}", manifests.len());
    for manifest in manifests {
        cargo::run(&mut on_example("run", repository, &manifest))?;
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
        let mut run = cargo(&repository.root);
        run.args(["run", "--bin", "trueup", "--", command, "--yes", "--stage", "demo", "--chdir"]).arg(&copy);
        cargo::run(&mut run)?;
    }
    let left = ["out", "site.tar"].into_iter().find(|name| copy.join(name).exists());
    left.map_or(Ok(()), |name| Err(Failure::new(format!("destroying examples/site left {name} behind"))))
}

pub(crate) fn docs(repository: &Repository) -> Result<(), Failure> {
    // The texts first: they take no time, and their findings need no build.
    let mut findings = links::check(repository)?;
    findings.extend(book::check(repository)?);
    findings.extend(spec_ids::check(repository)?);
    Failure::unless_empty(findings, "the documents do not hold together:")?;
    Failure::unless_empty(reference::check(repository)?, "the reference is not what the program says:")?;

    let mut doc = cargo(&repository.root);
    doc.args(["doc", "--workspace", "--all-features", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    cargo::run(&mut doc)
}

pub(crate) fn licences(repository: &Repository) -> Result<(), Failure> {
    licences::check(repository)
}

/// A cargo command on an example as a user's own crate: with its own lock file, which must be up to date.
fn on_example(subcommand: &str, repository: &Repository, manifest: &Path) -> Command {
    let mut command = cargo(&repository.root);
    command.arg(subcommand).arg("--locked").arg("--manifest-path").arg(manifest);
    command.arg("--target-dir").arg(repository.target_dir());
    command
}
