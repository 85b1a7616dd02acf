//! Names in bodies, held against the schema before anything is evaluated.

use std::borrow::Cow;

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block as Schema, Nesting, Presence, Shape};
use trueup_core::{Diagnostics, Type, Value};

use crate::declare::{at, suggest};
use crate::syntax::{Body, Item};

/// What a block stands for in a schema.
pub(super) struct Nested<'a> {
    pub(super) nesting: Nesting,
    pub(super) inner: Cow<'a, Schema>,
    pub(super) shape: Shape,
    /// Whether it is an attribute of a plain type: without a block it is unset, and what a block leaves out is null.
    pub(super) is_plain: bool,
}

impl Nested<'_> {
    /// What one block comes to.
    pub(super) fn element(&self, value: Value) -> Value {
        if !self.is_plain {
            return value;
        }
        self.inner.attributes.keys().fold(value, |value, name| match value.get(name) {
            Some(_) => value,
            None => value.with_entry(name, Value::NULL),
        })
    }
}

/// What a block of this name stands for; attributes that hold structures may be written as blocks too.
pub(super) fn nested<'a>(schema: &'a Schema, name: &str) -> Option<Nested<'a>> {
    if let Some(block) = schema.blocks.get(name) {
        let inner = Cow::Borrowed(&*block.block);
        return Some(Nested { nesting: block.nesting, inner, shape: block.shape(), is_plain: false });
    }
    let shape = &schema.attributes.get(name)?.shape;
    let inside = |shape: &'a Shape| match shape {
        Shape::Object(inner) => Some(Cow::Borrowed(&**inner)),
        _ => None,
    };
    let (nesting, inner) = match shape {
        Shape::Object(inner) => (Nesting::Single, Some(Cow::Borrowed(&**inner))),
        Shape::List(element) => (Nesting::List, inside(element)),
        Shape::Set(element) => (Nesting::Set, inside(element)),
        Shape::Map(element) => (Nesting::Map, inside(element)),
        // As Terraform has it for providers of old: a list or set of objects may be written as blocks.
        Shape::Plain(Type::List(element)) => (Nesting::List, object(element).map(Cow::Owned)),
        Shape::Plain(Type::Set(element)) => (Nesting::Set, object(element).map(Cow::Owned)),
        Shape::Plain(_) => return None,
    };
    let is_plain = matches!(shape, Shape::Plain(_));
    Some(Nested { nesting, inner: inner?, shape: shape.clone(), is_plain })
}

/// What a block for an object of this type takes.
fn object(element: &Type) -> Option<Schema> {
    let Type::Object(object) = element else { return None };
    let attributes = object.attributes.iter();
    let attributes = attributes.map(|(name, ty)| (name.clone(), Attribute::optional(ty.clone())));
    Some(Schema { attributes: attributes.collect(), ..Schema::default() })
}

/// Tells of all names in a body that its schema does not have.
pub(super) fn check_names(body: &Body, schema: &Schema, subject: &str, diagnostics: &mut Diagnostics) {
    for item in &body.items {
        let name = item.name();
        match item {
            Item::Attribute(_) => {
                let known =
                    schema.attributes.contains_key(&name.text) || schema.blocks.contains_key(&name.text);
                let comment = body.json && name.text == "//";
                if !known && !comment {
                    let diagnostic =
                        at(name.origin, format!("unknown attribute `{}` in {subject}", name.text));
                    diagnostics.push(suggest(diagnostic, &name.text, settable(schema).into_iter()));
                }
            }
            Item::Block(block) => {
                let dynamic = block.name.text == "dynamic";
                let label = block.labels.first().filter(|_| dynamic);
                let wanted: &SmolStr = label.map_or(&name.text, |label| &label.text);
                let origin = label.map_or(name.origin, |label| label.origin);
                match nested(schema, wanted) {
                    Some(nested) => {
                        let bodies = block.body.blocks_named("content").map(|content| &content.body);
                        if dynamic {
                            bodies.for_each(|body| check_names(body, &nested.inner, subject, diagnostics));
                        } else {
                            check_names(&block.body, &nested.inner, subject, diagnostics);
                        }
                    }
                    None if schema.attributes.contains_key(wanted) => {
                        let summary = format!("`{wanted}` in {subject} is an attribute, not a block");
                        diagnostics.push(at(origin, summary).hint(format!("write `{wanted} = …`")));
                    }
                    None => {
                        let diagnostic = at(origin, format!("unknown block `{wanted}` in {subject}"));
                        diagnostics.push(suggest(diagnostic, wanted, settable(schema).into_iter()));
                    }
                }
            }
        }
    }
}

/// The names that a program may set.
fn settable(schema: &Schema) -> Vec<&str> {
    let attributes = schema.attributes.iter().filter(|(_, it)| it.presence != Presence::Computed);
    attributes.map(|(name, _)| name.as_str()).chain(schema.blocks.keys().map(SmolStr::as_str)).collect()
}
