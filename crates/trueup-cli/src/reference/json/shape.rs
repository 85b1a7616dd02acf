//! Shapes of JSON, and the JSON Schema (2020-12) of each.
//!
//! Schemas are open: a reader ignores names that it doesn't know, so names may be added without a new version. The
//! command line's tests close them, so that no document has a name that its schema lacks.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::Document;

/// The shape of a piece of JSON.
pub(crate) enum Shape {
    /// A text.
    Text,
    /// `true` or `false`.
    Truth,
    /// A whole number from 0 on.
    Count,
    /// This number and no other.
    Exactly(u32),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A value of the program.
    Value,
    /// A type in Terraform's notation.
    Type,
    /// Items in order.
    List(&'static Shape),
    /// Values of one shape under free names.
    ByName(&'static Shape),
    /// The shape, or null.
    OrNull(&'static Shape),
    /// Named members.
    Object(&'static [Field]),
    /// A shape that several documents share.
    Shared(&'static Definition),
    /// The shared shape of this name, of which this is a part.
    Itself(&'static str),
    /// A document within another one.
    Whole(&'static Document),
}

/// A shape with a name.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
}

/// A member of an object.
pub(crate) struct Field {
    name: &'static str,
    shape: Shape,
    about: &'static str,
    always: bool,
}

/// A member that is always there.
pub(crate) const fn field(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { name, shape, about, always: true }
}

/// A member that is left out where there is nothing to say.
pub(crate) const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { name, shape, about, always: false }
}

/// Definitions that a schema refers to, by name.
pub(crate) type Definitions = BTreeMap<&'static str, Json>;

impl Shape {
    /// Its schema. Adds the definitions that it refers to.
    pub(crate) fn schema(&self, definitions: &mut Definitions) -> Json {
        match self {
            Shape::Text => json!({ "type": "string" }),
            Shape::Truth => json!({ "type": "boolean" }),
            Shape::Count => json!({ "type": "integer", "minimum": 0 }),
            Shape::Exactly(number) => json!({ "const": number }),
            Shape::OneOf(texts) => json!({ "enum": texts }),
            Shape::Value => json!({ "description": VALUE }),
            Shape::Type => json!({ "description": TYPE, "type": ["string", "array"] }),
            Shape::List(item) => json!({ "type": "array", "items": item.schema(definitions) }),
            Shape::ByName(item) => {
                json!({ "type": "object", "additionalProperties": item.schema(definitions) })
            }
            Shape::OrNull(shape) => json!({ "anyOf": [shape.schema(definitions), { "type": "null" }] }),
            Shape::Object(fields) => members(fields, definitions),
            Shape::Shared(definition) => {
                let schema =
                    |all: &mut Definitions| described(definition.shape.schema(all), definition.about);
                reference(definition.name, definitions, schema)
            }
            Shape::Itself(name) => reference_to(name),
            Shape::Whole(document) => reference(document.kind, definitions, |all| document.schema(all)),
        }
    }
}

/// A reference to a definition, which is made unless it is there.
fn reference(
    name: &'static str,
    definitions: &mut Definitions,
    schema: impl FnOnce(&mut Definitions) -> Json,
) -> Json {
    if !definitions.contains_key(name) {
        let schema = schema(definitions);
        definitions.insert(name, schema);
    }
    reference_to(name)
}

fn reference_to(name: &str) -> Json {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// What a value of the program is in JSON.
const VALUE: &str = "A value of the program. {\"$unknown\": TYPE} stands for one that is not known until apply, \
                     {\"$secret\": true} for a secret.";

/// How types are written.
const TYPE: &str = "A type in Terraform's notation, such as \"string\" or [\"list\", \"string\"].";

/// The schema of an object with these members.
pub(crate) fn members(fields: &[Field], definitions: &mut Definitions) -> Json {
    let properties: Map<String, Json> = fields
        .iter()
        .map(|it| (it.name.to_owned(), described(it.shape.schema(definitions), it.about)))
        .collect();
    let required: Vec<&str> = fields.iter().filter(|it| it.always).map(|it| it.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A schema with its description, before one that its shape has.
fn described(mut schema: Json, about: &str) -> Json {
    if about.is_empty() {
        return schema;
    }
    let text = match schema["description"].as_str() {
        Some(of_shape) => format!("{about}. {of_shape}"),
        None => about.to_owned(),
    };
    schema["description"] = text.into();
    schema
}
