//! Values with every attribute and block that their schema has.

use smol_str::SmolStr;
use trueup_core::schema::{Block, NestedBlock, Nesting, Shape};
use trueup_core::{Kind, Value};

pub(super) fn complete(block: &Block, value: &Value) -> Value {
    let (Kind::Map(entries) | Kind::Object(entries)) = value.kind() else { return value.clone() };
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        let item = entries.get(name).map_or(Value::NULL, |item| complete_shape(&attribute.shape, item));
        (name.clone(), item)
    });
    let blocks =
        block.blocks.iter().map(|(name, nested)| (name.clone(), complete_nested(nested, entries.get(name))));
    Value::object(attributes.chain(blocks).collect::<Vec<(SmolStr, Value)>>())
        .into_secret_if(value.is_secret())
}

/// Blocks that nobody wrote: none of them, which is not the same as null.
fn complete_nested(nested: &NestedBlock, value: Option<&Value>) -> Value {
    match (value.filter(|value| !value.is_null()), nested.nesting) {
        (Some(value), _) => complete_shape(&nested.shape(), value),
        (None, Nesting::Single) => Value::NULL,
        (None, Nesting::Group) => complete(&nested.block, &Value::object::<&str>([])),
        (None, Nesting::List) => Value::list([]),
        (None, Nesting::Set) => Value::set([]),
        (None, Nesting::Map) => Value::map::<&str>([]),
    }
}

fn complete_shape(shape: &Shape, value: &Value) -> Value {
    let completed = match (shape, value.kind()) {
        (Shape::Object(block), _) => return complete(block, value),
        (Shape::List(element), Kind::List(items)) => {
            Value::list(items.iter().map(|item| complete_shape(element, item)))
        }
        (Shape::Set(element), Kind::Set(items)) => {
            Value::set(items.iter().map(|item| complete_shape(element, item)))
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => Value::map(
            entries
                .iter()
                .map(|(key, item)| (key.clone(), complete_shape(element, item)))
                .collect::<Vec<_>>(),
        ),
        _ => return value.clone(),
    };
    completed.into_secret_if(value.is_secret())
}
