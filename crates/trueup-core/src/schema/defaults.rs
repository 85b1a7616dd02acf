//! Defaults: what stands in where the program says nothing.
//!
//! Applied apart from checking, because records keep inputs both as written and as defaulted (PLAN-9).

use super::{Block, Nesting, Shape};
use crate::value::Value;

impl Block {
    /// A checked value with the defaults filled in, however deeply nested. Unknown parts stay as they are.
    pub fn with_defaults(&self, value: &Value) -> Value {
        let Some(given) = value.as_entries() else { return value.clone() };
        let mut entries: Vec<_> = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, attribute) in &self.attributes {
            let current = given.get(name).filter(|value| !value.is_null());
            let filled = match (current, &attribute.default) {
                (None, Some(default)) => Some(default.clone().into_secret_if(attribute.secret)),
                (Some(value), _) => Some(filled(&attribute.shape, value)),
                (None, None) => None,
            };
            entries.extend(filled.map(|value| (name.clone(), value)));
        }
        for (name, nested) in &self.blocks {
            let filled = match given.get(name).filter(|value| !value.is_null()) {
                Some(value) => Some(filled(&nested.shape(), value)),
                None if nested.nesting == Nesting::Group => {
                    Some(nested.block.with_defaults(&Value::object::<&str>([])))
                }
                None => None,
            };
            entries.extend(filled.map(|value| (name.clone(), value)));
        }
        let filled = value.with_kind(Value::object(entries).kind().clone());
        // Most values need no default: then they share their storage with what was written.
        if filled == *value { value.clone() } else { filled }
    }
}

/// Fills in the defaults of each structure inside a value.
fn filled(shape: &Shape, value: &Value) -> Value {
    shape.map_objects(value, &|block, value| block.with_defaults(value))
}
