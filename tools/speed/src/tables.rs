//! What was measured, as tables.

use crate::figures::{bytes, count, seconds, times};
use crate::grid::Grid;
use crate::operation::Operation;
use crate::report::{Figure, Report};
use crate::statistics::median;
use crate::workload::Workload;

const NONE: &str = "–";

/// Each operation of a workload: what every tool took, and how many times as long the best of the others took.
pub(crate) fn operations(report: &Report, workload: Workload) -> Grid {
    let mut titles = vec!["operation".to_owned()];
    for tool in &report.tools {
        titles.extend([tool.name.clone(), "CPU".to_owned(), "peak".to_owned()]);
        if tool.name == report.tools[0].name {
            titles.push("fsyncs".to_owned());
        }
    }
    if report.tools.len() > 1 {
        titles.extend(["faster".to_owned(), "smaller".to_owned()]);
    }
    let mut grid = Grid::new(titles, 1);
    for operation in Operation::ALL {
        if report.tools.iter().any(|tool| report.find(&tool.name, workload, operation).is_some()) {
            grid.add(row(report, workload, operation));
        }
    }
    grid
}

fn row(report: &Report, workload: Workload, operation: Operation) -> Vec<String> {
    let mut cells = vec![operation.title().to_owned()];
    for (index, tool) in report.tools.iter().enumerate() {
        let measured = report.find(&tool.name, workload, operation);
        let cell = |figure, form: fn(f64) -> String| {
            measured.and_then(|it| it.figure(figure)).map_or(NONE.to_owned(), form)
        };
        cells.extend([cell(Figure::Wall, seconds), cell(Figure::Cpu, seconds), cell(Figure::Peak, bytes)]);
        if index == 0 {
            let fsyncs = measured.and_then(|it| it.fsyncs);
            cells.push(fsyncs.map_or(NONE.to_owned(), |it| count(it as usize)));
        }
    }
    if report.tools.len() > 1 {
        cells.extend(
            [Figure::Wall, Figure::Peak]
                .map(|figure| ratio(report, workload, operation, figure).map_or(NONE.to_owned(), times)),
        );
    }
    cells
}

/// The figure of the best peer over our own.
pub(crate) fn ratio(
    report: &Report,
    workload: Workload,
    operation: Operation,
    figure: Figure,
) -> Option<f64> {
    let (_, best) = report.best_peer(workload, operation, figure)?;
    Some(best / report.figure(&report.tools[0].name, workload, operation, figure)?)
}

/// How time, processor time and memory grow with the number of resources.
pub(crate) fn growth(report: &Report) -> Grid {
    let mut titles = vec!["operation".to_owned()];
    for tool in &report.tools {
        titles.extend([format!("{} time", tool.name), "CPU".to_owned(), "memory".to_owned()]);
    }
    let mut grid = Grid::new(titles, 1);
    for operation in Operation::ALL {
        let mut row = vec![operation.title().to_owned()];
        for tool in &report.tools {
            row.extend([Figure::Wall, Figure::Cpu, Figure::Peak].map(|figure| {
                let exponent = report.growth(&tool.name, operation, figure);
                exponent.map_or(NONE.to_owned(), |it| format!("{it:.2}"))
            }));
        }
        if row.iter().skip(1).any(|cell| cell != NONE) {
            grid.add(row);
        }
    }
    grid
}

/// Deploys and destroys beside what the machine allows: how many times as long as the bare program they take, with the
/// commits there were and with commits of ten steps.
pub(crate) fn limits(report: &Report) -> Grid {
    let titles =
        ["chains", "operation", "rows", "trueup", "commits", "bare SQLite", "ratio", "in tens", "ratio"];
    let mut grid = Grid::new(titles, 2);
    for limited in &report.limits {
        let took = report.figure(&report.tools[0].name, limited.workload, limited.operation, Figure::Wall);
        let [bare, tens] =
            [&limited.wall_s, &limited.tens_wall_s].map(|wall_s| median(wall_s.iter().copied()));
        if let (Some(took), Some(bare), Some(tens)) = (took, bare, tens) {
            grid.add(vec![
                count(limited.workload.resources),
                limited.operation.title().to_owned(),
                count(limited.rows),
                seconds(took),
                count(limited.commits),
                seconds(bare),
                times(took / bare),
                seconds(tens),
                times(took / tens),
            ]);
        }
    }
    grid
}

/// What was left out, and why: a line for each tool, workload and reason.
pub(crate) fn skipped(report: &Report) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>, &str)> = Vec::new();
    for it in &report.skipped {
        let who = format!("{}, {} of {}", it.tool, it.workload.shape.name(), count(it.workload.resources));
        match lines.iter_mut().find(|(other, _, why)| *other == who && *why == it.why) {
            Some((_, operations, _)) => operations.push(it.operation.title()),
            None => lines.push((who, vec![it.operation.title()], &it.why)),
        }
    }
    lines.iter().map(|(who, what, why)| format!("{who}: {} ({why})", what.join(", "))).collect()
}

/// How often each tool did what was measured.
pub(crate) fn repetitions(report: &Report, workload: Workload) -> String {
    let of = report.tools.iter().filter_map(|tool| {
        let all = report.measurements.iter().filter(|it| it.tool == tool.name && it.workload == workload);
        Some(format!("{} {}", tool.name, all.map(|it| it.usages.len()).max()?))
    });
    of.collect::<Vec<_>>().join(", ")
}
