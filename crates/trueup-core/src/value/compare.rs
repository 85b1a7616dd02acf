//! Strict and canonical comparison.
//!
//! Canonical comparison (PLAN-6) skips null entries, so absent equals null; takes a map and an object of the same
//! contents for the same; and ignores secret marks. Numbers have one representation, so integers equal floats of the
//! same size by construction. The strict order refines the canonical one: it looks at the rest only where the
//! canonical order sees no difference. That makes it safe to sort sets by it and compare them canonically.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{Entries, Kind, Value};

impl Value {
    /// Whether two values mean the same (PLAN-6).
    pub fn same(&self, other: &Value) -> bool {
        self.canonical_cmp(other).is_eq()
    }

    /// The canonical order, in which values that mean the same are equal.
    pub fn canonical_cmp(&self, other: &Value) -> Ordering {
        match (self.kind(), other.kind()) {
            (Kind::Bool(left), Kind::Bool(right)) => left.cmp(right),
            (Kind::Number(left), Kind::Number(right)) => left.cmp(right),
            (Kind::String(left), Kind::String(right)) => left.cmp(right),
            (Kind::List(left), Kind::List(right)) => {
                compare_by(left.iter(), right.iter(), |left, right| left.canonical_cmp(right))
            }
            (Kind::Set(left), Kind::Set(right)) => {
                compare_by(distinct(left), distinct(right), |left, right| left.canonical_cmp(right))
            }
            (Kind::Map(left) | Kind::Object(left), Kind::Map(right) | Kind::Object(right)) => {
                compare_by(set_entries(left), set_entries(right), |left, right| {
                    left.0.cmp(right.0).then_with(|| left.1.canonical_cmp(right.1))
                })
            }
            (Kind::Unknown(left), Kind::Unknown(right)) => left.cmp(right),
            (left, right) => rank(left).cmp(&rank(right)),
        }
    }

    /// Compares everything but origin, for values between which the canonical order sees no difference.
    fn strict_cmp(&self, other: &Value) -> Ordering {
        let contents = match (self.kind(), other.kind()) {
            (Kind::List(left), Kind::List(right)) | (Kind::Set(left), Kind::Set(right)) => left.cmp(right),
            (Kind::Map(left), Kind::Map(right)) | (Kind::Object(left), Kind::Object(right)) => {
                left.as_slice().cmp(right.as_slice())
            }
            (Kind::Map(_), Kind::Object(_)) => Ordering::Less,
            (Kind::Object(_), Kind::Map(_)) => Ordering::Greater,
            // Plain values that are canonically equal differ in marks at the most.
            _ => Ordering::Equal,
        };
        contents.then_with(|| self.marks.cmp(&other.marks))
    }
}

/// Where each kind stands in the order; a map and an object stand together.
fn rank(kind: &Kind) -> u8 {
    match kind {
        Kind::Null => 0,
        Kind::Bool(_) => 1,
        Kind::Number(_) => 2,
        Kind::String(_) => 3,
        Kind::List(_) => 4,
        Kind::Set(_) => 5,
        Kind::Map(_) | Kind::Object(_) => 6,
        Kind::Unknown(_) => 7,
    }
}

fn compare_by<T>(
    mut left: impl Iterator<Item = T>,
    mut right: impl Iterator<Item = T>,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) => match compare(&left, &right) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

/// A sorted set without the elements that mean the same as the one before (unknown ones all count).
pub(super) fn distinct(items: &[Value]) -> impl Iterator<Item = &Value> {
    items.iter().enumerate().filter_map(|(at, item)| {
        let repeats = at > 0 && items[at - 1].same(item) && item.is_wholly_known();
        (!repeats).then_some(item)
    })
}

fn set_entries(entries: &Entries) -> impl Iterator<Item = (&str, &Value)> {
    entries.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.as_str(), value))
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.marks == other.marks && self.kind() == other.kind()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.marks.hash(state);
        self.kind().hash(state);
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.canonical_cmp(other).then_with(|| self.strict_cmp(other))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
