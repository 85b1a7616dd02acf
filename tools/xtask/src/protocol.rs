//! Generates the messages of Terraform's plugin protocol, which are committed, from their protobuf sources.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::{self, Repository};

const GENERATOR: &str = "tools/protocol-generator/Cargo.toml";
const OUTPUT: &str = "crates/trueup-terraform/src/protocol";

/// Writes them.
pub(crate) fn write(repository: &Repository) -> Result<(), Failure> {
    let mut generate = cargo(&repository.root);
    generate.args(["run", "--locked", "--manifest-path", GENERATOR, "--target-dir"]);
    cargo::run(generate.arg(repository.target_dir()))
}

/// Writes them, and fails if that changed anything.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let before = messages(repository)?;
    write(repository)?;
    if messages(repository)? == before {
        return Ok(());
    }
    Err(Failure::new(format!("{OUTPUT} was not what `cargo xtask protocol` writes: commit what it wrote")))
}

fn messages(repository: &Repository) -> Result<Vec<String>, Failure> {
    let files = repository.files_below(OUTPUT, "rs")?;
    files.iter().map(|file| repository::read(file)).collect()
}
