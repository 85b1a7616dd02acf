//! How fast the program is, side by side with others of its kind: `cargo xtask bench`.
//!
//! [`arguments`] says what can be asked for. A [`contest`] lets every [`tool`] live through the [`life`] of each
//! [`workload`], an [`operation`] at a time, each a process under the [`meter`]; [`limit`], [`makespan`] and
//! [`rendering`] look at the program alone. All of it ends up in one [`report`], from which [`tables`], [`targets`],
//! the [`chart`] and the [`page`] of the book are made. [`check`] counts instructions instead, which do not depend on
//! how busy a machine is.
//!
//! It asks nothing of the network, and nothing that it starts sees the settings of whoever runs it.

// A tool for people at a terminal: printing is its work.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod bare;
mod chart;
mod check;
mod cloud;
mod contest;
mod failure;
mod figures;
mod grid;
mod life;
mod limit;
mod machine;
mod makespan;
mod meter;
mod operation;
mod page;
mod rendering;
mod report;
mod statistics;
mod tables;
mod targets;
mod terminal;
mod tool;
mod watch;
mod workload;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use trueup_test_servers::environment::program_on_path;

use crate::arguments::{Arguments, MAKESPAN, RENDERING};
use crate::contest::Contest;
use crate::failure::Failure;
use crate::figures::{count, seconds};
use crate::machine::Machine;
use crate::report::{FORMAT, Report};
use crate::tool::{PEERS, TRUEUP, Tool};
use crate::watch::Watch;

/// Exit status for arguments that make no sense, as is customary.
const USAGE_ERROR: u8 = 2;

#[expect(clippy::disallowed_methods, reason = "its command line")]
fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let [first, rest @ ..] = words.as_slice()
        && first == meter::FLAG
    {
        return meter::run(rest);
    }
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{}", arguments::HELP);
        return ExitCode::SUCCESS;
    }
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let outcome = match Arguments::read(words) {
        Ok(arguments) if arguments.check || arguments.accept => check::run(&arguments),
        Ok(arguments) => run(&arguments),
        Err(complaint) => {
            eprint!("error: {complaint}\n\n{}", arguments::HELP);
            return ExitCode::from(USAGE_ERROR);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let earlier = arguments.from.as_deref().map(kept).transpose()?;
    let report = match earlier {
        Some(report) if arguments.only.is_empty() => report,
        earlier => measured(arguments, earlier)?,
    };
    print!("{}", told(&report));
    if arguments.book {
        page::write(&report, &arguments.repository)?;
    }
    Ok(())
}

/// Measures everything that was asked for; all else is as it was earlier.
fn measured(arguments: &Arguments, earlier: Option<Report>) -> Result<Report, Failure> {
    let watch = Watch::start();
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    let folder = &folder.canonicalize().map_err(|error| Failure::at(folder, error))?;
    let tools = tools(arguments, folder)?;
    let machine = Machine::here(folder)?;
    for doubt in machine.doubts() {
        eprintln!("warning: {doubt}");
    }
    if program_on_path("strace").is_none() {
        eprintln!("warning: without strace, calls of fsync cannot be counted");
    }
    let is_again = earlier.is_some();
    let mut report = earlier.unwrap_or_else(|| Report {
        format: FORMAT,
        machine,
        tools: tools.iter().map(Tool::named).collect(),
        measurements: Vec::new(),
        skipped: Vec::new(),
        limits: Vec::new(),
        makespan: None,
        rendering: None,
        again: Vec::new(),
        took_s: 0.0,
    });
    let contest = Contest {
        tools: &tools,
        repetitions: arguments.repetitions,
        folder,
        seconds_max: if arguments.quick { 45 } else { life::SECONDS_MAX },
    };
    let file = arguments.json.clone().unwrap_or_else(|| folder.join("report.json"));
    for workload in arguments.workloads() {
        report.forget(workload);
        if is_again {
            report.note_again(format!("{} of {}", workload.shape.name(), count(workload.resources)));
        }
        contest.run(workload, &mut report)?;
        // Whatever happens to the rest of a long run, this much is known.
        keep(&report, &file)?;
    }
    if arguments.wants(MAKESPAN) {
        eprintln!("{MAKESPAN}");
        report.makespan = Some(makespan::measure(&tools[0], folder)?);
        if is_again {
            report.note_again(MAKESPAN.to_owned());
        }
    }
    if arguments.wants(RENDERING) {
        eprintln!("{RENDERING}");
        let repetitions = if arguments.quick { 3 } else { 7 };
        report.rendering = Some(rendering::measure(&tools[0], folder, 10_000, repetitions)?);
        if is_again {
            report.note_again(RENDERING.to_owned());
        }
    }
    report.took_s += watch.elapsed().as_secs_f64();
    keep(&report, &file)?;
    Ok(report)
}

/// The program itself, and the peers that are here.
fn tools(arguments: &Arguments, folder: &Path) -> Result<Vec<Tool>, Failure> {
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(|error| Failure::at(&home, error))?;
    let mut tools = vec![Tool::at(&TRUEUP, &arguments.trueup, &home)?];
    for peer in PEERS.iter().filter(|peer| arguments.wants_peer(peer.name)) {
        match program_on_path(peer.name) {
            Some(program) => tools.push(Tool::at(peer, &program, &home)?),
            None => eprintln!("{} is not on the path", peer.name),
        }
    }
    Ok(tools)
}

/// Everything that was measured, for a terminal.
fn told(report: &Report) -> String {
    let mut text = page::machine(report).join("\n") + "\n";
    for workload in report.workloads() {
        text += &format!(
            "\n{} of {}: {} (repetitions: {})\n{}",
            workload.shape.name(),
            count(workload.resources),
            workload.shape.purpose(),
            tables::repetitions(report, workload),
            tables::operations(report, workload).text()
        );
    }
    let skipped = tables::skipped(report);
    if !skipped.is_empty() {
        text += &format!("\nSkipped\n{}\n", skipped.join("\n"));
    }
    for (title, grid) in [
        ("Growth of chains from 1,000 on: the exponent of the number of resources", tables::growth(report)),
        (
            "Beside a bare SQLite program that writes the same rows, in the same commits and in commits of ten steps",
            tables::limits(report),
        ),
        ("Targets", targets::grid(report)),
    ] {
        if !grid.is_empty() {
            text += &format!("\n{title}\n{}", grid.text());
        }
    }
    text + &format!("\nAll of it took {}.\n", seconds(report.took_s))
}

fn keep(report: &Report, file: &Path) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(report).map_err(|error| Failure::at(file, error))?;
    text.push('\n');
    fs::write(file, text).map_err(|error| Failure::at(file, error))
}

fn kept(file: &Path) -> Result<Report, Failure> {
    let text = fs::read(file).map_err(|error| Failure::at(file, error))?;
    let report: Report = serde_json::from_slice(&text).map_err(|error| Failure::at(file, error))?;
    if report.format == FORMAT { Ok(report) } else { Err(Failure::at(file, "is of another version")) }
}
