//! Rust collections as fields: vectors are lists, sets are sets, maps with string keys are maps.
//!
//! Of structures they make repeated nested structures, so that the constraints inside stay known.

// Hash collections are welcome in a user's structs: what becomes of them here is sorted.
#![allow(clippy::disallowed_types)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use super::{FieldError, FieldSchema, FieldType};
use crate::path::Step;
use crate::schema::{Constraint, Shape};
use crate::types::Type;
use crate::value::Value;

/// The schema of a collection whose elements are of type `T`.
fn collection<T: FieldType>(nested: fn(Arc<Shape>) -> Shape, plain: fn(Type) -> Type) -> FieldSchema {
    let element = T::field_schema();
    let shape = match element.shape {
        Shape::Plain(ty) => Shape::Plain(plain(ty)),
        structured => nested(Arc::new(structured)),
    };
    let not_null = (!element.optional).then_some(Constraint::NotNull);
    let constraints = not_null.into_iter().chain(element.constraints);
    let constraints = constraints.map(|constraint| Constraint::Each(Box::new(constraint))).collect();
    FieldSchema { shape, optional: false, constraints, secret: element.secret }
}

fn encode_items<'a, T: FieldType + 'a>(items: impl Iterator<Item = &'a T>) -> Result<Vec<Value>, FieldError> {
    let encode =
        |(at, item): (usize, &T)| item.encode().map_err(|error| error.inside(Step::Index(at as u64)));
    items.enumerate().map(encode).collect()
}

fn decode_items<T: FieldType, C: FromIterator<T>>(value: &Value, expected: &str) -> Result<C, FieldError> {
    let items = value.as_items().ok_or_else(|| FieldError::expected(expected, value))?;
    let decode =
        |(at, item)| T::decode(&marked(item, value)).map_err(|error| error.inside(Step::Index(at as u64)));
    items.iter().enumerate().map(decode).collect()
}

/// What lies inside a secret is secret.
fn marked(item: &Value, container: &Value) -> Value {
    item.clone().into_secret_if(container.is_secret())
}

impl<T: FieldType> FieldType for Vec<T> {
    fn field_schema() -> FieldSchema {
        collection::<T>(Shape::List, Type::list)
    }

    fn encode(&self) -> Result<Value, FieldError> {
        encode_items(self.iter()).map(Value::list)
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        decode_items(value, "a list")
    }
}

macro_rules! set {
    ($set:ty, $($bounds:tt)*) => {
        impl<$($bounds)*> FieldType for $set {
            fn field_schema() -> FieldSchema {
                collection::<T>(Shape::Set, Type::set)
            }

            fn encode(&self) -> Result<Value, FieldError> {
                encode_items(self.iter()).map(Value::set)
            }

            fn decode(value: &Value) -> Result<Self, FieldError> {
                decode_items(value, "a set")
            }
        }
    };
}
set!(BTreeSet<T>, T: FieldType + Ord);
set!(HashSet<T, S>, T: FieldType + Eq + Hash, S: BuildHasher + Default);

macro_rules! map {
    ($map:ty, $($bounds:tt)*) => {
        impl<$($bounds)*> FieldType for $map {
            fn field_schema() -> FieldSchema {
                collection::<T>(Shape::Map, Type::map)
            }

            fn encode(&self) -> Result<Value, FieldError> {
                let encode = |(key, item): (&String, &T)| {
                    let item = item.encode().map_err(|error| error.inside(Step::key(key)))?;
                    Ok((key.clone(), item))
                };
                Ok(Value::map(self.iter().map(encode).collect::<Result<Vec<_>, FieldError>>()?))
            }

            fn decode(value: &Value) -> Result<Self, FieldError> {
                let entries = value.as_entries().ok_or_else(|| FieldError::expected("a map", value))?;
                let decode = |(key, item): (&smol_str::SmolStr, &Value)| {
                    let item = T::decode(&marked(item, value)).map_err(|error| error.inside(Step::Key(key.clone())))?;
                    Ok((key.to_string(), item))
                };
                entries.iter().map(decode).collect()
            }
        }
    };
}
map!(BTreeMap<String, T>, T: FieldType);
map!(HashMap<String, T, S>, T: FieldType, S: BuildHasher + Default);

/// Tuples are lists of a fixed length, each element of its own type.
macro_rules! tuple {
    ($length:literal: $($element:ident $at:tt),*) => {
        impl<$($element: FieldType),*> FieldType for ($($element,)*) {
            fn field_schema() -> FieldSchema {
                let elements = [$($element::field_schema()),*];
                // A tuple has no schema of its parts: if one is secret, all are, and each part's type bounds it when
                // it is decoded.
                let secret = elements.iter().any(|element| {
                    element.secret || element.shape.any_attribute(|attribute| attribute.secret)
                });
                let ty = Type::tuple(elements.iter().map(|element| element.shape.implied_type()));
                FieldSchema { secret, ..FieldSchema::plain(ty) }
            }

            fn encode(&self) -> Result<Value, FieldError> {
                Ok(Value::list([$(self.$at.encode().map_err(|error| error.inside(Step::Index($at)))?),*]))
            }

            fn decode(value: &Value) -> Result<Self, FieldError> {
                let items = value.as_items().filter(|items| items.len() == $length);
                let items = items.ok_or_else(|| FieldError::expected(concat!("a list of ", $length), value))?;
                Ok(($($element::decode(&marked(&items[$at], value)).map_err(|error| error.inside(Step::Index($at)))?,)*))
            }
        }
    };
}
tuple!(2: A 0, B 1);
tuple!(3: A 0, B 1, C 2);
