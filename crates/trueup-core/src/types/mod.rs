//! Types of values, the same as in Terraform's language, so that its providers and users feel at home.
//!
//! Integers, ranges, patterns and the like are not types but constraints of a schema.

mod convert;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

pub(crate) use convert::may_become;
pub use convert::{Mismatch, convert};

use crate::path::Step;
use crate::text::{Quoted, is_identifier};
use crate::value::{Kind, Value};

/// The type of a value. A clone shares the parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Any type; settled by the value.
    Any,
    /// `true` or `false`.
    Bool,
    /// A decimal number.
    Number,
    /// Text.
    String,
    /// Values of one type in order.
    List(Arc<Type>),
    /// Values of one type without order.
    Set(Arc<Type>),
    /// Values of one type under free keys.
    Map(Arc<Type>),
    /// Values under fixed names.
    Object(Arc<ObjectType>),
    /// As many values as types, in order.
    Tuple(Arc<Vec<Type>>),
}

/// The attributes of an object type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectType {
    /// Each attribute's type.
    pub attributes: BTreeMap<SmolStr, Type>,
    /// The attributes that may be left out.
    pub optional: BTreeSet<SmolStr>,
}

impl Type {
    /// A list of this element type.
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// A set of this element type.
    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }

    /// A map of this element type.
    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }

    /// An object with these attributes, all required.
    pub fn object<K: Into<SmolStr>>(attributes: impl IntoIterator<Item = (K, Type)>) -> Type {
        let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect();
        Type::Object(Arc::new(ObjectType { attributes, optional: BTreeSet::new() }))
    }

    /// A tuple of these types.
    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(Arc::new(elements.into_iter().collect()))
    }

    /// The type of a value as it stands. What a value does not show, such as the elements of an empty list, is any type.
    pub fn of(value: &Value) -> Type {
        match value.kind() {
            Kind::Null => Type::Any,
            Kind::Bool(_) => Type::Bool,
            Kind::Number(_) => Type::Number,
            Kind::String(_) => Type::String,
            Kind::List(items) if value.is_tuple() => Type::tuple(items.iter().map(Type::of)),
            Kind::List(items) => Type::list(common(items.iter())),
            Kind::Set(items) => Type::set(common(items.iter())),
            Kind::Map(entries) => Type::map(common(entries.iter().map(|(_, value)| value))),
            Kind::Object(entries) => {
                Type::object(entries.iter().map(|(key, value)| (key.clone(), Type::of(value))))
            }
            Kind::Unknown(ty) => ty.clone(),
        }
    }

    /// The type of a value as records keep it: they do not tell lists from tuples, so that all of them are tuples.
    pub fn of_recorded(value: &Value) -> Type {
        Type::of(&value.with_tuples())
    }

    /// The type one step inside, or `None` if values of this type have no such part.
    pub fn at(&self, step: &Step) -> Option<Type> {
        match (self, step) {
            (Type::Any, _) => Some(Type::Any),
            (Type::List(element), Step::Index(_) | Step::Any)
            | (Type::Set(element), Step::Any)
            | (Type::Map(element), Step::Key(_) | Step::Any) => Some((**element).clone()),
            (Type::Object(object), Step::Key(name)) => object.attributes.get(name).cloned(),
            (Type::Tuple(elements), Step::Index(at)) => elements.get(usize::try_from(*at).ok()?).cloned(),
            _ => None,
        }
    }

    /// Reads the notation of the plugin protocol: `"string"`, `["list", T]`, `["object", {…}, [optional]]` …
    pub fn from_json_tree(tree: &Json) -> Result<Type, String> {
        // It may name the keys of a secret.
        read_type(tree, 0).ok_or_else(|| "this is not a type".to_owned())
    }

    fn to_json_tree(&self) -> Json {
        match self {
            Type::Any => json!("dynamic"),
            Type::Bool => json!("bool"),
            Type::Number => json!("number"),
            Type::String => json!("string"),
            Type::List(element) => json!(["list", element.to_json_tree()]),
            Type::Set(element) => json!(["set", element.to_json_tree()]),
            Type::Map(element) => json!(["map", element.to_json_tree()]),
            Type::Tuple(elements) => {
                json!(["tuple", elements.iter().map(Type::to_json_tree).collect::<Vec<_>>()])
            }
            Type::Object(object) => {
                let attributes = object.attributes.iter();
                let attributes: serde_json::Map<_, _> =
                    attributes.map(|(name, ty)| (name.to_string(), ty.to_json_tree())).collect();
                if object.optional.is_empty() {
                    json!(["object", attributes])
                } else {
                    json!(["object", attributes, object.optional])
                }
            }
        }
    }
}

/// The one type of several values, or `Any` if they differ.
fn common<'a>(values: impl Iterator<Item = &'a Value>) -> Type {
    let mut types = values.filter(|value| !value.is_null()).map(Type::of);
    let Some(first) = types.next() else { return Type::Any };
    types.try_fold(first, |found, next| joined(&found, &next)).unwrap_or(Type::Any)
}

/// The type of elements of one collection, of which each shows a part.
fn joined(left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Any, other) | (other, Type::Any) => Some(other.clone()),
        _ if left == right => Some(left.clone()),
        (Type::List(left), Type::List(right)) => Some(Type::list(joined(left, right)?)),
        (Type::Set(left), Type::Set(right)) => Some(Type::set(joined(left, right)?)),
        (Type::Map(left), Type::Map(right)) => Some(Type::map(joined(left, right)?)),
        (Type::Tuple(left), Type::Tuple(right)) if left.len() == right.len() => {
            let elements = left.iter().zip(right.iter()).map(|(left, right)| joined(left, right));
            Some(Type::Tuple(Arc::new(elements.collect::<Option<_>>()?)))
        }
        (Type::Object(left), Type::Object(right)) if left.attributes.keys().eq(right.attributes.keys()) => {
            let attributes = left.attributes.iter().zip(right.attributes.values());
            let attributes =
                attributes.map(|((name, left), right)| Some((name.clone(), joined(left, right)?)));
            Some(Type::object(attributes.collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}

fn read_type(tree: &Json, depth: usize) -> Option<Type> {
    if depth > Value::DEPTH_MAX {
        return None;
    }
    let inner = |tree| read_type(tree, depth + 1);
    match tree {
        Json::String(name) => match name.as_str() {
            "dynamic" => Some(Type::Any),
            "bool" => Some(Type::Bool),
            "number" => Some(Type::Number),
            "string" => Some(Type::String),
            _ => None,
        },
        Json::Array(parts) => match (parts.first()?.as_str()?, &parts[1..]) {
            ("list", [element]) => Some(Type::list(inner(element)?)),
            ("set", [element]) => Some(Type::set(inner(element)?)),
            ("map", [element]) => Some(Type::map(inner(element)?)),
            ("tuple", [Json::Array(elements)]) => {
                Some(Type::Tuple(Arc::new(elements.iter().map(inner).collect::<Option<_>>()?)))
            }
            ("object", [Json::Object(attributes), rest @ ..]) => {
                let attributes = attributes.iter();
                let attributes =
                    attributes.map(|(name, ty)| Some((name.into(), inner(ty)?))).collect::<Option<_>>()?;
                let optional = match rest {
                    [] => BTreeSet::new(),
                    [optional] => BTreeSet::deserialize(optional).ok()?,
                    _ => return None,
                };
                Some(Type::Object(Arc::new(ObjectType { attributes, optional })))
            }
            _ => None,
        },
        _ => None,
    }
}

impl fmt::Display for Type {
    /// The notation of the stack language: `list(string)`, `object({ a = optional(number) })`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any => f.write_str("any"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Set(element) => write!(f, "set({element})"),
            Type::Map(element) => write!(f, "map({element})"),
            Type::Object(object) => write!(f, "object({object})"),
            Type::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, element) in elements.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}{element}")?;
                }
                f.write_str("])")
            }
        }
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.attributes.is_empty() {
            return f.write_str("{}");
        }
        for (at, (name, ty)) in self.attributes.iter().enumerate() {
            f.write_str(if at == 0 { "{ " } else { ", " })?;
            if is_identifier(name) {
                f.write_str(name)?;
            } else {
                write!(f, "{}", Quoted(name))?;
            }
            if self.optional.contains(name) {
                write!(f, " = optional({ty})")?;
            } else {
                write!(f, " = {ty}")?;
            }
        }
        f.write_str(" }")
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json_tree().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Type::from_json_tree(&Json::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
