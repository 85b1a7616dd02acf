//! One attribute of a schema.

use smol_str::SmolStr;

use super::{Constraint, Shape};
use crate::types::Type;
use crate::value::Value;

/// What is known of one attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// What it is for.
    pub doc: String,
    /// The shape of its value.
    pub shape: Shape,
    /// Who sets it.
    pub presence: Presence,
    /// Stands in where the program says nothing (PLAN-9).
    pub default: Option<Value>,
    /// What its value must satisfy beyond its type.
    pub constraints: Vec<Constraint>,
    /// Never shown (SECRET-1).
    pub secret: bool,
    /// Tells one object from another, such as a path or a bucket's name (CRUD-14).
    pub identity: bool,
    /// A change forces a replacement (CRUD-6).
    pub replace: bool,
    /// Changes by itself all the time, such as a time stamp: not compared (DRIFT-3).
    pub volatile: bool,
    /// Refreshed, shown, never drift (CRUD-14).
    pub informational: bool,
    /// Known only from the answer to the create: a read never erases it (CRUD-14).
    pub create_only: bool,
    /// Keeps its value over updates (UNKNOWN-2).
    pub stable: bool,
    /// Sent to the provider and never recorded.
    pub write_only: bool,
    /// Null, absent and empty are the same here (PLAN-6).
    pub empty_is_absent: bool,
    /// Repeats the input of this name, so its value is known as soon as the input's (UNKNOWN-1).
    pub mirrors: Option<SmolStr>,
    /// Why not to use it any more.
    pub deprecated: Option<String>,
}

/// Who sets an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// The program must.
    Required,
    /// The program may.
    Optional,
    /// The program may, else the provider does.
    OptionalComputed,
    /// The provider alone.
    Computed,
}

impl Attribute {
    /// An attribute of this shape.
    pub fn new(shape: Shape, presence: Presence) -> Self {
        Attribute {
            doc: String::new(),
            shape,
            presence,
            default: None,
            constraints: Vec::new(),
            secret: false,
            identity: false,
            replace: false,
            volatile: false,
            informational: false,
            create_only: false,
            stable: false,
            write_only: false,
            empty_is_absent: false,
            mirrors: None,
            deprecated: None,
        }
    }

    /// A plain attribute that the program must set.
    pub fn required(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Required)
    }

    /// A plain attribute that the program may set.
    pub fn optional(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Optional)
    }

    /// A plain attribute that the provider sets.
    pub fn computed(ty: Type) -> Self {
        Self::new(Shape::Plain(ty), Presence::Computed)
    }

    /// Adds a constraint.
    #[must_use]
    pub fn constrained(mut self, constraint: Constraint) -> Self {
        self.constraints.push(constraint);
        self
    }
}
