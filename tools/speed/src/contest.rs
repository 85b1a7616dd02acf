//! All tools on all workloads: in turns, several repetitions, and none that would take too long.

use std::path::Path;

use trueup_test_servers::environment::program_on_path;

use crate::cloud::Cloud;
use crate::failure::Failure;
use crate::figures;
use crate::life::{Life, SECONDS_MAX, Seen, Under};
use crate::limit;
use crate::meter::{End, Usage};
use crate::operation::Operation;
use crate::report::{Figure, Limited, Measurement, Report, Skipped};
use crate::tool::{self, Tool};
use crate::workload::{Shape, Workload};

/// An operation that takes longer is not repeated, nor is a life once a tool has spent so much on a workload.
const REPEATED_SECONDS_MAX: f64 = 60.0;
const SPENT_SECONDS_MAX: f64 = 100.0;
/// What fewer resources take says little of what many do.
const SMALL_RESOURCES: usize = 1_000;
/// Larger stacks are not replayed by the bare program.
const LIMIT_RESOURCES_MAX: usize = 10_000;

pub(crate) struct Contest<'a> {
    pub(crate) tools: &'a [Tool],
    pub(crate) repetitions: usize,
    /// Where the stacks are, on a real disk.
    pub(crate) folder: &'a Path,
    /// What would take a peer longer is skipped.
    pub(crate) seconds_max: u64,
}

/// A tool on a workload.
struct Entrant<'a> {
    tool: &'a Tool,
    operations: Vec<Operation>,
    spent_s: f64,
    done: bool,
}

impl Contest<'_> {
    /// Measures all tools on a workload, and adds what was seen to the report.
    pub(crate) fn run(&self, workload: Workload, report: &mut Report) -> Result<(), Failure> {
        let mut cloud = match workload.shape.needs_cloud().then(Cloud::start).transpose() {
            Ok(cloud) => cloud,
            Err(why) => {
                eprintln!("{:<18} left out: {why}", workload.name());
                for (tool, operation) in self.tools.iter().flat_map(|it| Operation::ALL.map(|op| (it, op))) {
                    report.skipped.push(skipped(tool, workload, operation, &why));
                }
                return Ok(());
            }
        };
        let mut entrants: Vec<Entrant<'_>> =
            self.tools.iter().filter_map(|tool| entrant(tool, workload, self.seconds_max, report)).collect();
        // Milliseconds take more of them.
        let repetitions =
            if workload.shape == Shape::StartUp { self.repetitions * 4 } else { self.repetitions };
        for repetition in 0..repetitions {
            // Nobody is always the first one.
            if !entrants.is_empty() {
                let shift = usize::from(repetition > 0) % entrants.len();
                entrants.rotate_left(shift);
            }
            for entrant in entrants.iter_mut().filter(|it| !it.done) {
                eprintln!(
                    "{:<18} {:<10} repetition {}",
                    workload.name(),
                    entrant.tool.name(),
                    repetition + 1
                );
                match self.live(entrant, workload, cloud.as_mut(), report) {
                    // A peer that fails is no reason to lose what all others took.
                    Err(failure) if entrant.tool.name() != tool::TRUEUP.name => {
                        eprintln!("error: {failure}");
                        entrant.done = true;
                        note_failure(entrant, workload, report);
                    }
                    outcome => outcome?,
                }
            }
        }
        // Being watched, a plugin takes forever.
        if cloud.is_some() { Ok(()) } else { self.count_fsyncs(workload, report) }
    }

    fn live(
        &self,
        entrant: &mut Entrant<'_>,
        workload: Workload,
        mut cloud: Option<&mut Cloud>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if let Some(cloud) = &mut cloud {
            cloud.empty();
        }
        let mut life = Life::begin(entrant.tool, workload, cloud.as_deref(), self.folder)?;
        let mut before = limit::Contents::default();
        for operation in entrant.operations.clone() {
            let Some(Seen::Usage(usage)) = life.run(operation, Under::Meter)? else { continue };
            entrant.spent_s += usage.wall_s;
            entrant.done |= usage.wall_s > REPEATED_SECONDS_MAX || entrant.spent_s > SPENT_SECONDS_MAX;
            if usage.end == End::TooLong {
                let after = entrant.operations.iter().filter(|it| **it >= operation);
                let why = format!("{} was ended after {SECONDS_MAX} s", operation.title());
                report.skipped.extend(after.map(|it| skipped(entrant.tool, workload, *it, &why)));
                break;
            }
            add(report, entrant.tool, workload, operation, usage);
            if is_limited(entrant.tool, workload, operation) {
                self.replay(&life, workload, operation, &mut before, report)?;
            }
        }
        life.end()
    }

    /// What a bare program needs for the same rows.
    fn replay(
        &self,
        life: &Life<'_>,
        workload: Workload,
        operation: Operation,
        before: &mut limit::Contents,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let after = limit::Contents::of(&life.stack().join(".trueup/state.db"), self.folder)?;
        if matches!(operation, Operation::Deploy | Operation::Destroy) {
            let commits = after.commits_since(before);
            let wall_s = limit::replay(&commits, self.folder)?;
            let tens = limit::in_commits_of(limit::STEPS, &commits);
            let tens_wall_s = limit::replay(&tens, self.folder)?;
            let known =
                report.limits.iter_mut().find(|it| it.workload == workload && it.operation == operation);
            match known {
                Some(limited) => {
                    limited.wall_s.push(wall_s);
                    limited.tens_wall_s.push(tens_wall_s);
                }
                None => report.limits.push(Limited {
                    workload,
                    operation,
                    commits: commits.len(),
                    rows: commits
                        .iter()
                        .map(|it| it.records.len() + it.journal.len() + it.history.len())
                        .sum(),
                    wall_s: vec![wall_s],
                    tens_wall_s: vec![tens_wall_s],
                }),
            }
        }
        *before = after;
        Ok(())
    }

    /// In a life of its own, because being watched slows it down.
    fn count_fsyncs(&self, workload: Workload, report: &mut Report) -> Result<(), Failure> {
        let Some(tool) = self.tools.first() else { return Ok(()) };
        if program_on_path("strace").is_none() {
            return Ok(());
        }
        let mut life = Life::begin(tool, workload, None, self.folder)?;
        for operation in Operation::ALL.into_iter().filter(|it| it.writes()) {
            let Some(Seen::Fsyncs(count)) = life.run(operation, Under::Strace)? else { continue };
            let measured = report.find_mut(tool.name(), workload, operation);
            if let Some(measurement) = measured {
                measurement.fsyncs = Some(count);
            }
        }
        life.end()
    }
}

fn is_limited(tool: &Tool, workload: Workload, operation: Operation) -> bool {
    tool.name() == tool::TRUEUP.name
        && workload.shape == Shape::Chains
        && workload.resources <= LIMIT_RESOURCES_MAX
        && operation.writes()
}

/// What a tool is given to do, without what would take too long, which is noted.
fn entrant<'a>(
    tool: &'a Tool,
    workload: Workload,
    seconds_max: u64,
    report: &mut Report,
) -> Option<Entrant<'a>> {
    let mut operations = Vec::new();
    let mut deployed = true;
    for operation in Operation::ALL {
        let predicted = predicted(tool, workload, operation, report);
        let why = match predicted {
            _ if operation.needs_deploy() && !deployed => Some("its first deploy is skipped".to_owned()),
            Some(seconds) if seconds > seconds_max as f64 => {
                Some(format!("would take about {}", figures::seconds(seconds)))
            }
            _ => None,
        };
        match why {
            Some(why) => {
                deployed &= operation != Operation::Deploy;
                report.skipped.push(skipped(tool, workload, operation, &why));
            }
            None => operations.push(operation),
        }
    }
    let any = !operations.is_empty();
    any.then_some(Entrant { tool, operations, spent_s: 0.0, done: false })
}

/// By the largest stack of this shape so far, as if time grew with the square of the number of resources. What small
/// stacks take is mostly the start, so from those it is taken to be proportional. Only of what is known to grow so.
fn predicted(tool: &Tool, workload: Workload, operation: Operation, report: &Report) -> Option<f64> {
    if tool.adapter.takes_the_largest {
        return None;
    }
    let smaller = report.measurements.iter().filter(|it| {
        it.tool == tool.name()
            && it.operation == operation
            && it.workload.shape == workload.shape
            && it.workload.resources < workload.resources
    });
    let largest = smaller.max_by_key(|it| it.workload.resources)?;
    let ratio = workload.resources as f64 / largest.workload.resources as f64;
    let power = if largest.workload.resources < SMALL_RESOURCES { 1 } else { 2 };
    Some(largest.figure(Figure::Wall)? * ratio.powi(power))
}

fn skipped(tool: &Tool, workload: Workload, operation: Operation, why: &str) -> Skipped {
    Skipped { workload, operation, tool: tool.name().to_owned(), why: why.to_owned() }
}

fn add(report: &mut Report, tool: &Tool, workload: Workload, operation: Operation, usage: Usage) {
    match report.find_mut(tool.name(), workload, operation) {
        Some(measurement) => measurement.usages.push(usage),
        None => report.measurements.push(Measurement {
            workload,
            operation,
            tool: tool.name().to_owned(),
            usages: vec![usage],
            fsyncs: None,
        }),
    }
}

/// What it has not done by then is left out.
fn note_failure(entrant: &Entrant<'_>, workload: Workload, report: &mut Report) {
    let tool = entrant.tool;
    for operation in &entrant.operations {
        if report.find(tool.name(), workload, *operation).is_none() {
            report.skipped.push(skipped(tool, workload, *operation, "it failed"));
        }
    }
}
