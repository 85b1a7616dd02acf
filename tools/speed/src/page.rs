//! The generated parts of the page on speed in the book: between marks, so that the rest of it stays.

use std::fs;
use std::path::Path;

use crate::chart;
use crate::failure::Failure;
use crate::figures::{bytes, count, seconds};
use crate::operation::Operation;
use crate::report::{Figure, Report};
use crate::workload::{Shape, Workload};
use crate::{tables, targets};

const PAGE: &str = "docs/speed.md";
const CHART: &str = "docs/speed.svg";
const BEGIN: &str = "<!-- Written by `cargo xtask bench --book`. Changes made from here on are lost. -->";
const END: &str = "<!-- Up to here. -->";

/// Writes chart and figures into the book of a repository.
pub(crate) fn write(report: &Report, repository: &Path) -> Result<(), Failure> {
    let chart = repository.join(CHART);
    fs::write(&chart, chart::svg(report)).map_err(|error| Failure::at(&chart, error))?;
    let page = repository.join(PAGE);
    let text = fs::read_to_string(&page).map_err(|error| Failure::at(&page, error))?;
    let text = replaced(&text, &figures(report))
        .ok_or_else(|| Failure::at(&page, "the marks of the generated part are gone"))?;
    fs::write(&page, text).map_err(|error| Failure::at(&page, error))
}

/// The machine and the tools, a line each.
pub(crate) fn machine(report: &Report) -> Vec<String> {
    let machine = &report.machine;
    let tools: Vec<&str> = report.tools.iter().map(|tool| tool.version.as_str()).collect();
    let chains = Workload { shape: Shape::Chains, resources: 1_000 };
    let terraform = report.figure("terraform", chains, Operation::Plan, Figure::Wall);
    let mut lines = vec![
        tools.join(" and "),
        format!(
            "{}, {} cores, {} of memory, {}, Linux {}; {}",
            machine.processor,
            machine.cores,
            bytes(machine.memory_bytes as f64),
            machine.system,
            machine.kernel,
            machine.rustc
        ),
        format!(
            "stacks on {}, where a small write is confirmed in {}; load before: {:.2}",
            machine.file_system,
            seconds(machine.fsync_s),
            machine.load_before
        ),
    ];
    // By this, machines can be compared.
    lines.extend(terraform.map(|it| {
        format!(
            "Terraform's no-op plan of 1,000 takes {}; targets were set where it takes 1.2 s",
            seconds(it)
        )
    }));
    if !report.again.is_empty() {
        lines.push(format!("measured again on the same machine, later: {}", report.again.join(", ")));
    }
    lines
}

fn figures(report: &Report) -> String {
    let mut text = String::new();
    for line in machine(report) {
        text += &format!("- {line}\n");
    }
    text += "\n![Time and memory by the number of resources](speed.svg)\n";
    text += &format!("\n### Targets\n\n{}", targets::grid(report).markdown());
    for workload in report.workloads() {
        text += &format!(
            "\n### {} of {}\n\n{}. Repetitions: {}.\n\n{}",
            workload.shape.name(),
            count(workload.resources),
            workload.shape.purpose(),
            tables::repetitions(report, workload),
            tables::operations(report, workload).markdown()
        );
    }
    let skipped = tables::skipped(report);
    if !skipped.is_empty() {
        text += "\n### Skipped\n\n";
        for line in skipped {
            text += &format!("- {line}\n");
        }
    }
    text += &format!("\n### Growth\n\n{}", tables::growth(report).markdown());
    text += &format!("\n### Beside bare SQLite\n\n{}", tables::limits(report).markdown());
    text
}

fn replaced(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{figures}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let page = format!("# Speed\n{BEGIN}\nold\n{END}\nmore\n");
        assert_eq!(replaced(&page, "new\n"), Some(format!("# Speed\n{BEGIN}\n\nnew\n\n{END}\nmore\n")));
        assert_eq!(replaced("# Speed\n", "new"), None);
    }
}
