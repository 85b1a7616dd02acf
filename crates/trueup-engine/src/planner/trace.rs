//! What each pass of a plan did, for whoever wants to know why a plan is as it is.

use serde::Serialize;

use crate::draft::Draft;
use crate::draft::node::Node;
use crate::index::NodeIndex;

/// What one pass did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PassDump {
    /// The pass, by the name of its file.
    pub pass: &'static str,
    /// What it left, a line for each resource that it had something to say about.
    pub text: String,
}

/// The dumps of all passes so far, if anyone asked for them.
#[derive(Default)]
pub(crate) struct Trace(Option<Vec<PassDump>>);

impl Trace {
    /// One that keeps what it is told.
    pub(crate) fn wanted() -> Self {
        Trace(Some(Vec::new()))
    }

    /// Notes what a pass did. Costs nothing unless it was asked for.
    pub(super) fn note(&mut self, pass: &'static str, dump: impl FnOnce() -> String) {
        if let Some(dumps) = &mut self.0 {
            dumps.push(PassDump { pass, text: dump() });
        }
    }

    pub(crate) fn into_dumps(self) -> Vec<PassDump> {
        self.0.unwrap_or_default()
    }
}

/// A line for each node that a pass has something to say about, in the order of addresses.
pub(super) fn lines(draft: &Draft, say: impl Fn(NodeIndex, &Node) -> Option<String>) -> String {
    let told = draft.nodes.enumerate();
    let told = told.filter_map(|(at, node)| Some((&node.address, say(at, node)?)));
    let mut told: Vec<_> = told.collect();
    told.sort();
    told.iter().map(|(address, said)| format!("{address}: {said}\n")).collect()
}
