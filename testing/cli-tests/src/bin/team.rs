//! The program `trueup` with a resource type of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    trueup::lang::cli("team", "0.0.1", |registry| registry.with(trueup_cli_tests::provider()))
}
