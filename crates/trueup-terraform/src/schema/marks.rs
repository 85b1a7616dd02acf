//! Which positions of a provider's answer are secret: those that its schema calls sensitive, and those at which the
//! program wrote a secret.

use smol_str::SmolStr;
use trueup_core::schema::{Block, Shape};
use trueup_core::{Entries, Kind, Value};

/// The value with the positions marked that the schema calls sensitive.
pub(super) fn of_schema(block: &Block, value: &Value) -> Value {
    if !block.any_attribute(|attribute| attribute.secret) {
        return value.clone();
    }
    let (Kind::Map(entries) | Kind::Object(entries)) = value.kind() else { return value.clone() };
    let marked = entries.iter().map(|(name, item)| {
        let item = match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attribute), _) => in_shape(&attribute.shape, item).into_secret_if(attribute.secret),
            (None, Some(nested)) => in_shape(&nested.shape(), item),
            (None, None) => item.clone(),
        };
        (name.clone(), item)
    });
    Value::object(marked.collect::<Vec<_>>()).into_secret_if(value.is_secret())
}

fn in_shape(shape: &Shape, value: &Value) -> Value {
    let marked = match (shape, value.kind()) {
        (Shape::Object(block), _) => return of_schema(block, value),
        (Shape::List(element), Kind::List(items)) => {
            Value::list(items.iter().map(|item| in_shape(element, item)))
        }
        (Shape::Set(element), Kind::Set(items)) => {
            Value::set(items.iter().map(|item| in_shape(element, item)))
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => {
            Value::map(each(entries, |_, item| in_shape(element, item)))
        }
        _ => return value.clone(),
    };
    marked.into_secret_if(value.is_secret())
}

/// The value with the positions marked that are secret in another. Elements of a set have no position, so one secret
/// makes the whole set one.
pub(super) fn of_value(source: &Value, value: &Value) -> Value {
    if !source.contains_secret() {
        return value.clone();
    }
    if source.is_secret() {
        return value.clone().into_secret();
    }
    let marked = match (source.kind(), value.kind()) {
        (Kind::List(sources), Kind::List(items)) => {
            Value::list(items.iter().enumerate().map(|(at, item)| match sources.get(at) {
                Some(source) => of_value(source, item),
                None => item.clone(),
            }))
        }
        (Kind::Map(sources) | Kind::Object(sources), Kind::Map(entries)) => {
            Value::map(each(entries, |key, item| from_entry(sources, key, item)))
        }
        (Kind::Map(sources) | Kind::Object(sources), Kind::Object(entries)) => {
            Value::object(each(entries, |key, item| from_entry(sources, key, item)))
        }
        _ => value.clone().into_secret(),
    };
    marked.into_secret_if(value.is_secret())
}

fn from_entry(sources: &Entries, key: &str, item: &Value) -> Value {
    sources.get(key).map_or_else(|| item.clone(), |source| of_value(source, item))
}

fn each(entries: &Entries, change: impl Fn(&str, &Value) -> Value) -> Vec<(SmolStr, Value)> {
    entries.iter().map(|(key, item)| (key.clone(), change(key, item))).collect()
}
