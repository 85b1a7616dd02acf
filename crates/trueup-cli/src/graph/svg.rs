//! Graphs as pictures.

use std::fmt::Write;

use trueup_core::escape_line;

use super::DependencyGraph;
use super::layout::layers;
use crate::ui::width;

const CHARACTER: usize = 8;
const BOX_HEIGHT: usize = 28;
const GAP_ACROSS: usize = 60;
const GAP_DOWN: usize = 16;
const MARGIN: usize = 16;

/// Where a node's box lies.
#[derive(Clone, Copy, Default)]
struct Frame {
    left: usize,
    top: usize,
    wide: usize,
}

/// As a picture: dependencies on the left, what needs them on the right.
pub(crate) fn svg(graph: &DependencyGraph) -> String {
    let layers = layers(graph);
    let mut frames = vec![Frame::default(); graph.nodes.len()];
    let tallest = layers.iter().map(Vec::len).max().unwrap_or(0);
    let height = |count: usize| (count * (BOX_HEIGHT + GAP_DOWN)).saturating_sub(GAP_DOWN);
    let mut left = MARGIN;
    for layer in &layers {
        let label = |node: &usize| width(&graph.nodes[*node].to_string()) * CHARACTER + 20;
        let wide = layer.iter().map(label).max().unwrap_or(0);
        let mut top = MARGIN + (height(tallest) - height(layer.len())) / 2;
        for &node in layer {
            frames[node] = Frame { left, top, wide };
            top += BOX_HEIGHT + GAP_DOWN;
        }
        left += wide + GAP_ACROSS;
    }
    let (wide, tall) = (left.saturating_sub(GAP_ACROSS) + MARGIN, height(tallest) + 2 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{tall}\" viewBox=\"0 0 {wide} {tall}\" \
         font-family=\"ui-monospace, monospace\" font-size=\"13\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#777\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    for (from, to) in &graph.edges {
        text.push_str(&edge(frames[*from], frames[*to]));
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        text.push_str(&labelled_box(frames[at], &node.to_string(), graph.is_data(at)));
    }
    text.push_str("\n</svg>");
    text
}

/// A curve from the left of what depends to the right of what it depends on.
fn edge(from: Frame, to: Frame) -> String {
    let (start, start_down) = (from.left, from.top + BOX_HEIGHT / 2);
    let (end, end_down) = (to.left + to.wide, to.top + BOX_HEIGHT / 2);
    let (bend_start, bend_end) = (start.saturating_sub(GAP_ACROSS / 2), end + GAP_ACROSS / 2);
    format!(
        "\n<path d=\"M{start} {start_down} C{bend_start} {start_down} {bend_end} {end_down} {end} {end_down}\" \
         fill=\"none\" stroke=\"#777\" marker-end=\"url(#arrow)\"/>"
    )
}

fn labelled_box(frame: Frame, label: &str, data: bool) -> String {
    let Frame { left, top, wide } = frame;
    let dashes = if data { " stroke-dasharray=\"4 3\"" } else { "" };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{BOX_HEIGHT}\" rx=\"5\" fill=\"#f6f8fa\" \
         stroke=\"#57606a\"{dashes}/>\n<text x=\"{}\" y=\"{}\" fill=\"#1f2328\">{}</text>",
        left + 10,
        top + BOX_HEIGHT / 2 + 4,
        escaped(label)
    );
    text
}

fn escaped(text: &str) -> String {
    escape_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
