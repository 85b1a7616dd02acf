//! Schemas: what a resource type takes and gives, field by field.
//!
//! A [`ResourceSchema`] has one [`Block`] for inputs and one for outputs. The same structures describe native types,
//! derived from Rust structs, and those of Terraform providers.

mod attribute;
mod check;
mod constraint;
mod defaults;
mod rule;

use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;

pub use attribute::{Attribute, Presence};
pub use check::Checked;
pub use constraint::{Constraint, Pattern};
pub use rule::Rule;

use crate::path::{Path, Step};
use crate::types::{ObjectType, Type};
use crate::value::Value;

/// What a resource type takes and gives.
#[derive(Clone, Debug, Default)]
pub struct ResourceSchema {
    /// Grows when records of older code no longer fit; a migration leads from one to the next (CRUD-10).
    pub version: u64,
    /// What the program sets.
    pub inputs: Block,
    /// What the provider answers.
    pub outputs: Block,
}

/// A group of attributes and nested blocks.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What it is for.
    pub doc: String,
    /// Set with `name = value`, in the order they were declared.
    pub attributes: IndexMap<SmolStr, Attribute>,
    /// Set with `name { … }`, in the order they were declared.
    pub blocks: IndexMap<SmolStr, NestedBlock>,
    /// What must hold between attributes.
    pub rules: Vec<Rule>,
}

/// A block inside a block.
#[derive(Clone, Debug)]
pub struct NestedBlock {
    /// How often it stands and how its instances are told apart.
    pub nesting: Nesting,
    /// What is inside.
    pub block: Arc<Block>,
    /// The fewest instances allowed.
    pub items_min: u64,
    /// The most instances allowed.
    pub items_max: Option<u64>,
}

/// How instances of a nested structure are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nesting {
    /// At most one.
    Single,
    /// Always one: if it is not written, it stands there with defaults.
    Group,
    /// By position.
    List,
    /// By content.
    Set,
    /// By label.
    Map,
}

/// The shape of an attribute's value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// A structure with attributes of its own, or several.
    Nested(Nesting, Arc<Block>),
}

impl ResourceSchema {
    /// The paths of inputs whose change forces a replacement (CRUD-6).
    pub fn replace_fields(&self) -> Vec<Path> {
        self.inputs.paths_where(|attribute| attribute.replace)
    }

    /// The values of the fields that tell one object from another, of inputs and outputs together: an object, or
    /// `None` if the type declares no such field or none has a known value.
    pub fn identity(&self, inputs: Option<&Value>, outputs: &Value) -> Option<Value> {
        let of = |block: &Block, values: Option<&Value>| -> Vec<(SmolStr, Value)> {
            let named = block.attributes.iter().filter(|(_, attribute)| attribute.identity);
            named.filter_map(|(name, _)| Some((name.clone(), values?.get(name)?.clone()))).collect()
        };
        let mut identity = of(&self.inputs, inputs);
        identity.extend(of(&self.outputs, Some(outputs)));
        identity.retain(|(_, value)| value.is_wholly_known());
        (!identity.is_empty()).then(|| Value::object(identity))
    }
}

impl Block {
    /// The type of values that this block describes. Blocks that may be left out are optional in it.
    pub fn implied_type(&self) -> Type {
        let mut object = ObjectType::default();
        for (name, attribute) in &self.attributes {
            object.attributes.insert(name.clone(), attribute.shape.implied_type());
            if attribute.presence != Presence::Required {
                object.optional.insert(name.clone());
            }
        }
        for (name, nested) in &self.blocks {
            let ty = Shape::Nested(nested.nesting, nested.block.clone()).implied_type();
            object.attributes.insert(name.clone(), ty);
            if nested.items_min == 0 {
                object.optional.insert(name.clone());
            }
        }
        Type::Object(Arc::new(object))
    }

    /// The paths of all attributes, however deeply nested, of which something holds.
    pub fn paths_where(&self, holds: impl Fn(&Attribute) -> bool + Copy) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect_paths(&Path::ROOT, holds, &mut paths);
        paths
    }

    fn collect_paths(&self, at: &Path, holds: impl Fn(&Attribute) -> bool + Copy, paths: &mut Vec<Path>) {
        for (name, attribute) in &self.attributes {
            let path = at.join(Step::Key(name.clone()));
            if holds(attribute) {
                paths.push(path);
            } else if let Shape::Nested(nesting, block) = &attribute.shape {
                block.collect_paths(&nesting.inside(path), holds, paths);
            }
        }
        for (name, nested) in &self.blocks {
            let path = nested.nesting.inside(at.join(Step::Key(name.clone())));
            nested.block.collect_paths(&path, holds, paths);
        }
    }

    /// The names of all attributes and blocks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.keys().chain(self.blocks.keys()).map(SmolStr::as_str)
    }
}

impl Nesting {
    /// The path to the attributes of each instance.
    fn inside(self, path: Path) -> Path {
        match self {
            Nesting::Single | Nesting::Group => path,
            Nesting::List | Nesting::Set | Nesting::Map => path.join(Step::Any),
        }
    }
}

impl Shape {
    /// The type of values of this shape.
    pub fn implied_type(&self) -> Type {
        match self {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(Nesting::Single | Nesting::Group, block) => block.implied_type(),
            Shape::Nested(Nesting::List, block) => Type::list(block.implied_type()),
            Shape::Nested(Nesting::Set, block) => Type::set(block.implied_type()),
            Shape::Nested(Nesting::Map, block) => Type::map(block.implied_type()),
        }
    }
}
