//! What the program is to reach, and whether it does.

use crate::figures::{bytes, count, seconds, times};
use crate::grid::Grid;
use crate::operation::Operation::{self, Deploy, DeployOne, Destroy, Plan, PlanOne, Records, Validate};
use crate::report::{Figure, Report};
use crate::statistics::median;
use crate::workload::{Shape, Workload};

/// A deploy may take so many times as long as the bare program.
const LIMIT_TIMES: f64 = 3.0;

pub(crate) struct Target {
    pub(crate) says: String,
    /// What was measured, and whether it is enough; nothing if it was not measured.
    pub(crate) measured: Option<(String, bool)>,
}

/// All of them, as a table.
pub(crate) fn grid(report: &Report) -> Grid {
    let mut grid = Grid::new(["target", "measured", "met"], 3);
    for target in all(report) {
        let (measured, met) = match target.measured {
            Some((measured, met)) => (measured, if met { "yes" } else { "NO" }),
            None => ("not measured".to_owned(), "–"),
        };
        grid.add(vec![target.says, measured, met.to_owned()]);
    }
    grid
}

fn all(report: &Report) -> Vec<Target> {
    let mut all = Vec::new();
    all.extend(
        [(3_000, Deploy, 0.5), (3_000, Plan, 0.1), (3_000, Destroy, 0.3), (10_000, Deploy, 2.0)].map(
            |(resources, operation, seconds_max)| time(report, chains(resources), operation, seconds_max),
        ),
    );
    all.push(peak(report, chains(10_000), 150e6));
    all.extend(
        [(Plan, 50.0), (Deploy, 300.0), (Destroy, 500.0)]
            .map(|(operation, times)| faster(report, chains(3_000), operation, times, "")),
    );
    all.push(smaller(report, chains(3_000)));
    let one = Workload { shape: Shape::StartUp, resources: 1 };
    all.extend([Validate, Plan].map(|operation| faster(report, one, operation, 6.0, ", aim 10×")));
    let aws = Workload { shape: Shape::Aws, resources: 1 };
    let cold = Workload { shape: Shape::AwsCold, resources: 1 };
    all.extend([(aws, "staying"), (cold, "new")].map(|(workload, plugin)| Target {
        says: format!(
            "no-op plan of one resource with a {plugin} hashicorp/aws at least 5× faster than Terraform"
        ),
        ..faster(report, workload, Plan, 5.0, "")
    }));
    all.push(schema(report, aws, one));
    all.extend([Plan, Deploy, Destroy].map(|operation| growth(report, operation)));
    all.push(time(report, chains(100_000), Deploy, 25.0));
    all.push(peak(report, chains(100_000), 700e6));
    all.extend([reading(report), writing(report)]);
    all.extend([1_000, 3_000, 10_000].map(|resources| limit(report, resources)));
    all.push(makespan(report));
    all.extend([rendering(report), folding(report)]);
    all
}

fn chains(resources: usize) -> Workload {
    Workload { shape: Shape::Chains, resources }
}

fn ours(report: &Report, workload: Workload, operation: Operation, figure: Figure) -> Option<f64> {
    report.figure(&report.tools.first()?.name, workload, operation, figure)
}

fn titled(workload: Workload, operation: Operation) -> String {
    format!("{} of {}", operation.title(), count(workload.resources))
}

/// What the bare program takes in commits of ten steps. That what is nothing but its record needs far fewer is the
/// engine's own doing, and makes the limit no lower.
fn bare(report: &Report, workload: Workload, operation: Operation) -> Option<f64> {
    let limited = report.limits.iter().find(|it| it.workload == workload && it.operation == operation)?;
    median(limited.tens_wall_s.iter().copied())
}

/// In so many seconds, or in three times what the bare program needs, whichever is more.
fn time(report: &Report, workload: Workload, operation: Operation, seconds_max: f64) -> Target {
    let bare = bare(report, workload, operation).map(|it| it * LIMIT_TIMES);
    let allowed = bare.map_or(seconds_max, |bare| bare.max(seconds_max));
    let or_bare = match bare {
        Some(bare) if bare > seconds_max => {
            format!(", or {LIMIT_TIMES:.0}× bare SQLite, which is {}", seconds(bare))
        }
        _ => String::new(),
    };
    let measured = ours(report, workload, operation, Figure::Wall).map(|wall| {
        let fsyncs = report.find(&report.tools[0].name, workload, operation).and_then(|it| it.fsyncs);
        let fsyncs = fsyncs.filter(|_| operation.writes());
        let beside = fsyncs.map_or(String::new(), |it| format!(", {} fsyncs", count(it as usize)));
        (seconds(wall) + &beside, wall < allowed)
    });
    Target {
        says: format!("{} under {}{or_bare}", titled(workload, operation), seconds(seconds_max)),
        measured,
    }
}

fn peak(report: &Report, workload: Workload, bytes_max: f64) -> Target {
    let measured = ours(report, workload, Deploy, Figure::Peak);
    Target {
        says: format!("{} in {}", titled(workload, Deploy), bytes(bytes_max)),
        measured: measured.map(|it| (bytes(it), it <= bytes_max)),
    }
}

/// Against Terraform itself, whoever else is there.
fn against_terraform(
    report: &Report,
    workload: Workload,
    operation: Operation,
    figure: Figure,
) -> Option<f64> {
    let terraform = report.figure("terraform", workload, operation, figure)?;
    Some(terraform / ours(report, workload, operation, figure)?)
}

fn faster(report: &Report, workload: Workload, operation: Operation, least: f64, aim: &str) -> Target {
    let measured = against_terraform(report, workload, operation, Figure::Wall);
    Target {
        says: format!("{} at least {least:.0}× faster than Terraform{aim}", titled(workload, operation)),
        measured: measured.map(|it| (times(it), it >= least)),
    }
}

fn smaller(report: &Report, workload: Workload) -> Target {
    let ratios: Option<Vec<f64>> = [Plan, Deploy, Destroy]
        .map(|operation| against_terraform(report, workload, operation, Figure::Peak))
        .into_iter()
        .collect();
    let least = ratios.and_then(|all| all.into_iter().reduce(f64::min));
    Target {
        says: format!(
            "plan, deploy and destroy of {} in a quarter of Terraform's memory",
            count(workload.resources)
        ),
        measured: least.map(|it| (format!("1/{it:.1} at most"), it >= 4.0)),
    }
}

/// What a provider can do beyond the types in use costs no memory: a plan with the largest provider is as small as one
/// without any, but for the connection to it.
fn schema(report: &Report, provider: Workload, none: Workload) -> Target {
    let of = |workload| ours(report, workload, Plan, Figure::Peak);
    let measured = || Some((of(provider)?, of(none)?));
    Target {
        says: "plan with hashicorp/aws in at most 10 MB more than one without a provider".to_owned(),
        measured: measured().map(|(provider, none)| {
            (format!("{}, without {}", bytes(provider), bytes(none)), provider <= none + 10e6)
        }),
    }
}

fn growth(report: &Report, operation: Operation) -> Target {
    let name = report.tools.first().map_or("", |tool| tool.name.as_str());
    let most = report.curve(name, operation, Figure::Wall).last().map_or(0.0, |(resources, _)| *resources);
    let measured = report.growth(name, operation, Figure::Wall).filter(|_| most >= 100_000.0);
    Target {
        says: format!("{}: exponent from 1,000 to 100,000 at most 1.1", operation.title()),
        measured: measured.map(|it| (format!("{it:.2}"), it <= 1.1)),
    }
}

/// How much of planning one change is reading: the program, as `validate` does, and the records, as listing them does.
fn reading(report: &Report) -> Target {
    let of = |operation| ours(report, chains(100_000), operation, Figure::Cpu);
    let measured = || Some(((of(Validate)? + of(Records)?) / of(PlanOne)?).min(1.0));
    Target {
        says: "plan of one change in 100,000: mostly reading program and records".to_owned(),
        measured: measured().map(|it| (format!("{:.0} % of its CPU time", it * 100.0), it > 0.5)),
    }
}

fn writing(report: &Report) -> Target {
    let of = |resources| {
        let measurement = report.find(&report.tools.first()?.name, chains(resources), DeployOne)?;
        Some((measurement.fsyncs?, measurement.figure(Figure::Written)?))
    };
    let measured = || {
        let ((few, few_bytes), (many, many_bytes)) = (of(100)?, of(100_000)?);
        let said = format!("{many} fsyncs and {} to {few} and {}", bytes(many_bytes), bytes(few_bytes));
        Some((said, many <= few && many_bytes <= few_bytes * 1.5))
    };
    Target { says: "one change in 100,000 writes what one in 100 does".to_owned(), measured: measured() }
}

fn limit(report: &Report, resources: usize) -> Target {
    let workload = chains(resources);
    let measured = || Some(ours(report, workload, Deploy, Figure::Wall)? / bare(report, workload, Deploy)?);
    Target {
        says: format!(
            "{} within {LIMIT_TIMES:.0}× of bare SQLite in commits of ten",
            titled(workload, Deploy)
        ),
        measured: measured().map(|it| (times(it), it <= LIMIT_TIMES)),
    }
}

fn makespan(report: &Report) -> Target {
    let ratio = report
        .makespan
        .as_ref()
        .and_then(|makespan| Some(median(makespan.took_s.iter().copied())? / makespan.bound_s));
    Target {
        says: "waiting for a slow server: within 10 % of the least possible".to_owned(),
        measured: ratio.map(|it| (format!("{:.1} % over it", (it - 1.0) * 100.0), it <= 1.1)),
    }
}

fn rendering(report: &Report) -> Target {
    let share = report.rendering.as_ref().and_then(crate::rendering::Rendering::share);
    Target {
        says: "progress in a terminal under 5 % of the CPU time of a deploy of 10,000".to_owned(),
        measured: share.map(|it| (format!("{:.1} %", it * 100.0), it < 0.05)),
    }
}

/// Thousands of lines in a second or two are for nobody.
fn folding(report: &Report) -> Target {
    let measured = report.rendering.as_ref().and_then(|rendering| {
        let lines = median(rendering.created_lines.iter().map(|it| *it as f64))?;
        let said = format!("{} lines for {} resources", count(lines as usize), count(rendering.resources));
        Some((said, lines < rendering.resources as f64 / 2.0))
    });
    Target { says: "finished lines are folded when they come too fast to be read".to_owned(), measured }
}
