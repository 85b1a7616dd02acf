//! What derived code refers to. Not for use by hand.

pub use smol_str::SmolStr;
use std::sync::Arc;
pub use trueup_core::schema::{Attribute, Block, Constraint, Presence, Rule};
use trueup_core::schema::{NestedBlock, Nesting, Shape};
pub use trueup_core::{FieldError, FieldSchema, FieldType, Number, Value};
use trueup_core::{Step, Type, nearest};
pub use trueup_program::{Arguments, Expr, Expression, IntoExpr, Referable};

pub use crate::contract::{Args, Field, Inputs, Outputs, Planned};

/// A field of an object, null if it is absent; secret if the object is.
pub fn field<T>(
    object: &Value,
    name: &'static str,
    decode: impl FnOnce(&Value) -> Result<T, FieldError>,
) -> Result<T, FieldError> {
    let value = object.as_entries().and_then(|entries| entries.get(name)).cloned().unwrap_or(Value::NULL);
    decode(&value.into_secret_if(object.is_secret()))
        .map_err(|error| error.inside(Step::Key(SmolStr::new_static(name))))
}

/// Refuses what is no structure at all, rather than finding every field missing.
pub fn require_object(value: &Value) -> Result<(), FieldError> {
    value.as_entries().map(|_| ()).ok_or_else(|| FieldError::expected("an object", value))
}

/// An encoded field under its name, left out if it is null.
pub fn entry(
    name: &'static str,
    value: Result<Value, FieldError>,
) -> Result<Option<(SmolStr, Value)>, FieldError> {
    let name = SmolStr::new_static(name);
    match value {
        Ok(value) if value.is_null() => Ok(None),
        Ok(value) => Ok(Some((name, value))),
        Err(error) => Err(error.inside(Step::Key(name))),
    }
}

/// The schema of a field that holds a structure.
pub fn nested_schema(block: Block) -> FieldSchema {
    FieldSchema::of(Shape::Object(Arc::new(block)))
}

/// A structure that is written as a block.
///
/// # Panics
/// If the field holds no structure: the derive cannot see that, so it comes out when the type is registered.
pub fn nested_block<T: FieldType>(name: &str) -> NestedBlock {
    let schema = T::field_schema();
    let (nesting, inner) = match &schema.shape {
        Shape::List(element) => (Nesting::List, &**element),
        Shape::Set(element) => (Nesting::Set, &**element),
        Shape::Map(element) => (Nesting::Map, &**element),
        other => (Nesting::Single, other),
    };
    let Shape::Object(block) = inner else {
        panic!("`{name}` is marked as a block, and its type is not a struct or a collection of structs");
    };
    let block = block.clone();
    let single = nesting == Nesting::Single;
    let items_min = u64::from(single && !schema.optional);
    NestedBlock { nesting, block, items_min, items_max: single.then_some(1) }
}

/// Gives an attribute a default, which makes it optional.
///
/// # Panics
/// If no value stands for the default, such as a float that is not a number.
pub fn set_default(attribute: &mut Attribute, name: &str, default: &impl FieldType) {
    match default.encode() {
        Ok(value) => attribute.default = Some(value),
        Err(error) => panic!("the default of `{name}` {error}"),
    }
    if attribute.presence == Presence::Required {
        attribute.presence = Presence::Optional;
    }
}

/// Lets the provider choose an input where the program does not.
///
/// # Panics
/// If the field cannot be left out: then there is nothing to choose.
pub fn set_computed(attribute: &mut Attribute, name: &str) {
    let optional = attribute.presence == Presence::Optional;
    assert!(optional, "`{name}` is marked `computed`, so its type must be an `Option`");
    attribute.presence = Presence::OptionalComputed;
}

/// A literal number of a schema; the derive has checked its text.
pub fn number(text: &str) -> Number {
    text.parse().unwrap_or_else(|error| panic!("the bound `{text}` {error}"))
}

/// The schema of a field that takes one of a few texts.
pub fn choice_schema(names: &[&'static str]) -> FieldSchema {
    let mut schema = FieldSchema::plain(Type::String);
    schema.constraints = vec![Constraint::OneOf(names.iter().map(|name| Value::from(*name)).collect())];
    schema
}

/// The error of a text that is none of a few.
pub fn not_a_choice(value: &Value, names: &[&'static str]) -> FieldError {
    let Some(text) = value.as_str() else { return FieldError::expected("a string", value) };
    match nearest(text, names.iter().copied()) {
        Some(meant) if !value.is_secret() => {
            FieldError::new(format!("must be one of {names:?}: did you mean {meant:?}?"))
        }
        _ => FieldError::new(format!("must be one of {names:?}")),
    }
}
