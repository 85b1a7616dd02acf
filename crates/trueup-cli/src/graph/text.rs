//! Graphs for other tools.

use std::fmt::Write;

use serde_json::{Value as Json, json as tree};

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
        // Quotes inside a label are written as an entity there.
        let label = node.to_string().replace('"', "#quot;");
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
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
