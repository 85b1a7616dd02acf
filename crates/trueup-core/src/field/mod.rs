//! Field types: how Rust types stand for values.
//!
//! A [`FieldType`] knows its schema and how to become a value and back. The standard types implement it here; structs
//! and enums derive it.

mod collections;
mod plain;

use crate::path::{Path, Step};
use crate::schema::{Attribute, Constraint, Presence, Shape};
use crate::types::Type;
use crate::value::Value;

/// A Rust type that can be a field of inputs or outputs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field",
    label = "no value stands for this type",
    note = "derive `FieldType` for a struct or enum of your own"
)]
pub trait FieldType: Sized {
    /// What the schema says of such a field.
    fn field_schema() -> FieldSchema;
    /// The value that stands for it. Fails for what no value stands for, such as a float that is not a number.
    fn encode(&self) -> Result<Value, FieldError>;
    /// Reads it back from a value that the schema has checked. An absent field is null.
    fn decode(value: &Value) -> Result<Self, FieldError>;
}

/// What a Rust type says of a field.
#[derive(Clone, Debug)]
pub struct FieldSchema {
    /// The shape of its value.
    pub shape: Shape,
    /// Whether it may be left out.
    pub optional: bool,
    /// What its value must satisfy beyond its type.
    pub constraints: Vec<Constraint>,
    /// Never shown.
    pub secret: bool,
}

impl FieldSchema {
    /// A field of this type that must be set.
    pub fn plain(ty: Type) -> Self {
        Self::of(Shape::Plain(ty))
    }

    /// A field of this shape that must be set.
    pub fn of(shape: Shape) -> Self {
        FieldSchema { shape, optional: false, constraints: Vec::new(), secret: false }
    }

    /// As an attribute that the program sets.
    pub fn into_input(self) -> Attribute {
        let presence = if self.optional { Presence::Optional } else { Presence::Required };
        self.into_attribute(presence)
    }

    /// As an attribute that the provider sets.
    pub fn into_output(self) -> Attribute {
        self.into_attribute(Presence::Computed)
    }

    fn into_attribute(self, presence: Presence) -> Attribute {
        let mut attribute = Attribute::new(self.shape, presence);
        attribute.constraints = self.constraints;
        attribute.secret = self.secret;
        attribute
    }
}

/// Why a value and a Rust type do not fit each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if path.is_root() { String::new() } else { format!("`{path}` ") })]
pub struct FieldError {
    path: Path,
    message: String,
}

impl FieldError {
    /// An error at the value itself. The message follows the field's name: "is not a number".
    pub fn new(message: impl Into<String>) -> Self {
        FieldError { path: Path::ROOT, message: message.into() }
    }

    /// The error of a value of another kind than expected.
    pub fn expected(expected: &str, found: &Value) -> Self {
        match found.is_null() {
            true => Self::new(format!("is missing: expected {expected}")),
            false => Self::new(format!("is {}, expected {expected}", found.kind_name())),
        }
    }

    /// The same error, seen from one step further out.
    #[must_use]
    pub fn inside(mut self, step: Step) -> Self {
        self.path = std::iter::once(step).chain(self.path.steps().iter().cloned()).collect();
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong there, to follow the field's name.
    pub fn message(&self) -> &str {
        &self.message
    }
}
