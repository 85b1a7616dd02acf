//! Secrets that were given up after a lost key (SECRET-4): in records they are unknown.
//!
//! A type decodes whole structs, so for a call an empty value stands in. It is never recorded: what comes back as it was
//! handed in stays unknown.

use trueup_core::schema::Block;
use trueup_core::{Kind, Step, Type, Value};

/// A recorded value that decodes, with empty values for what was given up.
pub(crate) fn with_stand_ins(block: &Block, recorded: &Value) -> Value {
    if recorded.is_wholly_known() { recorded.clone() } else { filled(recorded, &block.implied_type()) }
}

/// What an answer leaves: where it only repeats a stand-in, the value is as unknown as it was.
pub(crate) fn without_stand_ins(block: &Block, recorded: &Value, answered: Value) -> Value {
    if recorded.is_wholly_known() {
        return answered;
    }
    let filled = with_stand_ins(block, recorded);
    let forgotten = recorded.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
    forgotten.filter(|(_, value)| !value.is_wholly_known()).fold(answered, |answered, (name, value)| {
        let repeated = match (answered.get(name), filled.get(name)) {
            (Some(answered), Some(filled)) => answered.same(filled),
            (answered, filled) => answered.is_none() && filled.is_none(),
        };
        if repeated { answered.with_entry(name, value.clone()) } else { answered }
    })
}

fn filled(value: &Value, ty: &Type) -> Value {
    let part = |step: Step, part: &Value| filled(part, &ty.at(&step).unwrap_or(Type::Any));
    let filled = match value.kind() {
        Kind::Unknown(_) => empty(ty),
        Kind::List(items) => {
            let items = items.iter().enumerate();
            Value::list(items.map(|(at, item)| part(Step::Index(at as u64), item)))
        }
        Kind::Set(items) => Value::set(items.iter().map(|item| part(Step::Any, item))),
        Kind::Map(entries) => {
            Value::map(entries.iter().map(|(key, item)| (key.clone(), part(Step::key(key.clone()), item))))
        }
        Kind::Object(entries) => {
            Value::object(entries.iter().map(|(key, item)| (key.clone(), part(Step::key(key.clone()), item))))
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => value.clone(),
    };
    filled.into_secret_if(value.is_secret())
}

fn empty(ty: &Type) -> Value {
    match ty {
        Type::Any => Value::NULL,
        Type::Bool => false.into(),
        Type::Number => 0.into(),
        Type::String => "".into(),
        Type::List(_) => Value::list([]),
        Type::Set(_) => Value::set([]),
        Type::Map(_) => Value::map::<&str>([]),
        Type::Object(object) => {
            let required = object.attributes.iter().filter(|(name, _)| !object.optional.contains(*name));
            Value::object(required.map(|(name, ty)| (name.clone(), empty(ty))))
        }
        Type::Tuple(elements) => Value::list(elements.iter().map(empty)),
    }
}

#[cfg(test)]
mod tests {
    use trueup_core::schema::{Attribute, Presence, Shape};
    use trueup_core::value;

    use super::*;

    /// SECRET-4.
    #[test]
    fn a_stand_in_is_never_taken_for_what_was_given_up() {
        let output = |ty| Attribute::new(Shape::Plain(ty), Presence::Computed);
        let attributes = [("id", Type::String), ("key", Type::String), ("ports", Type::list(Type::Number))];
        let mut block = Block::default();
        block.attributes.extend(attributes.map(|(name, ty)| (name.into(), output(ty))));
        let gone = || Value::unknown(Type::Any).into_secret();
        let recorded = value!({ id: "a", key: (gone()), ports: [(gone()), 2] });
        let handed_in = with_stand_ins(&block, &recorded);
        let empty =
            value!({ id: "a", key: (value!("").into_secret()), ports: [(value!(0).into_secret()), 2] });
        assert_eq!(handed_in, empty);
        assert_eq!(without_stand_ins(&block, &recorded, handed_in), recorded);
        let told = value!({ id: "b", key: "found", ports: [1, 2] });
        assert_eq!(without_stand_ins(&block, &recorded, told.clone()), told);
    }
}
