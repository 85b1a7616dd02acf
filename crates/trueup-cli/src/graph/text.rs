//! Graphs for other tools.

use std::fmt::Write;

use serde_json::{Value as Json, json as tree};
use trueup_core::escape_line;

use super::DependencyGraph;

/// In the language of Graphviz. Arrows lead from a resource to what it depends on.
pub(crate) fn dot(graph: &DependencyGraph) -> String {
    let mut text = String::from(
        "digraph stack {\n  rankdir = \"LR\";\n  node [shape = \"box\", style = \"rounded\"];\n",
    );
    for (at, node) in graph.nodes.iter().enumerate() {
        let style = if graph.is_data(at) { " [style = \"rounded,dashed\"]" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {}{style};", quoted(&node.to_string()));
    }
    for (from, to) in &graph.edges {
        let (from, to) = (graph.nodes[*from].to_string(), graph.nodes[*to].to_string());
        let _ = writeln!(text, "  {} -> {};", quoted(&from), quoted(&to));
    }
    text.push('}');
    text
}

/// In the language of Mermaid.
pub(crate) fn mermaid(graph: &DependencyGraph) -> String {
    let mut text = String::from("flowchart LR");
    for (at, node) in graph.nodes.iter().enumerate() {
        let label = entities(&escape_line(&node.to_string()));
        let (open, close) = if graph.is_data(at) { ("([", "])") } else { ("[", "]") };
        let _ = write!(text, "\n  n{at}{open}\"{label}\"{close}");
    }
    for (from, to) in &graph.edges {
        let _ = write!(text, "\n  n{from} --> n{to}");
    }
    text
}

/// As JSON.
pub(crate) fn json(graph: &DependencyGraph) -> Json {
    let edges: Vec<Json> = graph
        .edges
        .iter()
        .map(|(from, to)| tree!({ "from": graph.nodes[*from], "to": graph.nodes[*to] }))
        .collect();
    tree!({ "version": 1, "kind": "graph", "nodes": graph.nodes, "edges": edges })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A label of Mermaid, where quotes and tags are written by name, between `#` and `;`.
fn entities(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' => written.push_str("#quot;"),
            '#' | '&' | '<' | '>' | '`' => written.push_str(&format!("#{};", u32::from(char))),
            other => written.push(other),
        }
    }
    written
}
