//! Whether two values are equal, as the language's `==` sees it: values of different types differ, and what is unknown
//! leaves the answer open unless something else settles it.

use trueup_core::{Entries, Kind, Number, Refinement, Type, Value};

/// `None` while it is open.
pub(crate) fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left.kind(), right.kind()) {
        (Kind::Null, Kind::Null) => Some(true),
        (Kind::Null, _) => unequal_if(right.is_never_null()),
        (_, Kind::Null) => unequal_if(left.is_never_null()),
        // Either may turn out to be null, and null is of every type.
        (Kind::Unknown(_), Kind::Unknown(_)) => None,
        (Kind::Unknown(ty), _) => unequal_if(cannot_be(ty, left.refinement(), right)),
        (_, Kind::Unknown(ty)) => unequal_if(cannot_be(ty, right.refinement(), left)),
        (Kind::Bool(left), Kind::Bool(right)) => Some(left == right),
        (Kind::Number(left), Kind::Number(right)) => Some(left == right),
        (Kind::String(left), Kind::String(right)) => Some(left == right),
        (Kind::List(left_items), Kind::List(right_items)) => {
            if left_items.len() == right_items.len() && left.is_tuple() == right.is_tuple() {
                all_equal(left_items.iter().zip(right_items.iter()))
            } else {
                Some(false)
            }
        }
        (Kind::Set(left), Kind::Set(right)) => equal_sets(left, right),
        (Kind::Map(left), Kind::Map(right)) | (Kind::Object(left), Kind::Object(right)) => {
            equal_entries(left, right)
        }
        _ => Some(false),
    }
}

fn unequal_if(settled: bool) -> Option<bool> {
    settled.then_some(false)
}

/// One difference settles it; without one, an open position leaves all open.
fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut open = false;
    for (left, right) in pairs {
        match equal(left, right) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => open = true,
        }
    }
    if open { None } else { Some(true) }
}

fn equal_entries(left: &Entries, right: &Entries) -> Option<bool> {
    if left.len() != right.len() || left.keys().ne(right.keys()) {
        return Some(false);
    }
    all_equal(left.iter().zip(right.iter()).map(|(left, right)| (left.1, right.1)))
}

/// Sets are held in order without repetition, so known ones compare like lists.
fn equal_sets(left: &[Value], right: &[Value]) -> Option<bool> {
    if !left.iter().chain(right).all(Value::is_wholly_known) {
        // An empty one is never equal to one with elements, whatever they are.
        return unequal_if(left.is_empty() != right.is_empty());
    }
    if left.len() == right.len() { all_equal(left.iter().zip(right)) } else { Some(false) }
}

/// Whether an unknown value of this type can never be a value that is not null.
fn cannot_be(ty: &Type, known: Option<&Refinement>, other: &Value) -> bool {
    !may_be(ty, &Type::of(other)) || known.is_some_and(|known| !allows(known, other))
}

fn allows(known: &Refinement, other: &Value) -> bool {
    let length = match other.kind() {
        Kind::String(text) => return text.starts_with(known.prefix.as_str()),
        Kind::Number(number) => {
            return known.least.is_none_or(|least| *number >= Number::from(least))
                && known.most.is_none_or(|most| *number <= Number::from(most));
        }
        Kind::Map(entries) => entries.len(),
        Kind::List(items) => items.len(),
        Kind::Set(items) if items.iter().all(Value::is_wholly_known) => items.len(),
        _ => return true,
    };
    known.least.is_none_or(|least| length >= least) && known.most.is_none_or(|most| length <= most)
}

/// Whether two types may turn out to be the same.
fn may_be(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::List(left), Type::List(right))
        | (Type::Set(left), Type::Set(right))
        | (Type::Map(left), Type::Map(right)) => may_be(left, right),
        (Type::Tuple(left), Type::Tuple(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(left, right)| may_be(left, right))
        }
        (Type::Object(left), Type::Object(right)) => {
            left.attributes.keys().eq(right.attributes.keys())
                && left
                    .attributes
                    .values()
                    .zip(right.attributes.values())
                    .all(|(left, right)| may_be(left, right))
        }
        _ => left == right,
    }
}
