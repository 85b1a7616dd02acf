//! What messages may say of values: nothing of a secret, neither its text nor its keys, which its type names.

use trueup_core::{Kind, Marks, Type, Value};

use super::Evaluator;

impl Evaluator<'_> {
    /// Whether a message may quote a value, or what was computed from it.
    pub(super) fn may_quote(&self, value: &Value) -> bool {
        self.ambient == Marks::NONE && !value.contains_secret()
    }

    /// What a value is, as far as a message may say.
    pub(super) fn described(&self, value: &Value) -> String {
        match value.kind() {
            Kind::Unknown(ty) if self.may_quote(value) => format!("a value of type {ty}"),
            kind => kind.name().to_owned(),
        }
    }

    /// The type of a value, as far as a message may say.
    pub(super) fn described_type(&self, value: &Value) -> String {
        match value.kind() {
            _ if !self.may_quote(value) => value.kind_name().to_owned(),
            Kind::Unknown(ty) => ty.to_string(),
            _ => Type::of(value).to_string(),
        }
    }

    /// Does something with the elements of a collection, which bear its marks no longer.
    pub(super) fn inside<T>(&mut self, collection: Marks, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.ambient;
        self.ambient |= collection;
        let done = work(self);
        self.ambient = around;
        done
    }
}

/// The marks of a collection that decide which elements it has. Of a set, those of its elements: two that are equal are one.
pub(super) fn collection_marks(collection: &Value) -> Marks {
    match collection.kind() {
        Kind::Set(_) => collection.all_marks(),
        _ => collection.marks(),
    }
}
