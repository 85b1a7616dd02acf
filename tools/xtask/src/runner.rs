//! Runs phases in order, times them, and reports: a header before each, a table at the end, also after a failure.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::repository::Repository;

/// One check of the repository.
pub(crate) struct Phase {
    /// What one types to run it.
    pub(crate) name: &'static str,
    /// What holds when it succeeds, in a line.
    pub(crate) purpose: &'static str,
    pub(crate) run: fn(&Repository) -> Result<(), Failure>,
}

/// What to do with the remaining phases or tests when one has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Stop,
    KeepGoing,
}

/// How a phase went.
struct Report {
    name: &'static str,
    outcome: Outcome,
}

#[derive(Clone, Copy)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Runs all phases and prints the table.
pub(crate) fn run_all(phases: &[Phase], repository: &Repository, on_failure: OnFailure) -> ExitCode {
    let reports = reports(phases, repository, on_failure);
    print!("\n{}", table(&reports));
    let failed = failed_names(&reports);
    for name in &failed {
        println!("{name} failed; to run just that phase again: cargo xtask {name}");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn reports(phases: &[Phase], repository: &Repository, on_failure: OnFailure) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for phase in phases {
        let stopped = on_failure == OnFailure::Stop && !failed_names(&reports).is_empty();
        let outcome = if stopped { Outcome::NotRun } else { run_timed(phase, repository) };
        reports.push(Report { name: phase.name, outcome });
    }
    reports
}

/// Runs one phase; its own output says all there is to say.
pub(crate) fn run_one(phase: &Phase, repository: &Repository) -> ExitCode {
    match run_timed(phase, repository) {
        Outcome::Failed(_) => ExitCode::FAILURE,
        Outcome::Passed(_) | Outcome::NotRun => ExitCode::SUCCESS,
    }
}

#[allow(clippy::disallowed_methods, reason = "measures real processes: no clock to inject")]
fn run_timed(phase: &Phase, repository: &Repository) -> Outcome {
    println!("\n== {}: {}", phase.name, phase.purpose);
    let start = Instant::now();
    let result = (phase.run)(repository);
    let elapsed = start.elapsed();
    match result {
        Ok(()) => Outcome::Passed(elapsed),
        Err(failure) => {
            eprintln!("error: {failure}");
            Outcome::Failed(elapsed)
        }
    }
}

fn failed_names(reports: &[Report]) -> Vec<&'static str> {
    let failed = reports.iter().filter(|report| matches!(report.outcome, Outcome::Failed(_)));
    failed.map(|report| report.name).collect()
}

fn table(reports: &[Report]) -> String {
    let mut text = row("phase", "result", "seconds");
    let mut total = Duration::ZERO;
    for Report { name, outcome } in reports {
        let shown = match outcome {
            Outcome::Passed(elapsed) | Outcome::Failed(elapsed) => {
                total += *elapsed;
                seconds(*elapsed)
            }
            Outcome::NotRun => "-".to_owned(),
        };
        text.push_str(&row(name, result_name(*outcome), &shown));
    }
    text.push_str(&row("total", "", &seconds(total)));
    text
}

fn result_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed(_) => "passed",
        Outcome::Failed(_) => "FAILED",
        Outcome::NotRun => "not run",
    }
}

fn row(name: &str, result: &str, seconds: &str) -> String {
    format!("{name:<10}{result:<8}{seconds:>9}\n")
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_every_phase_and_the_total() {
        let reports = [
            Report { name: "format", outcome: Outcome::Passed(Duration::from_millis(840)) },
            Report { name: "lint", outcome: Outcome::Failed(Duration::from_millis(112_250)) },
            Report { name: "test", outcome: Outcome::NotRun },
        ];
        let expected = "\
phase     result    seconds
format    passed        0.8
lint      FAILED      112.2
test      not run         -
total                 113.1
";
        assert_eq!(table(&reports), expected);
    }

    #[test]
    fn phases_after_a_failure_run_only_when_told_to_keep_going() {
        fn pass(_: &Repository) -> Result<(), Failure> {
            Ok(())
        }
        fn fail(_: &Repository) -> Result<(), Failure> {
            Err(Failure::new("as told"))
        }
        let phases = [pass, fail, pass].map(|run| Phase { name: "phase", purpose: "", run });
        let results = |on_failure| {
            let reports = reports(&phases, &Repository::of_this_tool(), on_failure);
            reports.iter().map(|report| result_name(report.outcome)).collect::<Vec<_>>()
        };
        assert_eq!(results(OnFailure::Stop), ["passed", "FAILED", "not run"]);
        assert_eq!(results(OnFailure::KeepGoing), ["passed", "FAILED", "passed"]);
    }
}
