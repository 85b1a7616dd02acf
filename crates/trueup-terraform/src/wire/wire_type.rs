//! The types by which the protocol encodes values.
//!
//! They are the types of the language, and two more: nested blocks in which some attribute may have any type. Blocks of
//! one kind can then differ in type, so the list of them has the type of whatever it holds, which goes along with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::{Block, NestedBlock, Nesting, Shape};
use trueup_core::{Kind, Type, Value};

/// The type of a value on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireType {
    /// Any type, which goes along with the value.
    Any,
    /// `true` or `false`.
    Bool,
    /// A decimal number.
    Number,
    /// Text.
    String,
    /// Values of one type in order.
    List(Arc<WireType>),
    /// Values of one type without order.
    Set(Arc<WireType>),
    /// Values of one type under free keys.
    Map(Arc<WireType>),
    /// Values under fixed names.
    Object(Arc<BTreeMap<SmolStr, WireType>>),
    /// As many values as types.
    Tuple(Arc<[WireType]>),
    /// Blocks in order, each of a type of its own within this one; the types go along.
    AnyList(Arc<WireType>),
    /// Blocks under labels, each of a type of its own within this one; the types go along.
    AnyMap(Arc<WireType>),
}

impl WireType {
    /// The type of what a block describes.
    pub fn of_block(block: &Block) -> WireType {
        let attributes =
            block.attributes.iter().map(|(name, attribute)| (name.clone(), Self::of_shape(&attribute.shape)));
        let blocks = block.blocks.iter().map(|(name, nested)| (name.clone(), Self::of_nested(nested)));
        WireType::Object(Arc::new(attributes.chain(blocks).collect()))
    }

    fn of_nested(nested: &NestedBlock) -> WireType {
        let inner = Self::of_block(&nested.block);
        let any = inner.contains_any();
        match nested.nesting {
            Nesting::Single | Nesting::Group => inner,
            Nesting::List if any => WireType::AnyList(Arc::new(inner)),
            Nesting::List => WireType::List(Arc::new(inner)),
            Nesting::Set => WireType::Set(Arc::new(inner)),
            Nesting::Map if any => WireType::AnyMap(Arc::new(inner)),
            Nesting::Map => WireType::Map(Arc::new(inner)),
        }
    }

    fn of_shape(shape: &Shape) -> WireType {
        match shape {
            Shape::Plain(ty) => ty.into(),
            Shape::Object(block) => Self::of_block(block),
            Shape::List(element) => WireType::List(Arc::new(Self::of_shape(element))),
            Shape::Set(element) => WireType::Set(Arc::new(Self::of_shape(element))),
            Shape::Map(element) => WireType::Map(Arc::new(Self::of_shape(element))),
        }
    }

    fn contains_any(&self) -> bool {
        match self {
            WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_) => true,
            WireType::Bool | WireType::Number | WireType::String => false,
            WireType::List(element) | WireType::Set(element) | WireType::Map(element) => {
                element.contains_any()
            }
            WireType::Object(attributes) => attributes.values().any(WireType::contains_any),
            WireType::Tuple(elements) => elements.iter().any(WireType::contains_any),
        }
    }

    /// The same with a place for everything that an object holds: a record of another schema has other attributes.
    pub(crate) fn widened_for(&self, value: &Value) -> WireType {
        let (WireType::Object(attributes), Some(entries)) = (self, value.as_entries()) else {
            return self.clone();
        };
        if entries.keys().all(|name| attributes.contains_key(name)) {
            return self.clone();
        }
        let mut attributes = BTreeMap::clone(attributes);
        for (name, item) in entries.iter() {
            attributes.entry(name.clone()).or_insert_with(|| (&Type::of_recorded(item)).into());
        }
        WireType::Object(Arc::new(attributes))
    }

    /// The type that a value of this type has by itself: what was left open is as it is found.
    pub(super) fn settled(&self, value: &Value) -> Type {
        match (self, value.kind()) {
            (WireType::Any, _) => Type::of_recorded(value),
            (WireType::AnyList(element), Kind::List(items)) => {
                Type::tuple(items.iter().map(|item| element.settled(item)))
            }
            (WireType::AnyMap(element), Kind::Map(entries) | Kind::Object(entries)) => {
                Type::object(entries.iter().map(|(key, item)| (key.clone(), element.settled(item))))
            }
            (WireType::AnyList(_) | WireType::AnyMap(_), _) => Type::Any,
            (WireType::Object(attributes), _) => {
                let entries = value.as_entries();
                Type::object(attributes.iter().map(|(name, ty)| {
                    let item = entries.and_then(|entries| entries.get(name)).cloned();
                    (name.clone(), ty.settled(&item.unwrap_or_default()))
                }))
            }
            _ => self.as_type(),
        }
    }

    /// The type in the language, any where it is left open.
    pub(super) fn as_type(&self) -> Type {
        match self {
            WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_) => Type::Any,
            WireType::Bool => Type::Bool,
            WireType::Number => Type::Number,
            WireType::String => Type::String,
            WireType::List(element) => Type::list(element.as_type()),
            WireType::Set(element) => Type::set(element.as_type()),
            WireType::Map(element) => Type::map(element.as_type()),
            WireType::Object(attributes) => {
                Type::object(attributes.iter().map(|(name, ty)| (name.clone(), ty.as_type())))
            }
            WireType::Tuple(elements) => Type::tuple(elements.iter().map(WireType::as_type)),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_) => "a value with its type",
            WireType::Bool => "a bool",
            WireType::Number => "a number",
            WireType::String => "a string",
            WireType::List(_) => "a list",
            WireType::Set(_) => "a set",
            WireType::Map(_) => "a map",
            WireType::Object(_) => "an object",
            WireType::Tuple(_) => "a list of fixed length",
        }
    }
}

impl AsRef<WireType> for WireType {
    fn as_ref(&self) -> &WireType {
        self
    }
}

impl From<&Type> for WireType {
    fn from(ty: &Type) -> Self {
        let shared = |element: &Arc<Type>| Arc::new(WireType::from(&**element));
        match ty {
            Type::Any => WireType::Any,
            Type::Bool => WireType::Bool,
            Type::Number => WireType::Number,
            Type::String => WireType::String,
            Type::List(element) => WireType::List(shared(element)),
            Type::Set(element) => WireType::Set(shared(element)),
            Type::Map(element) => WireType::Map(shared(element)),
            Type::Object(object) => {
                let attributes = object.attributes.iter().map(|(name, ty)| (name.clone(), ty.into()));
                WireType::Object(Arc::new(attributes.collect()))
            }
            Type::Tuple(elements) => WireType::Tuple(elements.iter().map(WireType::from).collect()),
        }
    }
}
