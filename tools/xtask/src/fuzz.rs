//! Runs each fuzz target for a while. Needs a nightly compiler; installs `cargo-fuzz` into the target folder if it is
//! missing.

use std::path::Path;
use std::process::Command;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;

/// The crate that `cargo fuzz` runs.
const FUZZER: &str = "testing/fuzz/libfuzzer";

/// What no input may take: seconds, and megabytes.
const TIMEOUT: &str = "-timeout=10";
const MEMORY: &str = "-rss_limit_mb=1024";

/// Fuzzes one target, or all of them, for so many minutes each.
pub(crate) fn run(repository: &Repository, only: Option<&str>, minutes: u64) -> Result<(), Failure> {
    let mut nightly = Command::new("rustup");
    if !cargo::succeeds_quietly(nightly.args(["run", "nightly", "rustc", "--version"])) {
        return Err(Failure::new("fuzzing needs a nightly compiler: `rustup toolchain install nightly`"));
    }
    let tools = repository.target_dir().join("tools");
    let fuzz = tools.join("bin/cargo-fuzz");
    if !fuzz.exists() {
        cargo::run(
            cargo(&repository.root).args(["install", "cargo-fuzz", "--locked", "--root"]).arg(&tools),
        )?;
    }
    let corpus = repository.root.join(FUZZER).join("corpus");
    cargo::run(cargo(&repository.root).args(["run", "--package", "trueup-fuzz", "--"]).arg(&corpus))?;
    for target in targets(&repository.root)?.iter().filter(|target| only.is_none_or(|only| only == *target)) {
        let mut run = Command::new(&fuzz);
        run.current_dir(&repository.root).env("RUSTUP_TOOLCHAIN", "nightly").args([
            "fuzz",
            "run",
            "--fuzz-dir",
            FUZZER,
            target,
            "--",
        ]);
        run.args([TIMEOUT, MEMORY, "-print_final_stats=1"]).arg(format!("-max_total_time={}", minutes * 60));
        cargo::run(&mut run)?;
    }
    Ok(())
}

fn targets(root: &Path) -> Result<Vec<String>, Failure> {
    let folder = root.join(FUZZER).join("targets");
    let failed = |error| Failure::new(format!("cannot list {}: {error}", folder.display()));
    let entries = std::fs::read_dir(&folder).map_err(failed)?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut names: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}
