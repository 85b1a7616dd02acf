//! Reading and replacing a position by its path.

use std::sync::Arc;

use super::{Entries, Kind, Value};
use crate::path::{Path, Step};

impl Value {
    /// The value at a path, or `None` where there is none. What lies inside a secret is secret, inside an ephemeral value
    /// ephemeral, inside an unknown value unknown. `[*]` reaches no single position, so it finds nothing.
    pub fn at(&self, path: &Path) -> Option<Value> {
        let mut current = self.clone();
        for step in path.steps() {
            let next = match (current.kind(), step) {
                (Kind::List(items), Step::Index(at)) => items.get(usize::try_from(*at).ok()?)?.clone(),
                (Kind::Map(entries) | Kind::Object(entries), Step::Key(key)) => entries.get(key)?.clone(),
                (Kind::Unknown(ty), step) => Value::unknown(ty.at(step)?),
                _ => return None,
            };
            current = next.with_marks(current.marks);
        }
        Some(current)
    }

    /// The entry under a key of a map or object, null counting as none.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_entries()?.get(key).filter(|value| !value.is_null())
    }

    /// The same map or object with one entry set.
    #[must_use]
    pub fn with_entry(&self, key: &str, value: Value) -> Value {
        let set = |entries: &Entries| {
            let kept = entries.iter().filter(|(own, _)| *own != key);
            let kept = kept.map(|(own, value)| (own.clone(), value.clone()));
            Entries::from_pairs(kept.chain([(key.into(), value)]))
        };
        match self.kind() {
            Kind::Map(entries) => self.with_kind(Kind::Map(set(entries))),
            Kind::Object(entries) => self.with_kind(Kind::Object(set(entries))),
            _ => self.clone(),
        }
    }

    /// Whether two values hold the very same storage, so that one is a clone of the other and not a copy.
    pub fn shares_storage_with(&self, other: &Value) -> bool {
        match (self.kind(), other.kind()) {
            (Kind::String(left), Kind::String(right)) => std::ptr::eq(left.as_str(), right.as_str()),
            (Kind::List(left), Kind::List(right)) | (Kind::Set(left), Kind::Set(right)) => {
                Arc::ptr_eq(left, right)
            }
            (Kind::Map(left), Kind::Map(right)) | (Kind::Object(left), Kind::Object(right)) => {
                left.shares_storage_with(right)
            }
            _ => false,
        }
    }
}
