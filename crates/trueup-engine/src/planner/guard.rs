//! What must not happen: deleting what is protected (REPLACE-9), two resources with one identity (REPLACE-10).

use std::collections::BTreeMap;

use trueup_core::{Address, Diagnostic, Diagnostics, Value};

use super::node::Node;
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
    let mut holders: BTreeMap<(&str, &str, Value), &Address> = BTreeMap::new();
    let mut found = Vec::new();
    for node in &draft.nodes {
        let Some(identity) = identity(node) else { continue };
        let key = (node.provider.as_str(), node.address.type_name(), identity.clone());
        if let Some(other) = holders.insert(key, &node.address) {
            let summary = format!("{other} and {} have one identity: {identity}", node.address);
            found.push(
                Diagnostic::error(summary)
                    .about(node.address.to_string())
                    .hint("give one another identity; if it was renamed, say so with `moved`"),
            );
        }
    }
    found
}

/// The identity that a node will have, or had if it goes, as far as its inputs tell all of it.
fn identity(node: &Node) -> Option<Value> {
    let handler = node.handler()?;
    let recorded = || node.object()?.inputs.as_ref().map(|inputs| &inputs.effective);
    let inputs = match node.is_declared() {
        true => &node.desired.as_ref()?.effective,
        false => recorded()?,
    };
    let identity = handler.schema().identity(Some(inputs), &Value::object::<&str>([]))?;
    let mut parts = handler.schema().inputs.attributes.iter().filter(|(_, attribute)| attribute.identity);
    parts.all(|(name, _)| identity.get(name).is_some()).then_some(identity)
}
