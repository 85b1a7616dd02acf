//! Schemas: what a resource type takes and gives, field by field.
//!
//! A [`ResourceSchema`] has one [`Block`] for inputs and one for outputs. The same structures describe native types,
//! derived from Rust structs, and those of Terraform providers.

mod attribute;
mod check;
mod constraint;
mod defaults;
mod ephemeral;
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
use crate::value::{Kind, Value};

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

/// The shape of a value: a type, or structures with attributes of their own, however deeply in collections.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// A structure.
    Object(Arc<Block>),
    /// In order.
    List(Arc<Shape>),
    /// Without order.
    Set(Arc<Shape>),
    /// Under free keys.
    Map(Arc<Shape>),
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
            object.attributes.insert(name.clone(), nested.shape().implied_type());
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
            } else if let Some((inside, block)) = attribute.shape.innermost(path) {
                block.collect_paths(&inside, holds, paths);
            }
        }
        for (name, nested) in &self.blocks {
            if let Some((inside, block)) = nested.shape().innermost(at.join(Step::Key(name.clone()))) {
                block.collect_paths(&inside, holds, paths);
            }
        }
    }

    /// Whether something holds of any attribute, however deeply nested.
    pub fn any_attribute(&self, holds: impl Fn(&Attribute) -> bool + Copy) -> bool {
        !self.paths_where(holds).is_empty()
    }

    /// A value of this block without the attributes of which something holds, however deeply nested.
    pub fn without(&self, value: &Value, unwanted: impl Fn(&Attribute) -> bool + Copy) -> Value {
        let Some(entries) = value.as_entries() else { return value.clone() };
        let kept = entries.iter().filter_map(|(name, item)| match self.attributes.get(name) {
            Some(attribute) if unwanted(attribute) => None,
            Some(attribute) => Some((name.clone(), attribute.shape.without(item, unwanted))),
            None => match self.blocks.get(name) {
                Some(nested) => Some((name.clone(), nested.shape().without(item, unwanted))),
                None => Some((name.clone(), item.clone())),
            },
        });
        value.with_kind(Value::object(kept.collect::<Vec<_>>()).kind().clone())
    }

    /// The names of all attributes and blocks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.keys().chain(self.blocks.keys()).map(SmolStr::as_str)
    }
}

impl NestedBlock {
    /// The shape of its value.
    pub fn shape(&self) -> Shape {
        let object = Shape::Object(self.block.clone());
        match self.nesting {
            Nesting::Single | Nesting::Group => object,
            Nesting::List => Shape::List(Arc::new(object)),
            Nesting::Set => Shape::Set(Arc::new(object)),
            Nesting::Map => Shape::Map(Arc::new(object)),
        }
    }
}

impl Shape {
    /// The type of values of this shape.
    pub fn implied_type(&self) -> Type {
        match self {
            Shape::Plain(ty) => ty.clone(),
            Shape::Object(block) => block.implied_type(),
            Shape::List(element) => Type::list(element.implied_type()),
            Shape::Set(element) => Type::set(element.implied_type()),
            Shape::Map(element) => Type::map(element.implied_type()),
        }
    }

    /// Whether something holds of any attribute inside.
    pub fn any_attribute(&self, holds: impl Fn(&Attribute) -> bool + Copy) -> bool {
        self.innermost(Path::ROOT).is_some_and(|(_, block)| block.any_attribute(holds))
    }

    /// The structure inside all collections, and the path to it from here.
    fn innermost(&self, path: Path) -> Option<(Path, &Arc<Block>)> {
        match self {
            Shape::Plain(_) => None,
            Shape::Object(block) => Some((path, block)),
            Shape::List(element) | Shape::Set(element) | Shape::Map(element) => {
                element.innermost(path.join(Step::Any))
            }
        }
    }

    /// Changes each structure in a value of this shape; other parts stay, and so do marks.
    pub(crate) fn map_objects(&self, value: &Value, change: &dyn Fn(&Block, &Value) -> Value) -> Value {
        let changed = match (self, value.kind()) {
            (Shape::Object(block), Kind::Map(_) | Kind::Object(_)) => return change(block, value),
            (Shape::List(element), Kind::List(items)) => {
                Value::list(items.iter().map(|item| element.map_objects(item, change)))
            }
            (Shape::Set(element), Kind::Set(items)) => {
                Value::set(items.iter().map(|item| element.map_objects(item, change)))
            }
            (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => {
                let change =
                    |(key, item): (&SmolStr, &Value)| (key.clone(), element.map_objects(item, change));
                Value::map(entries.iter().map(change).collect::<Vec<_>>())
            }
            _ => return value.clone(),
        };
        value.with_kind(changed.kind().clone())
    }

    fn without(&self, value: &Value, unwanted: impl Fn(&Attribute) -> bool + Copy) -> Value {
        self.map_objects(value, &|block, value| block.without(value, unwanted))
    }
}
