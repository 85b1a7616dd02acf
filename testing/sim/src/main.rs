//! The simulator at a terminal: `cargo xtask sim` starts it.
//!
//! With a case, shows what happens in it. With minutes, simulates rows of the crash table and seeds in turn until the time
//! is over, each row once, and reports.

// A tool for people at a terminal: printing is its work.
#![allow(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "measures real time: no clock to inject")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trueup_sim::explore::{Effort, Failure, explore};
use trueup_sim::scenario::ROWS;
use trueup_sim::{Case, Source, simulate};

const USAGE: &str = "\
Usage: cargo xtask sim --minutes M [--from SEED]     simulate the crash table and seed after seed
       cargo xtask sim --seed N [--trace]            what happens in the scenario of a seed
       cargo xtask sim --small --seed N [--kill POINT] [--trace]
       cargo xtask sim --row N [--kill POINT] [--trace]
";

/// After so many failures there is enough to look at.
const FAILURES_MAX: usize = 5;

/// What was asked for.
#[derive(Default)]
struct Asked {
    minutes: Option<u64>,
    from: u64,
    seed: Option<u64>,
    row: Option<u64>,
    kill: Option<u64>,
    small: bool,
    trace: bool,
}

fn main() -> ExitCode {
    let Some(asked) = asked(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let source = match (asked.seed, asked.row, asked.minutes) {
        (Some(seed), None, None) if asked.small => Source::Small(seed),
        (Some(seed), None, None) => Source::Large(seed),
        (None, Some(row), None) => Source::Row(row as usize),
        (None, None, Some(minutes)) => return run_long(minutes, asked.from),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    show(Case { source, kill: asked.kill }, asked.trace)
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Option<Asked> {
    let mut asked = Asked::default();
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|it| it.parse().ok());
        match argument.as_str() {
            "--minutes" => asked.minutes = Some(number()?),
            "--from" => asked.from = number()?,
            "--seed" => asked.seed = Some(number()?),
            "--row" => asked.row = Some(number()?),
            "--kill" => asked.kill = Some(number()?),
            "--small" => asked.small = true,
            "--trace" => asked.trace = true,
            #[cfg(feature = "mutations")]
            "--plant" => {
                let name = arguments.next()?;
                let mut all = trueup_engine::Mutation::ALL.into_iter();
                trueup_engine::plant(Some(all.find(|it| format!("{it:?}") == name)?));
            }
            _ => return None,
        }
    }
    Some(asked)
}

/// Shows one case: the scenario, then what happens.
fn show(case: Case, traced: bool) -> ExitCode {
    let scenario = case.scenario();
    println!("{scenario}");
    let simulated = simulate(&scenario, traced);
    for (at, line) in &simulated.trace {
        println!("{:>9.3} {line}", at.as_secs_f64());
    }
    match simulated.violation {
        None => {
            println!("all invariants hold; in the end there is\n  {}", simulated.end.join("\n  "));
            ExitCode::SUCCESS
        }
        Some(violation) => {
            println!("VIOLATED {violation}");
            ExitCode::FAILURE
        }
    }
}

/// The case of a number: rows and seeds in turn, then seeds alone. Both begin where the run does, so that short runs
/// from different seeds differ in their rows too.
fn case(number: u64, from: u64) -> Case {
    let rows = ROWS as u64;
    match number {
        _ if number >= 2 * rows => Case::of_seed(from + number - rows),
        _ if number.is_multiple_of(2) => Case::of(Source::Row(((from + number / 2) % rows) as usize)),
        _ => Case::of_seed(from + number / 2),
    }
}

/// Simulates on all processors until the time is over.
fn run_long(minutes: u64, from: u64) -> ExitCode {
    let began = Instant::now();
    let limit = Duration::from_secs(minutes * 60);
    let next = AtomicU64::new(0);
    let work = || {
        let (mut effort, mut failures) = (Effort::default(), Vec::new());
        while began.elapsed() < limit && failures.len() < FAILURES_MAX {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if let Err(failure) = explore(case(number, from), &mut effort) {
                eprintln!("{}: {}", failure.case, failure.violation);
                failures.push(failure);
            }
        }
        (effort, failures)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut effort, mut failures): (Effort, Vec<Box<Failure>>) = Default::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in running {
            let (done, failed) = worker.join().unwrap_or_default();
            effort.add(&done);
            failures.extend(failed);
        }
    });
    println!("{effort}");
    println!("{:>12} failures in {} s", failures.len(), began.elapsed().as_secs());
    for failure in &failures {
        println!("\n{}: {}", failure.case, failure.report());
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
