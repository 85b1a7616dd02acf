//! Measures the program as it is released, side by side with others of its kind.

use std::path::Path;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;

/// Builds the program, unless one is named, and hands everything else on to what measures it.
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<(), Failure> {
    let has = |word: &str| arguments.contains(&word);
    // What is only shown needs no program, but what is measured again does.
    let is_shown = has("--from") && !has("--only");
    let needs_program = !is_shown && !["--trueup", "--help", "-h"].into_iter().any(has);
    if needs_program {
        cargo::run(cargo(&repository.root).args(["build", "--release", "--bin", "trueup"]))?;
    }
    let target = repository.target_dir();
    let mut command = cargo(&repository.root);
    command.args(["run", "--quiet", "--release", "--package", "trueup-speed", "--"]);
    let places: [(&str, &Path); 3] = [
        ("--repository", &repository.root),
        ("--trueup", &target.join("release/trueup")),
        ("--folder", &target.join("speed")),
    ];
    for (name, place) in places {
        command.arg(name).arg(place);
    }
    // What was named comes last, and counts more.
    cargo::run(command.args(arguments))
}
