//! Maps, and the keys they may have.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::steps;
use super::value::{Value, write_quoted};

/// A map: entries sorted by key, so that nothing depends on chance.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Map(Arc<[(Key, Value)]>);

/// A key. `1` and `1u` are the same key, as they are equal.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each holds what the variant of `Value` of the same name does")]
pub enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(SmolStr),
}

impl Key {
    /// The value as a key.
    pub(super) fn of(value: &Value) -> Option<Key> {
        match value {
            Value::Bool(value) => Some(Key::Bool(*value)),
            Value::Int(value) => Some(Key::Int(*value)),
            Value::Uint(value) => Some(Key::Uint(*value)),
            Value::String(text) => Some(Key::String(text.clone())),
            _ => None,
        }
    }

    /// The key as a value.
    pub fn to_value(&self) -> Value {
        match self {
            Key::Bool(value) => Value::Bool(*value),
            Key::Int(value) => Value::Int(*value),
            Key::Uint(value) => Value::Uint(*value),
            Key::String(text) => Value::String(text.clone()),
        }
    }

    /// The cost of comparing the key with another.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Key::String(text) => steps::bytes(text.len()),
            Key::Bool(_) | Key::Int(_) | Key::Uint(_) => 1,
        }
    }

    /// Truth values before numbers before texts.
    fn rank(&self) -> u8 {
        match self {
            Key::Bool(_) => 0,
            Key::Int(_) | Key::Uint(_) => 1,
            Key::String(_) => 2,
        }
    }

    fn number(&self) -> i128 {
        match self {
            Key::Int(value) => i128::from(*value),
            Key::Uint(value) => i128::from(*value),
            Key::Bool(_) | Key::String(_) => 0,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        match (self, other) {
            (Key::Bool(one), Key::Bool(other)) => one.cmp(other),
            (Key::String(one), Key::String(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()).then_with(|| self.number().cmp(&other.number())),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(value) => write!(f, "{value}"),
            Key::Int(value) => write!(f, "{value}"),
            Key::Uint(value) => write!(f, "{value}u"),
            Key::String(text) => write_quoted(f, text),
        }
    }
}

impl Map {
    /// A map of these entries, or a key that is there twice.
    pub fn new(mut entries: Vec<(Key, Value)>) -> Result<Map, Key> {
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[1].0.clone()),
            None => Ok(Map(entries.into())),
        }
    }

    /// The value under a text.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.find(|key| match key {
            Key::String(text) => text.as_str().cmp(name),
            _ => Ordering::Less,
        })
    }

    /// The value under the key that `value` is, or amounts to.
    pub(super) fn get(&self, value: &Value) -> Option<&Value> {
        match value {
            Value::String(name) => self.field(name),
            Value::Double(double) => self.find_number(*double),
            _ => Key::of(value).and_then(|wanted| self.find(|key| key.cmp(&wanted))),
        }
    }

    fn find_number(&self, double: f64) -> Option<&Value> {
        // The cast saturates beyond all keys, and 2^64 is beyond them too.
        let whole = double as i128;
        let key = u64::try_from(whole).map(Key::Uint).or_else(|_| i64::try_from(whole).map(Key::Int)).ok()?;
        if double.fract() != 0.0 {
            return None;
        }
        self.find(|candidate| candidate.cmp(&key))
    }

    fn find(&self, compare: impl Fn(&Key) -> Ordering) -> Option<&Value> {
        let at = self.0.binary_search_by(|(key, _)| compare(key)).ok()?;
        Some(&self.0[at].1)
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (key, value)) in self.0.iter().enumerate() {
            write!(f, "{}{key}: {value}", if at == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}
