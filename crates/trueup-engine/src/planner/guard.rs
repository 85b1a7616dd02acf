//! What must not happen: deleting what is protected (REPLACE-9), two resources with one identity (REPLACE-10).

use std::collections::BTreeMap;

use trueup_core::{Diagnostic, Diagnostics, Value};

use super::node::{Node, Start};
use super::{Draft, Sources};
use crate::mutations::planted;
use crate::plan::Action;

pub(super) fn guard(sources: &Sources<'_>, draft: &Draft) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for node in &draft.nodes {
        diagnostics.extend(protection(node));
        diagnostics.extend(unknown_class(sources, node));
    }
    diagnostics.extend(shared_identities(draft));
    diagnostics.extend(found_twice(draft));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// A class of resources that nobody defines would limit nothing.
fn unknown_class(sources: &Sources<'_>, node: &Node) -> Option<Diagnostic> {
    let class = node.declared()?.options.parallelism_class.as_ref()?;
    let known = || sources.program.parallelism.iter().map(|class| class.name.as_str());
    (!known().any(|name| name == class)).then(|| {
        let summary =
            format!("{} is of the parallelism class `{class}`, which is not declared", node.address);
        let hint = match trueup_core::nearest(class, known()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "declare the class with its limit".to_owned(),
        };
        Diagnostic::error(summary).about(node.address.to_string()).hint(hint)
    })
}

fn protection(node: &Node) -> Option<Diagnostic> {
    let doomed = match node.decision.action {
        Action::Delete => "deleted",
        Action::Replace | Action::MayReplace => "replaced",
        _ => return None,
    };
    // What is declared follows the program; what is not follows its record.
    let protected = match node.declared() {
        Some(declared) => declared.options.protect,
        None => node.record.as_ref().is_some_and(|(record, _)| record.meta.protect),
    };
    let hint = match node.declared() {
        Some(_) => "remove its protection from the program (`prevent_destroy`, `protect`)".to_owned(),
        None => format!("run `trueup state unprotect {}` first", node.address),
    };
    (protected && !planted!(IgnoreProtection)).then(|| {
        let summary = format!("{} is protected and would be {doomed}", node.address);
        Diagnostic::error(summary).about(node.address.to_string()).hint(hint)
    })
}

/// Two resources that would be one object: declared ones, or one that goes and one that comes.
fn shared_identities(draft: &Draft) -> Vec<Diagnostic> {
    let mut holders: BTreeMap<(&str, Value), Vec<&Node>> = BTreeMap::new();
    let mut found = Vec::new();
    for node in &draft.nodes {
        let Some(identity) = identity(node) else { continue };
        let known = holders.entry((node.address.type_name(), identity.clone())).or_default();
        let other = known.iter().find(|other| are_in_one_place(other, node));
        if let Some(other) = other {
            let summary = format!("{} and {} have one identity: {identity}", other.address, node.address);
            found.push(
                Diagnostic::error(summary)
                    .about(node.address.to_string())
                    .hint("give one another identity; if it was renamed, say so with `moved`"),
            );
        }
        known.push(node);
    }
    found
}

/// ADOPT-4: two resources that found one object, as after a move whose state was lost.
fn found_twice(draft: &Draft) -> Vec<Diagnostic> {
    let mut finders: BTreeMap<(&str, Value), Vec<&Node>> = BTreeMap::new();
    let mut twice = Vec::new();
    for node in &draft.nodes {
        let Start::Adopt(found) = &node.decision.start else { continue };
        let Some(identity) = &found.state.identity else { continue };
        let known = finders.entry((node.address.type_name(), identity.clone())).or_default();
        if let Some(other) = known.iter().find(|other| are_in_one_place(other, node)) {
            let (one, two) = (&other.address, &node.address);
            let hint =
                format!("say whose it is: `trueup import {one} ID`, or the same for {two}; then deploy");
            let summary = format!("{one} and {two} find the same object: {identity}");
            twice.push(Diagnostic::error(summary).about(two.to_string()).hint(hint));
        }
        known.push(node);
    }
    twice
}

/// Whether objects of one identity would be in the same place. Where nobody can tell, configurations of one name count as
/// one, and those that say the same.
fn are_in_one_place(one: &Node, other: &Node) -> bool {
    if let (Some(one), Some(other)) = (place(one), place(other)) {
        return one == other;
    }
    let configs = one.config.as_ref().zip(other.config.as_ref());
    one.provider == other.provider || configs.is_some_and(|(one, other)| one.value() == other.value())
}

/// Where the object of a node will be, or is if it goes, if its type can tell.
fn place(node: &Node) -> Option<Value> {
    node.handler()?.place(node.config.as_ref()?, identifying_inputs(node)?)
}

/// The inputs that a node will have, or had if it goes.
fn identifying_inputs<'a>(node: &'a Node) -> Option<&'a Value> {
    let inputs = match node.is_declared() {
        true => node.desired.as_ref(),
        false => node.object()?.inputs.as_ref(),
    };
    inputs.map(|inputs| &inputs.effective)
}

/// The identity that a node will have, or had if it goes, as far as its inputs tell all of it.
fn identity(node: &Node) -> Option<Value> {
    let handler = node.handler()?;
    let identity = handler.schema().identity(Some(identifying_inputs(node)?), &Value::object::<&str>([]))?;
    let mut parts = handler.schema().inputs.attributes.iter().filter(|(_, attribute)| attribute.identity);
    parts.all(|(name, _)| identity.get(name).is_some()).then_some(identity)
}
