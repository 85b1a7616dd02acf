//! What takes the place of optional attributes that are not given.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::{Kind, Value};

/// The defaults of a type, and of the types inside it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Defaults {
    /// What an attribute of this object is if it is absent or null.
    pub values: BTreeMap<SmolStr, Value>,
    /// The defaults within attributes of this object.
    pub attributes: BTreeMap<SmolStr, Defaults>,
    /// The defaults within each element of this collection.
    pub elements: Option<Box<Defaults>>,
    /// The defaults within elements of this tuple, by position.
    pub positions: BTreeMap<usize, Defaults>,
}

impl Defaults {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
            && self.attributes.is_empty()
            && self.elements.is_none()
            && self.positions.is_empty()
    }

    /// The value with its missing parts filled in. Null stays null, and unknown unknown.
    pub fn apply(&self, value: &Value) -> Value {
        if self.is_empty() {
            return value.clone();
        }
        let filled = match value.kind() {
            Kind::List(items) => {
                Value::list(items.iter().enumerate().map(|(at, item)| self.element(Some(at), item)))
            }
            Kind::Set(items) => Value::set(items.iter().map(|item| self.element(None, item))),
            Kind::Map(entries) | Kind::Object(entries) => {
                let mut filled: BTreeMap<SmolStr, Value> =
                    entries.iter().map(|(key, item)| (key.clone(), self.element(None, item))).collect();
                for (name, default) in &self.values {
                    if filled.get(name).is_none_or(Value::is_null) {
                        filled.insert(name.clone(), default.clone());
                    }
                }
                for (name, inner) in &self.attributes {
                    if let Some(item) = filled.get_mut(name) {
                        *item = inner.apply(item);
                    }
                }
                match value.kind() {
                    Kind::Map(_) => Value::map(filled),
                    _ => Value::object(filled),
                }
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => {
                return value.clone();
            }
        };
        let filled = filled.with_marks(value.marks());
        match value.origin() {
            Some(origin) => filled.with_origin(origin),
            None => filled,
        }
    }

    fn element(&self, at: Option<usize>, item: &Value) -> Value {
        let by_position = at.and_then(|at| self.positions.get(&at));
        match by_position.or(self.elements.as_deref()) {
            Some(inner) => inner.apply(item),
            None => item.clone(),
        }
    }
}
