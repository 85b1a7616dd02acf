//! Whether two values are equal, as the language's `==` sees it: values of different types differ, and what is unknown
//! leaves the answer open unless something else settles it.

use trueup_core::{Entries, Kind, Type, Value};

/// `None` while it is open.
pub(crate) fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left.kind(), right.kind()) {
        (Kind::Unknown(ty), other) | (other, Kind::Unknown(ty)) => {
            if cannot_be(ty, other) {
                Some(false)
            } else {
                None
            }
        }
        (Kind::Null, Kind::Null) => Some(true),
        (Kind::Bool(left), Kind::Bool(right)) => Some(left == right),
        (Kind::Number(left), Kind::Number(right)) => Some(left == right),
        (Kind::String(left), Kind::String(right)) => Some(left == right),
        (Kind::List(left), Kind::List(right)) => {
            if left.len() == right.len() {
                all_equal(left.iter().zip(right.iter()))
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
        return None;
    }
    if left.len() == right.len() { all_equal(left.iter().zip(right)) } else { Some(false) }
}

/// Whether a value of this type can never be of that kind. Null is of every type.
fn cannot_be(ty: &Type, other: &Kind) -> bool {
    let other_is = match other {
        Kind::Bool(_) => "bool",
        Kind::Number(_) => "number",
        Kind::String(_) => "string",
        Kind::List(_) => "list",
        Kind::Set(_) => "set",
        Kind::Map(_) => "map",
        Kind::Object(_) => "object",
        Kind::Unknown(other) => name(other),
        Kind::Null => "",
    };
    let own = name(ty);
    !own.is_empty() && !other_is.is_empty() && own != other_is
}

fn name(ty: &Type) -> &'static str {
    match ty {
        Type::Any => "",
        Type::Bool => "bool",
        Type::Number => "number",
        Type::String => "string",
        Type::List(_) | Type::Tuple(_) => "list",
        Type::Set(_) => "set",
        Type::Map(_) => "map",
        Type::Object(_) => "object",
    }
}
