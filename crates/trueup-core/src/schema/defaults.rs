//! Defaults: what stands in where the program says nothing.
//!
//! Applied apart from checking, because records keep inputs both as written and as defaulted (PLAN-9).

use super::{Block, Nesting, Shape};
use crate::value::{Kind, Value};

impl Block {
    /// A checked value with the defaults filled in, however deeply nested. Unknown parts stay as they are.
    pub fn with_defaults(&self, value: &Value) -> Value {
        let Some(given) = value.as_entries() else { return value.clone() };
        let mut entries: Vec<_> = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, attribute) in &self.attributes {
            let current = given.get(name).filter(|value| !value.is_null());
            let filled = match (current, &attribute.shape, &attribute.default) {
                (None, _, Some(default)) => Some(default.clone().into_secret_if(attribute.secret)),
                (Some(value), Shape::Nested(nesting, block), _) => Some(nested(value, *nesting, block)),
                _ => None,
            };
            entries.extend(filled.map(|value| (name.clone(), value)));
        }
        for (name, block) in &self.blocks {
            let filled = match given.get(name).filter(|value| !value.is_null()) {
                Some(value) => Some(nested(value, block.nesting, &block.block)),
                None if block.nesting == Nesting::Group => {
                    Some(block.block.with_defaults(&Value::object::<&str>([])))
                }
                None => None,
            };
            entries.extend(filled.map(|value| (name.clone(), value)));
        }
        value.with_kind(Value::object(entries).kind().clone())
    }
}

/// Fills in the defaults of each instance of a nested structure.
fn nested(value: &Value, nesting: Nesting, block: &Block) -> Value {
    let items = |items: &[Value]| items.iter().map(|item| block.with_defaults(item)).collect::<Vec<_>>();
    let filled = match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, Kind::Object(_) | Kind::Map(_)) => {
            return block.with_defaults(value);
        }
        (_, Kind::List(given)) => Value::list(items(given)),
        (_, Kind::Set(given)) => Value::set(items(given)),
        (_, Kind::Map(entries) | Kind::Object(entries)) => {
            Value::map(entries.iter().map(|(key, item)| (key.clone(), block.with_defaults(item))))
        }
        (_, Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_)) => {
            return value.clone();
        }
    };
    value.with_kind(filled.kind().clone())
}
