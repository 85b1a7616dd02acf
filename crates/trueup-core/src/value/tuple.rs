//! Tuples: lists whose elements have types of their own.
//!
//! Only the language tells them from lists. Wherever values are kept, schemas say which is meant.

use super::{Entries, Kind, Value};

impl Value {
    /// Values in order, each of a type of its own: what the language calls a tuple.
    pub fn tuple(items: impl IntoIterator<Item = Value>) -> Self {
        Value { is_tuple: true, ..Value::list(items) }
    }

    /// The same list as a tuple if `is_tuple` holds; as a list of elements of one type otherwise.
    #[must_use]
    pub(crate) fn into_tuple_if(self, is_tuple: bool) -> Self {
        Value { is_tuple, ..self }
    }

    /// The same value in which every list is a tuple. Records do not tell the two apart, and where any type may stand, most
    /// lists are tuples.
    #[must_use]
    pub fn with_tuples(&self) -> Self {
        let items = |items: &[Value]| items.iter().map(Value::with_tuples).collect::<Vec<_>>();
        let entries = |entries: &Entries| {
            Entries::from_pairs(entries.iter().map(|(key, item)| (key.clone(), item.with_tuples())))
        };
        let kind = match self.kind() {
            Kind::List(inner) => Kind::List(items(inner).into()),
            Kind::Set(inner) => Kind::Set(items(inner).into()),
            Kind::Map(inner) => Kind::Map(entries(inner)),
            Kind::Object(inner) => Kind::Object(entries(inner)),
            _ => return self.clone(),
        };
        let is_list = matches!(kind, Kind::List(_));
        self.with_kind(kind).into_tuple_if(is_list)
    }

    /// True for a list whose elements have types of their own.
    pub fn is_tuple(&self) -> bool {
        self.is_tuple
    }
}
