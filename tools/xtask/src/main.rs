//! The checks of this repository, one phase each: `cargo xtask help` lists them, `cargo xtask ci` runs them all.
//!
//! This file holds the table of phases and reads the arguments. [`phases`] says what each phase runs, [`runner`] runs
//! them in order, times them and reports. Everything else checks one thing: [`licences`] (with [`spdx`]), [`mod@deny`], [`links`],
//! [`book`], [`spec_ids`], and [`mod@reference`] and [`protocol`], which also write what they check. [`workspace`] is the
//! one build that all phases share, [`servers`] what tests share. [`quick`] checks what a developer changed, [`soak`] runs
//! the long versions of what `ci` does in short. [`sim`] runs the simulator, [`mod@fuzz`] the fuzzer, [`mod@referee`]
//! Terraform beside the program, and [`mod@bench`] measures how fast it is.

// A tool for people at a terminal: printing is its work.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod architecture;
mod bench;
mod book;
mod cargo;
mod deny;
mod doc_tests;
mod failure;
mod fuzz;
mod licences;
mod links;
mod packages;
mod phases;
mod protocol;
mod quick;
mod referee;
mod reference;
mod repository;
mod runner;
mod servers;
mod sim;
mod soak;
mod spdx;
mod spec_ids;
mod workspace;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::runner::{OnFailure, Phase};

/// All phases, in the order in which `ci` runs them: what fails quickly and often comes first.
const PHASES: &[Phase] = &[
    Phase { name: "format", purpose: "sources are formatted, the examples' too", run: phases::format },
    Phase { name: "build", purpose: "everything builds, and clippy has no complaint", run: phases::build },
    Phase { name: "test", purpose: "unit, integration and documentation tests pass", run: phases::test },
    Phase { name: "examples", purpose: "the examples do what they should", run: phases::examples },
    Phase {
        name: "docs",
        purpose: "links, cited ids and the reference hold; API docs build",
        run: phases::docs,
    },
    Phase { name: "licences", purpose: "dependencies have permissive licences", run: phases::licences },
    Phase {
        name: "deny",
        purpose: "dependencies come from the registry, once each, and none is banned",
        run: phases::deny,
    },
];

/// The first lines that `ci` prints.
const DURATION: &str = "All phases together take about 12 minutes from nothing on two cores, and 5 to 7 when everything \
                        is built.\nDownloaded or installed where missing: crates, PostgreSQL, libfaketime and jq (apt-get), \
                        and the AWS emulators ministack and moto (pip).";

/// Exit status for arguments that make no sense, as is customary.
const USAGE_ERROR: u8 = 2;

#[expect(clippy::disallowed_methods, reason = "its command line")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let repository = Repository::of_this_tool();

    match arguments.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
        ["ci"] => ci(&repository, OnFailure::Stop),
        ["ci", "--keep-going"] => ci(&repository, OnFailure::KeepGoing),
        ["quick"] => exit_code(quick::run(&repository)),
        ["soak", arguments @ ..] => {
            soak::run(&repository, arguments).unwrap_or_else(|complaint| usage_error(&complaint))
        }
        ["protocol"] => exit_code(protocol::write(&repository)),
        ["reference"] => exit_code(reference::write(&repository)),
        ["bench", arguments @ ..] => exit_code(bench::run(&repository, arguments)),
        ["sim", arguments @ ..] => exit_code(sim::run(&repository, arguments)),
        ["referee", arguments @ ..] => exit_code(referee::run(&repository, arguments)),
        ["fuzz", minutes] => fuzz(&repository, None, minutes),
        ["fuzz", minutes, target] => fuzz(&repository, Some(target), minutes),
        [name] => match PHASES.iter().find(|phase| phase.name == *name) {
            Some(phase) => runner::run_one(phase, &repository),
            None => usage_error(&format!("there is no phase `{name}`")),
        },
        _ => usage_error(&format!("cannot make sense of `{}`", arguments.join(" "))),
    }
}

fn ci(repository: &Repository, on_failure: OnFailure) -> ExitCode {
    println!("{DURATION}");
    runner::run_all(PHASES, repository, on_failure)
}

fn exit_code(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn fuzz(repository: &Repository, target: Option<&str>, minutes: &str) -> ExitCode {
    match minutes.parse() {
        Ok(minutes) => exit_code(fuzz::run(repository, target, minutes)),
        Err(_) => usage_error(&format!("`{minutes}` is no number of minutes")),
    }
}

fn usage_error(complaint: &str) -> ExitCode {
    eprint!("error: {complaint}\n\n{}", help());
    ExitCode::from(USAGE_ERROR)
}

fn help() -> String {
    let mut text = String::from(
        "Usage: cargo xtask quick               format, lint and tests of the packages that differ from main\n       \
         cargo xtask ci [--keep-going]   run all phases, in this order, up to the first that fails\n       \
         cargo xtask soak [PART]…        the long versions of what `ci` does in short, all that fit into an hour or these;
                                         for another time with --minutes M, seeds with --from SEED
       \
         cargo xtask <phase>             run one phase\n       \
         cargo xtask reference           write the generated pages of docs/reference\n       \
         cargo xtask protocol            write the messages of Terraform's plugin protocol\n       \
         cargo xtask sim --minutes M     simulate for so long (`cargo xtask sim --help` says what else)\n       \
         cargo xtask referee [NAME]…     hold plans, results and expressions against Terraform's; other configurations with
                                         --cases FOLDER, other providers with --providers FOLDER
       \
         cargo xtask bench [OPTIONS]     measure the program beside its peers (`cargo xtask bench --help` says how)\n       \
         cargo xtask fuzz M [target]     fuzz what reads bytes from outside, M minutes a target\n       \
         cargo xtask help                print this\n\nPhases:\n",
    );
    for phase in PHASES {
        text.push_str(&format!("  {:<10}{}\n", phase.name, phase.purpose));
    }
    text
}
