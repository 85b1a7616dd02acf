//! Which resources a run is about (TARGET-1): all, or targets with their upstream, less what is excluded with its
//! dependents. What is left out is neither read, decided nor touched.

use trueup_core::{AddressRange, Diagnostic, Diagnostics};

use super::Sources;
use super::trace::lines;
use crate::draft::{Draft, Selection};
use crate::index::{NodeIndex, PerNode};

pub(super) fn select(sources: &Sources<'_>, draft: &mut Draft) -> Result<(), Diagnostics> {
    let options = sources.options;
    let mut diagnostics = Diagnostics::new();
    // A slip in the name must not pass for nothing to replace.
    named(draft, &options.replace, &mut diagnostics);
    if options.targets.is_empty() && options.excludes.is_empty() && sources.about.is_none() {
        return if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) };
    }
    let mut wanted = PerNode::filled(options.targets.is_empty(), draft.nodes.len());
    let targets = named(draft, &options.targets, &mut diagnostics);
    spread(&mut wanted, targets, true, |at| match draft.nodes[at].is_declared() {
        true => draft.upstream(at).collect(),
        // What is no longer declared goes by itself: its upstream may well be wanted. What its provider needs is opened.
        false => draft.graph.dependencies(at).filter(|other| draft.nodes[*other].is_ephemeral()).collect(),
    });
    let excluded = named(draft, &options.excludes, &mut diagnostics);
    spread(&mut wanted, excluded, false, |at| draft.downstream(at).collect());
    let mut partial = wanted.iter().any(|wanted| !wanted);
    if let Some(about) = sources.about {
        partial = about.partial;
        for (wanted, node) in wanted.iter_mut().zip(&draft.nodes) {
            *wanted &= about.addresses.contains(&node.address);
        }
    }
    diagnostics.extend(rewritten(draft, &wanted));
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    draft.selection = Selection { left_out: wanted.into_iter().map(|wanted| !wanted).collect(), partial };
    Ok(())
}

/// The nodes that ranges of addresses stand for.
fn named(draft: &Draft, ranges: &[AddressRange], diagnostics: &mut Diagnostics) -> Vec<NodeIndex> {
    let mut found = Vec::new();
    for range in ranges {
        let before = found.len();
        let nodes = draft.nodes.enumerate();
        found.extend(nodes.filter(|(_, node)| range.covers(&node.address)).map(|(at, _)| at));
        if found.len() == before {
            let known: Vec<String> = draft.index.keys().map(ToString::to_string).collect();
            let meant =
                trueup_core::nearest(&range.to_string(), known.iter().map(String::as_str)).map(str::to_owned);
            let diagnostic = Diagnostic::error(format!("there is no resource {range}"));
            diagnostics.push(match meant {
                Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                None => diagnostic.hint("name a resource that is declared or recorded"),
            });
        }
    }
    found
}

/// Sets nodes and all that follow from them.
fn spread(
    wanted: &mut PerNode<bool>,
    mut from: Vec<NodeIndex>,
    to: bool,
    next: impl Fn(NodeIndex) -> Vec<NodeIndex>,
) {
    let mut seen = PerNode::filled(false, wanted.len());
    while let Some(at) = from.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            wanted[at] = to;
            from.extend(next(at));
        }
    }
}

/// TARGET-4
fn rewritten(draft: &Draft, wanted: &PerNode<bool>) -> Vec<Diagnostic> {
    let left_out = draft.nodes.iter().zip(wanted).filter(|(_, wanted)| !**wanted);
    let touched = left_out.filter(|(node, _)| {
        node.record.as_ref().is_some_and(|(record, _)| draft.relocation.originals.contains_key(&record.id))
    });
    let told = touched.map(|(node, _)| {
        let summary = format!("a move changes the record of {}, which is left out of this run", node.address);
        Diagnostic::error(summary)
            .about(node.address.to_string())
            .hint("select it too, or move in a run of its own")
    });
    told.collect()
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |at, _| (!draft.selection.contains(at)).then(|| "left out".to_owned()))
}
