//! The simulator at a terminal: `cargo xtask sim` starts it.

// A tool for people at a terminal: printing is its work.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use trueup_sim::explore::{Effort, at_random, exhaustively};
use trueup_sim::scenario::{Size, generate};
use trueup_sim::simulate;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seed: u64 = arguments.first().and_then(|it| it.parse().ok()).unwrap_or(0);
    let count: u64 = arguments.get(1).and_then(|it| it.parse().ok()).unwrap_or(1);
    if arguments.iter().any(|it| it == "trace") {
        let simulated = simulate(&generate(seed, Size::Large), true);
        for (at, line) in simulated.trace {
            println!("{:>9.3} {line}", at.as_secs_f64());
        }
        return ExitCode::SUCCESS;
    }
    let mut effort = Effort::default();
    for seed in seed..seed + count {
        let small = arguments.iter().any(|it| it == "small");
        let outcome = if small { exhaustively(seed, &mut effort) } else { at_random(seed, &mut effort) };
        if let Err(failure) = outcome {
            println!("seed {seed}: {}\n{}", failure.violation, failure.shrunk);
            for (at, line) in simulate(&failure.shrunk, true).trace {
                println!("{:>9.3} {line}", at.as_secs_f64());
            }
            return ExitCode::FAILURE;
        }
    }
    println!("{effort:?}");
    ExitCode::SUCCESS
}
