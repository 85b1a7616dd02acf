//! The chart of the book: time and memory by the number of resources, on logarithmic scales, as SVG text. It brings its
//! own background, and follows whether its reader prefers light or dark.

use std::fmt::Write;

use crate::figures::count;
use crate::operation::Operation;
use crate::report::{Figure, Report};

const STYLE: &str = "
    .paper { fill: #ffffff; }
    text { font: 12px system-ui, sans-serif; fill: #57606a; }
    .title { font-weight: 600; font-size: 14px; fill: #24292f; }
    .grid { stroke: #d8dee4; }
    .curve { fill: none; stroke-width: 2.5; }
    .dot.tool0, .name.tool0 { fill: #0a6ebd; } .curve.tool0 { stroke: #0a6ebd; }
    .dot.tool1, .name.tool1 { fill: #8250df; } .curve.tool1 { stroke: #8250df; }
    .dot.tool2, .name.tool2 { fill: #9a6700; } .curve.tool2 { stroke: #9a6700; }
    .name { font-weight: 600; font-size: 13px; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #161b22; }
      text { fill: #9198a1; }
      .title { fill: #e6edf3; }
      .grid { stroke: #30363d; }
      .dot.tool0, .name.tool0 { fill: #58a6ff; } .curve.tool0 { stroke: #58a6ff; }
      .dot.tool1, .name.tool1 { fill: #bc8cff; } .curve.tool1 { stroke: #bc8cff; }
      .dot.tool2, .name.tool2 { fill: #d29922; } .curve.tool2 { stroke: #d29922; }
    }
";

/// How many colours there are.
const COLOURS: usize = 3;
const PANEL_WIDTH: f64 = 400.0;
const PANEL_HEIGHT: f64 = 300.0;
const HEAD: f64 = 36.0;
/// Around the curves of a panel.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 32.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 54.0;

/// One of the four parts.
struct Panel {
    title: &'static str,
    operation: Operation,
    figure: Figure,
}

const PANELS: [Panel; 4] = [
    Panel { title: "First deploy", operation: Operation::Deploy, figure: Figure::Wall },
    Panel { title: "No-op plan", operation: Operation::Plan, figure: Figure::Wall },
    Panel { title: "Destroy", operation: Operation::Destroy, figure: Figure::Wall },
    Panel { title: "Peak memory of the first deploy", operation: Operation::Deploy, figure: Figure::Peak },
];

/// The whole chart.
pub(crate) fn svg(report: &Report) -> String {
    let (width, height) = (2.0 * PANEL_WIDTH, HEAD + 2.0 * PANEL_HEIGHT);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n  \
         <title>Time and memory by the number of resources, in chains of ten</title>\n  \
         <style>{STYLE}  </style>\n  <rect class=\"paper\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n"
    );
    for (index, tool) in report.tools.iter().enumerate() {
        let (x, colour) = (LEFT + 150.0 * index as f64, index % COLOURS);
        let _ = writeln!(
            text,
            "  <circle class=\"dot tool{colour}\" cx=\"{x}\" cy=\"22\" r=\"5\"/><text class=\"name tool{colour}\" \
             x=\"{}\" y=\"26\">{}</text>",
            x + 10.0,
            tool.name
        );
    }
    for (index, panel) in PANELS.iter().enumerate() {
        let (x, y) = ((index % 2) as f64 * PANEL_WIDTH, HEAD + (index / 2) as f64 * PANEL_HEIGHT);
        let _ = writeln!(text, "  <g transform=\"translate({x} {y})\">\n{}  </g>", drawn(panel, report));
    }
    text + "</svg>\n"
}

fn drawn(panel: &Panel, report: &Report) -> String {
    let curves: Vec<Vec<(f64, f64)>> =
        report.tools.iter().map(|tool| report.curve(&tool.name, panel.operation, panel.figure)).collect();
    let all = || curves.iter().flatten();
    let mut text = format!("    <text class=\"title\" x=\"{LEFT}\" y=\"20\">{}</text>\n", panel.title);
    let across = Scale::around(all().map(|point| point.0), LEFT, PANEL_WIDTH - RIGHT);
    let up = Scale::around(all().map(|point| point.1), PANEL_HEIGHT - BOTTOM, TOP);
    let (Some(across), Some(up)) = (across, up) else { return text };
    for power in across.powers() {
        let (x, bottom) = (across.at(10f64.powi(power)), PANEL_HEIGHT - BOTTOM);
        let _ = writeln!(
            text,
            "    <line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/><text x=\"{x:.1}\" \
             y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            whole(power)
        );
    }
    let _ = writeln!(
        text,
        "    <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">resources</text>",
        f64::midpoint(LEFT, PANEL_WIDTH - RIGHT),
        PANEL_HEIGHT - BOTTOM + 36.0
    );
    for power in up.powers() {
        let (y, right) = (up.at(10f64.powi(power)), PANEL_WIDTH - RIGHT);
        let _ = writeln!(
            text,
            "    <line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/><text x=\"{}\" \
             y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            tick(power, panel.figure)
        );
    }
    for (index, curve) in curves.iter().enumerate() {
        let points: Vec<String> =
            curve.iter().map(|(x, y)| format!("{:.1},{:.1}", across.at(*x), up.at(*y))).collect();
        let colour = index % COLOURS;
        let _ =
            writeln!(text, "    <polyline class=\"curve tool{colour}\" points=\"{}\"/>", points.join(" "));
        for (x, y) in curve {
            let _ = writeln!(
                text,
                "    <circle class=\"dot tool{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                across.at(*x),
                up.at(*y)
            );
        }
    }
    text
}

/// What stands at a line: whole powers of ten need no digits.
fn tick(power: i32, figure: Figure) -> String {
    match figure {
        Figure::Wall | Figure::Cpu if power < 0 => format!("{} ms", whole(power + 3)),
        Figure::Wall | Figure::Cpu => format!("{} s", whole(power)),
        Figure::Peak | Figure::Written => format!("{} MB", whole(power - 6)),
    }
}

fn whole(power: i32) -> String {
    if power < 0 { 10f64.powi(power).to_string() } else { count(10usize.pow(power.unsigned_abs())) }
}

/// A logarithmic scale from whole powers of ten to whole powers of ten.
struct Scale {
    least: i32,
    most: i32,
    begin: f64,
    end: f64,
}

impl Scale {
    /// That all values have room on. There is none for none.
    fn around(values: impl Iterator<Item = f64> + Clone, begin: f64, end: f64) -> Option<Self> {
        let least = values.clone().reduce(f64::min)?.log10().floor() as i32;
        let most = values.reduce(f64::max)?.log10().ceil() as i32;
        Some(Scale { least, most: most.max(least + 1), begin, end })
    }

    fn powers(&self) -> impl Iterator<Item = i32> {
        self.least..=self.most
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.least)) / f64::from(self.most - self.least);
        self.begin + share * (self.end - self.begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_runs_over_whole_powers_of_ten() {
        let scale = Scale::around([0.02, 30.0].into_iter(), 0.0, 400.0).expect("there are values");
        assert_eq!(scale.powers().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        assert_eq!((scale.at(0.01), scale.at(1.0), scale.at(100.0)), (0.0, 200.0, 400.0));
    }

    #[test]
    fn lines_are_whole_powers_of_ten() {
        let told = [(-3, Figure::Wall), (3, Figure::Wall), (9, Figure::Peak), (5, Figure::Peak)];
        assert_eq!(
            told.map(|(power, figure)| tick(power, figure)),
            ["1 ms", "1,000 s", "1,000 MB", "0.1 MB"]
        );
    }
}
