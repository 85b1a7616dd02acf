//! In which order replacements go, and what they mean for others (REPLACE-1, REPLACE-2, REPLACE-10).

use std::collections::BTreeSet;

use trueup_core::{Diagnostic, Diagnostics, Value};
use trueup_state::Generation;

use super::retire::users_left_out;
use super::trace::lines;
use crate::draft::Draft;
use crate::draft::node::{Node, Sight, Start};
use crate::index::NodeIndex;
use crate::mutations::planted;
use crate::plan::{Action, Reason, ReplaceOrder};

pub(super) fn replace(draft: &mut Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for node in &mut draft.nodes {
        if !matches!(node.decision.action, Action::Replace | Action::MayReplace) {
            node.decision.order = None;
            continue;
        }
        let asked = node.declared().and_then(|declared| declared.options.delete_first);
        // In another place nothing is in the way of the new object, whatever its type and identity.
        let is_moved = node.decision.reasons.contains(&Reason::ProviderUnknown);
        let by_type = node.decision.order == Some(ReplaceOrder::DeleteFirst) && !is_moved;
        let same_identity = (node.decision.keeps_place || keeps_identity(node)) && !is_moved;
        if same_identity {
            node.decision.reasons.push(Reason::SameIdentity);
        }
        // What is retained is never deleted, so there is nothing to do first; both must be able to exist.
        let retained = is_retained(node);
        if retained && same_identity {
            let summary =
                format!("{} is retained, and what replaces it would have the same identity", node.address);
            let hint = "give it another identity, or remove `retain` from its options";
            diagnostics.push(Diagnostic::error(summary).about(node.address.to_string()).hint(hint));
        }
        // What an interrupted create may have made in another place goes before it is made anew.
        let is_unfinished = node.decision.start == Start::FinishDelete && !planted!(FinishApart);
        let delete_first = is_unfinished || (asked.unwrap_or(by_type) || same_identity) && !retained;
        node.decision.order =
            Some(if delete_first { ReplaceOrder::DeleteFirst } else { ReplaceOrder::CreateFirst });
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    replace_stubbed(draft);
    spread_delete_first(draft)?;
    refuse_lost_dependents(draft)?;
    for node in draft.nodes.iter_mut().filter(|node| node.is_deleted_first()) {
        // What a create that was cut off may have made is found when its turn to be deleted comes.
        if !matches!(node.decision.start, Start::Adopt(_)) {
            node.decision.start = Start::Record;
        }
    }
    Ok(())
}

/// Whether the object stays when it is replaced (REPLACE-8).
fn is_retained(node: &Node) -> bool {
    node.declared().is_some_and(|declared| declared.options.retain)
}

/// TARGET-3: what is deleted first takes away what something left out still uses.
fn refuse_lost_dependents(draft: &Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let users = users_left_out(draft);
    for (at, node) in draft.nodes.enumerate() {
        if node.decision.order != Some(ReplaceOrder::DeleteFirst) {
            continue;
        }
        if let Some(dependent) = users[at] {
            let (address, dependent) = (&node.address, &draft.nodes[dependent].address);
            let summary = format!(
                "{address} would be deleted first, and {dependent}, which depends on it, is left out of this run"
            );
            diagnostics.push(Diagnostic::error(summary).about(address.to_string()).hint("select it too"));
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Whether a replacement would have the identity of what it replaces, so that both cannot exist at once.
fn keeps_identity(node: &Node) -> bool {
    if node.sight == (Sight::Elsewhere { apart: true }) {
        return false;
    }
    let (Some(handler), Some(desired)) = (node.handler(), &node.desired) else { return false };
    let nothing = Value::object::<&str>([]);
    let schema = handler.schema();
    let Some(new) = schema.identity(Some(&desired.effective), &nothing) else { return false };
    let replaced = match &node.decision.start {
        // What was found has the identity that was looked for, unless it tells another.
        Start::Adopt(found) => match &found.state.inputs {
            Some(inputs) => Some(inputs),
            None => return !planted!(IgnoreFoundIdentity),
        },
        // Of what is half made, or may have been, there are only the inputs of the attempt.
        _ => {
            let current = node.record.as_ref().and_then(|(record, _)| record.current.as_ref());
            current.and_then(Generation::inputs)
        }
    };
    let old = schema.identity(replaced.map(|inputs| &inputs.effective), &nothing);
    old.is_some_and(|old| new.same(&old))
}

/// Replaces for certain what may be deleted first, if a new member of its cycle would otherwise be made with an object that
/// goes then (BIND-5).
fn replace_stubbed(draft: &mut Draft) {
    for (from, target) in draft.loose.clone() {
        let is_made = matches!(
            draft.nodes[from].decision.action,
            Action::Create | Action::Replace | Action::MayReplace
        );
        let node = &mut draft.nodes[target];
        let may_go_first = node.decision.order == Some(ReplaceOrder::DeleteFirst) && node.makes_stub();
        if is_made && may_go_first && node.decision.action == Action::MayReplace {
            node.decision.action = Action::Replace;
        }
    }
}

/// What uses an object that is deleted first, by what is recorded, and must or may be replaced itself, goes with it.
fn spread_delete_first(draft: &mut Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let deleted_first =
        |draft: &Draft, at: NodeIndex| draft.nodes[at].decision.order == Some(ReplaceOrder::DeleteFirst);
    let mut spreading: Vec<NodeIndex> =
        draft.nodes.indices().filter(|at| deleted_first(draft, *at)).collect();
    let mut removed = BTreeSet::new();
    while let Some(at) = spreading.pop() {
        // Who only will depend on it has nothing yet that stands in the way.
        let dependents: Vec<NodeIndex> = draft.recorded_graph.dependents(at).collect();
        for dependent in dependents {
            let upstream = draft.nodes[at].address.to_string();
            let before = deleted_first(draft, dependent);
            let node = &mut draft.nodes[dependent];
            if node.decision.action == Action::Delete && removed.insert(dependent) {
                // It goes first too, and so must what still uses it.
                spreading.push(dependent);
            }
            let replaced = matches!(node.decision.action, Action::Replace | Action::MayReplace);
            let remade = node.leaves_older();
            // What is retained stays, whatever becomes of what it uses.
            if !(replaced || remade) || is_retained(node) {
                continue;
            }
            if node.declared().and_then(|declared| declared.options.delete_first) == Some(false) {
                let summary = format!(
                    "{} is to be replaced create-first, and {upstream} must be deleted first",
                    node.address
                );
                diagnostics.push(
                    Diagnostic::error(summary)
                        .about(node.address.to_string())
                        .hint("allow `delete_first` on both, or replace them in two runs"),
                );
                continue;
            }
            // What an interrupted create may have made goes too, and the plan must say so.
            let current = node.record.as_ref().and_then(|(record, _)| record.current.as_ref());
            if replaced || current.is_some_and(Generation::is_interrupted) {
                node.decision.action = Action::Replace;
            }
            node.decision.order = Some(ReplaceOrder::DeleteFirst);
            if !node.decision.reasons.contains(&Reason::UpstreamReplaced) {
                node.decision.reasons.push(Reason::UpstreamReplaced);
            }
            if !before {
                spreading.push(dependent);
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |_, node| {
        let order = match node.decision.order? {
            ReplaceOrder::CreateFirst => "create first",
            ReplaceOrder::DeleteFirst => "delete first",
        };
        Some(format!("{}, {order}", node.decision.action.name()))
    })
}
