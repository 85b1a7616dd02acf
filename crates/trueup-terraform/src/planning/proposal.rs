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
