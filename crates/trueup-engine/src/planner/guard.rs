//! What must not happen: deleting what is protected (REPLACE-9), two resources with one identity (REPLACE-10).

use std::collections::BTreeMap;

use trueup_core::{Diagnostic, Diagnostics, Value};

use super::Sources;
use crate::draft::Draft;
use crate::draft::node::{Node, Start};
use crate::index::NodeIndex;
use crate::mutations::planted;
use crate::plan::Action;

pub(super) async fn guard(sources: &Sources<'_>, draft: &Draft<'_>) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for node in &draft.nodes {
        diagnostics.extend(protection(node));
        diagnostics.extend(unknown_class(sources, node));
    }
    let places = places(sources, draft).await;
    diagnostics.extend(shared_identities(draft, &places));
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

/// The places where the objects of nodes will be, or are if they go, of types that tell them.
async fn places(sources: &Sources<'_>, draft: &Draft<'_>) -> BTreeMap<NodeIndex, Value> {
    let mut found = BTreeMap::new();
    for (at, node) in draft.nodes.enumerate() {
        if !node.handler().is_some_and(|handler| handler.traits().tells_place) {
            continue;
        }
        let gone = match node.is_declared() {
            true => None,
            false => node.record.as_ref().and_then(|(record, _)| record.current.as_ref()),
        };
        let recorded = match (gone, draft.places(&sources.calls, at)) {
            // Whatever its provider's configuration is by now.
            (Some(generation), Some(places)) => places.of(generation).await,
            _ => None,
        };
        found.extend(recorded.or_else(|| place(node)).map(|place| (at, place)));
    }
    found
}

/// Which nodes lay claim to which objects.
#[derive(Default)]
struct Claims<'a> {
    by_identity: BTreeMap<(&'a str, Value), Vec<&'a Node<'a>>>,
    /// Of types that tell places.
    by_place: BTreeMap<(&'a str, Value), Vec<&'a Node<'a>>>,
}

impl<'a> Claims<'a> {
    /// Notes the claim of a node, and gives an earlier one that it contradicts.
    fn claim(
        &mut self,
        node: &'a Node<'a>,
        identity: &Value,
        place: Option<&Value>,
        are_at_odds: fn(&Node, &Node) -> bool,
    ) -> Option<&'a Node<'a>> {
        let type_name = node.address.type_name();
        let placed = place.map(|place| self.by_place.entry((type_name, place.clone())).or_default());
        let known = self.by_identity.entry((type_name, identity.clone())).or_default();
        let in_place = placed.as_ref().and_then(|known| known.iter().find(|other| are_at_odds(other, node)));
        let is_placed =
            |other: &&Node| placed.as_ref().is_some_and(|it| it.iter().any(|it| it.address == other.address));
        let named = || known.iter().find(|other| !is_placed(other) && are_in_one_place(other, node));
        let other = in_place.or_else(named).copied();
        known.push(node);
        placed.into_iter().for_each(|known| known.push(node));
        other
    }
}

/// Two resources that would be one object: declared ones, or one that goes and one that comes.
fn shared_identities(draft: &Draft, places: &BTreeMap<NodeIndex, Value>) -> Vec<Diagnostic> {
    let mut claims = Claims::default();
    let mut found = Vec::new();
    for (at, node) in draft.nodes.enumerate() {
        let Some(own) = identity(node) else { continue };
        let Some(other) = claims.claim(node, &own, places.get(&at), are_at_odds) else { continue };
        let (one, two) = (&other.address, &node.address);
        let summary = match identity(other) {
            Some(first) if !first.same(&own) => format!("{one} and {two} are one object: {first} and {own}"),
            _ => format!("{one} and {two} have one identity: {own}"),
        };
        found.push(
            Diagnostic::error(summary)
                .about(two.to_string())
                .hint("give one another identity; if it was renamed, say so with `moved`"),
        );
    }
    found
}

/// Whether two nodes of one place cannot both have what they want. Records that hold one object already may go, and then
/// the last one deletes it (DELETE-9).
fn are_at_odds(one: &Node, other: &Node) -> bool {
    let holds = |node: &Node| node.object().is_some() && node.decision.action <= Action::Update;
    match (one.is_declared(), other.is_declared()) {
        (true, true) => true,
        (false, false) => false,
        (true, false) => !holds(one),
        (false, true) => !holds(other),
    }
}

/// ADOPT-4: two resources that found one object, as after a move whose state was lost.
fn found_twice(draft: &Draft) -> Vec<Diagnostic> {
    let mut finders = Claims::default();
    let mut twice = Vec::new();
    for node in &draft.nodes {
        let Start::Adopt(found) = &node.decision.start else { continue };
        let Some(identity) = &found.state.identity else { continue };
        let place = found.state.inputs.as_ref().and_then(|inputs| {
            crate::providers::place(&**node.handler()?, node.config.as_ref()?, &inputs.effective)
        });
        if let Some(other) = finders.claim(node, identity, place.as_ref(), |_, _| true) {
            let (one, two) = (&other.address, &node.address);
            let hint =
                format!("say whose it is: `trueup import {one} ID`, or the same for {two}; then deploy");
            let summary = format!("{one} and {two} find the same object: {identity}");
            twice.push(Diagnostic::error(summary).about(two.to_string()).hint(hint));
        }
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
    crate::providers::place(&**node.handler()?, node.config.as_ref()?, identifying_inputs(node)?)
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
