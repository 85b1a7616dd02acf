//! Bodies written as JSON.
//!
//! `reader` turns the text into the same expressions that native syntax has: objects, tuples, literals, and templates
//! for strings. The top-level object becomes a body of attributes; `shape` reads some of these as blocks once someone
//! says which they are.

mod reader;
mod shape;

use trueup_core::{Diagnostics, FileId, Origin};

use super::Parsed;
use super::body::{Attribute, Body, Item, Name};
use super::expression::{Expr, ExprKind, Literal, ObjectItem, ObjectKey};
use reader::Texts;
pub(super) use shape::shape;

/// Reads a file in JSON. Its body holds attributes only, until it is [shaped](Body::shaped).
pub fn parse_json_body(text: &str, file: FileId) -> Parsed<Body> {
    parse(text, file, Texts::OfDeclarations)
}

/// Reads a file of values in JSON, whose strings are texts and no templates.
pub(super) fn parse_json_values(text: &str, file: FileId) -> Parsed<Body> {
    parse(text, file, Texts::Everywhere)
}

fn parse(text: &str, file: FileId, texts: Texts) -> Parsed<Body> {
    let mut diagnostics = Diagnostics::new();
    let origin = Origin { file, start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
    let items = match reader::read(text, file, texts, &mut diagnostics) {
        Some(tree) => match tree.kind {
            ExprKind::Object(items) => attributes(items),
            // HCL allows a list of objects at the top, whose properties count together.
            ExprKind::Tuple(parts) if parts.iter().all(|part| part.as_object().is_some()) => {
                parts.into_iter().flat_map(|part| object_attributes(part).unwrap_or_default()).collect()
            }
            _ => {
                diagnostics.push(reader::error(tree.origin, "a file in JSON holds an object".to_owned()));
                Vec::new()
            }
        },
        None => Vec::new(),
    };
    Parsed { tree: Body { items, origin, json: true }, diagnostics }
}

fn object_attributes(object: Expr) -> Option<Vec<Item>> {
    match object.kind {
        ExprKind::Object(items) => Some(attributes(items)),
        _ => None,
    }
}

/// The entries of an object as attributes. The key `//` is a comment.
fn attributes(items: Vec<ObjectItem>) -> Vec<Item> {
    items
        .into_iter()
        .filter_map(|ObjectItem { key, value }| {
            let name = key_name(key);
            let origin = Origin { end: name.origin.end.max(value.origin.end), ..name.origin };
            (name.text != "//").then_some(Item::Attribute(Attribute { name, value, origin }))
        })
        .collect()
}

/// A key of a body is a name; within expressions it is a template.
fn key_name(key: ObjectKey) -> Name {
    match key {
        ObjectKey::Name(name) => name,
        ObjectKey::Expr(Expr { kind: ExprKind::Literal(Literal::String(text)), origin }) => {
            Name { text, origin }
        }
        // A template, which is no name of anything; whoever reads the body says so.
        ObjectKey::Expr(Expr { origin, .. }) => Name::new("${…}", origin),
    }
}
