//! The state that is proposed to the provider: what the program wrote, and where it wrote nothing and the provider
//! decides, what there was before.
//!
//! Elements of lists are paired with earlier ones by their place, those of maps by their key, and those of sets with one
//! that could have come from what is written.

use trueup_core::schema::{Attribute, Block, Presence, Shape};
use trueup_core::{Entries, Kind, Value};

use super::{NULL, entry, fits_shape, is_computed};

/// The state to propose. `prior` is null for an object that is to be created; both are complete.
pub(crate) fn proposed(block: &Block, prior: &Value, config: &Value) -> Value {
    if config.as_entries().is_none() {
        return config.clone();
    }
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        (name.clone(), proposed_attribute(attribute, entry(prior, name), entry(config, name)))
    });
    let blocks = block.blocks.iter().map(|(name, nested)| {
        (name.clone(), proposed_shape(&nested.shape(), entry(prior, name), entry(config, name)))
    });
    Value::object(attributes.chain(blocks).collect::<Vec<_>>())
}

fn proposed_attribute(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if is_computed(attribute) && config.is_null() {
        return if was_written(attribute, prior) { Value::NULL } else { prior.clone() };
    }
    proposed_shape(&attribute.shape, prior, config)
}

fn proposed_shape(shape: &Shape, prior: &Value, config: &Value) -> Value {
    match (shape, config.kind()) {
        (Shape::Object(block), Kind::Map(_) | Kind::Object(_)) => proposed(block, prior, config),
        (Shape::List(element), Kind::List(items)) if is_structure(element) => {
            let priors = prior.as_items().unwrap_or_default();
            Value::list(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| proposed_shape(element, priors.get(at).unwrap_or(&NULL), item)),
            )
        }
        (Shape::Set(element), Kind::Set(items)) if is_structure(element) => {
            proposed_set(element, prior.as_items().unwrap_or_default(), items)
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) if is_structure(element) => {
            Value::map(proposed_entries(element, prior, entries))
        }
        _ => config.clone(),
    }
}

fn proposed_entries(element: &Shape, prior: &Value, entries: &Entries) -> Vec<(smol_str::SmolStr, Value)> {
    entries
        .iter()
        .map(|(key, item)| (key.clone(), proposed_shape(element, entry(prior, key), item)))
        .collect()
}

fn proposed_set(element: &Shape, priors: &[Value], items: &[Value]) -> Value {
    let mut left: Vec<&Value> = priors.iter().collect();
    Value::set(items.iter().map(|item| {
        let at = left.iter().position(|prior| !item.is_unknown() && fits_shape(element, item, prior));
        let prior = at.map_or(&NULL, |at| left.remove(at));
        proposed_shape(element, prior, item)
    }))
}

fn is_structure(shape: &Shape) -> bool {
    !matches!(shape, Shape::Plain(_))
}

/// Whether an optional structure holds something that only a program can have written, so that its absence now means
/// that it was taken out.
fn was_written(attribute: &Attribute, prior: &Value) -> bool {
    attribute.presence == Presence::OptionalComputed
        && is_structure(&attribute.shape)
        && holds_written(&attribute.shape, prior)
}

fn holds_written(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::Plain(_) => false,
        Shape::Object(block) => block.attributes.iter().any(|(name, attribute)| {
            let item = entry(value, name);
            (!is_computed(attribute) && !item.is_null()) || holds_written(&attribute.shape, item)
        }),
        Shape::List(element) | Shape::Set(element) | Shape::Map(element) => {
            value.children().any(|item| holds_written(element, item))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indexmap::IndexMap;
    use trueup_core::{Type, value};

    use super::*;

    fn structure() -> Arc<Block> {
        let attribute = |presence| Attribute::new(Shape::Plain(Type::String), presence);
        let attributes = IndexMap::from([
            ("key".into(), attribute(Presence::Required)),
            ("decided".into(), attribute(Presence::OptionalComputed)),
        ]);
        Arc::new(Block { attributes, ..Block::default() })
    }

    /// One attribute, of this shape and presence.
    #[track_caller]
    fn check(shape: Shape, presence: Presence, prior: Value, config: Value, expected: &str) {
        let attributes = IndexMap::from([("a".into(), Attribute::new(shape, presence))]);
        let block = Block { attributes, ..Block::default() };
        let of = |value| Value::object([("a", value)]);
        let proposed = proposed(&block, &of(prior), &of(config));
        assert_eq!(entry(&proposed, "a").to_string(), expected);
    }

    #[test]
    fn what_is_written_counts_and_what_is_not_stays_where_the_provider_decides() {
        let plain = || Shape::Plain(Type::String);
        check(plain(), Presence::Optional, value!("old"), value!("new"), r#""new""#);
        check(plain(), Presence::Optional, value!("old"), Value::NULL, "null");
        check(plain(), Presence::OptionalComputed, value!("old"), Value::NULL, r#""old""#);
        check(plain(), Presence::Computed, value!("old"), Value::NULL, r#""old""#);
        let unknown = Value::unknown(Type::String);
        check(plain(), Presence::OptionalComputed, value!("old"), unknown, "(unknown string)");
    }

    #[test]
    fn elements_find_their_earlier_selves() {
        let element = || Arc::new(Shape::Object(structure()));
        let old = |key: &str| value!({ key: key, decided: (format!("for {key}")) });
        let new = |key: &str| value!({ key: key, decided: null });
        // By place, whatever stands there.
        check(
            Shape::List(element()),
            Presence::Optional,
            Value::list([old("a"), old("b")]),
            Value::list([new("b"), new("c"), new("d")]),
            r#"[{ decided = "for a", key = "b" }, { decided = "for b", key = "c" }, { decided = null, key = "d" }]"#,
        );
        check(
            Shape::Map(element()),
            Presence::Optional,
            Value::map([("x", old("a"))]),
            Value::map([("x", new("b")), ("y", new("a"))]),
            r#"map{ x = { decided = "for a", key = "b" }, y = { decided = null, key = "a" } }"#,
        );
        // By what is written of them.
        check(
            Shape::Set(element()),
            Presence::Optional,
            Value::set([old("a"), old("b")]),
            Value::set([new("b"), new("c")]),
            r#"set[{ decided = "for b", key = "b" }, { decided = null, key = "c" }]"#,
        );
    }

    /// A structure that only a program can have written is gone when the program no longer has it.
    #[test]
    fn what_was_written_and_is_not_any_more_is_taken_out() {
        let shape = || Shape::Object(structure());
        check(shape(), Presence::OptionalComputed, value!({ key: "a", decided: "d" }), Value::NULL, "null");
        let decided = value!({ key: null, decided: "d" });
        check(shape(), Presence::OptionalComputed, decided, Value::NULL, r#"{ decided = "d", key = null }"#);
    }
}
