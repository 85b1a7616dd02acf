//! The value of a body: attributes evaluated, blocks gathered as their schema nests them, dynamic ones multiplied.

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::schema::{Block as Schema, Nesting};
use trueup_core::{Kind, Marks, Origin, Type, Value};

use super::bodies::{Nested, nested};
use crate::declare::at;
use crate::syntax::{Block, Body, Item};
use crate::world::Frame;

/// The value of a body, as an object. Names that the schema does not have are left out: they were told.
pub(super) fn body_value(
    frame: &Frame<'_>,
    body: &Body,
    schema: &Schema,
    names: &[(SmolStr, Value)],
    origin: Origin,
) -> Value {
    let mut entries: Vec<(SmolStr, Value)> = Vec::with_capacity(body.items.len());
    let mut blocks: IndexMap<SmolStr, Gathered> = IndexMap::new();
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => {
                let name = &attribute.name.text;
                if !schema.attributes.contains_key(name) && !schema.blocks.contains_key(name) {
                    continue;
                }
                let value = frame.evaluate_with(&attribute.value, names);
                let value = match schema.blocks.get(name) {
                    // JSON writes one block as an object, several as a list.
                    Some(block) if body.json => listed(value, block.nesting),
                    _ => value,
                };
                entries.push((name.clone(), value));
            }
            Item::Block(block) if block.name.text == "dynamic" => {
                let Some(label) = block.labels.first() else { continue };
                let Some(nested) = nested(schema, &label.text) else { continue };
                let gathered = blocks.entry(label.text.clone()).or_default();
                gathered.multiply(frame, block, &nested, names);
            }
            Item::Block(block) => {
                let Some(nested) = nested(schema, &block.name.text) else { continue };
                let value = body_value(frame, &block.body, &nested.inner, names, block.header);
                let value = nested.element(value);
                let gathered = blocks.entry(block.name.text.clone()).or_default();
                gathered.add(block.labels.first().map(|label| label.text.clone()), value, block.header);
            }
        }
    }
    for (name, gathered) in blocks {
        let Some(nested) = nested(schema, &name) else { continue };
        let value = gathered.finish(frame, &name, &nested);
        entries.push((name, value));
    }
    Value::object(entries).with_origin(origin)
}

fn listed(value: Value, nesting: Nesting) -> Value {
    let one = matches!(value.kind(), Kind::Object(_) | Kind::Map(_));
    match nesting {
        Nesting::List | Nesting::Set if one => Value::list([value]),
        _ => value,
    }
}

/// The instances of one nested block.
#[derive(Default)]
struct Gathered {
    items: Vec<(Option<SmolStr>, Value, Origin)>,
    /// Whether more may come that are not known yet.
    unknown: bool,
    /// The marks of what decides how many there are and under which labels.
    marks: Marks,
}

impl Gathered {
    fn add(&mut self, label: Option<SmolStr>, value: Value, origin: Origin) {
        self.items.push((label, value, origin));
    }

    /// Adds the instances of a dynamic block.
    fn multiply(
        &mut self,
        frame: &Frame<'_>,
        block: &Block,
        nested: &Nested<'_>,
        names: &[(SmolStr, Value)],
    ) {
        let tell =
            |origin, summary: &str, hint: &str| frame.evaluation().tell(at(origin, summary).hint(hint));
        let (Some(for_each), Some(content)) =
            (block.body.attribute("for_each"), block.body.blocks_named("content").next())
        else {
            let hint = "write `dynamic \"name\" { for_each = …  content { … } }`";
            return tell(block.header, "a dynamic block needs `for_each` and `content`", hint);
        };
        for item in &block.body.items {
            if !matches!(item.name().text.as_str(), "for_each" | "iterator" | "labels" | "content") {
                let hint = "it has `for_each`, `iterator`, `labels` and `content`";
                tell(item.name().origin, "unknown word in a dynamic block", hint);
            }
        }
        let label = block.labels.first().map(|label| label.text.clone()).unwrap_or_default();
        let iterator = match block.body.attribute("iterator") {
            None => label,
            Some(iterator) => match iterator.value.as_keyword().or(iterator.value.as_literal_str()) {
                Some(name) => name.into(),
                None => {
                    return tell(iterator.value.origin, "`iterator` must be a name", "write `iterator = it`");
                }
            },
        };
        let collection = frame.evaluate_with(&for_each.value, names);
        let marks = collection.marks();
        let elements: Vec<(Value, Value)> = match collection.kind() {
            Kind::Unknown(_) => {
                self.unknown = true;
                return;
            }
            Kind::List(items) => {
                items.iter().enumerate().map(|(at, item)| (Value::from(at as u64), item.clone())).collect()
            }
            Kind::Set(items) => items.iter().map(|item| (item.clone(), item.clone())).collect(),
            Kind::Map(entries) | Kind::Object(entries) => {
                entries.iter().map(|(key, value)| (Value::string(key.clone()), value.clone())).collect()
            }
            _ => {
                let hint = "give it a list, a set or a map";
                return tell(for_each.value.origin, "`for_each` cannot go through this", hint);
            }
        };
        for (key, value) in elements {
            let each = Value::object([("key", key), ("value", value)]).with_marks(marks);
            let mut inner = names.to_vec();
            inner.push((iterator.clone(), each));
            let label = block.body.attribute("labels").and_then(|labels| {
                let labels = frame.evaluate_with(&labels.value, &inner);
                self.marks |= labels.all_marks();
                labels.as_items().and_then(|items| items.first()).and_then(|it| it.as_str().map(SmolStr::new))
            });
            let value = body_value(frame, &content.body, &nested.inner, &inner, block.header);
            self.add(label, nested.element(value), block.header);
        }
    }

    /// The instances as one value.
    fn finish(self, frame: &Frame<'_>, name: &str, nested: &Nested<'_>) -> Value {
        let Gathered { items, unknown, marks } = self;
        if unknown {
            return Value::unknown(match nested.nesting {
                // Of a list with unknown parts not even the length is known.
                Nesting::Single | Nesting::Group => Type::Any,
                _ => nested.shape.implied_type(),
            })
            .with_marks(marks);
        }
        if nested.is_plain && items.is_empty() {
            // An empty list would say that there must be none; a provider may keep what others have added.
            return Value::NULL.with_marks(marks);
        }
        let value = match nested.nesting {
            Nesting::Single | Nesting::Group => {
                if let Some((_, _, again)) = items.get(1) {
                    frame.evaluation().tell(at(*again, format!("`{name}` may stand only once")));
                }
                items.into_iter().next().map(|(_, value, _)| value).unwrap_or_default()
            }
            Nesting::List => Value::list(items.into_iter().map(|(_, value, _)| value)),
            Nesting::Set => Value::set(items.into_iter().map(|(_, value, _)| value)),
            Nesting::Map => {
                let mut entries: IndexMap<SmolStr, Value> = IndexMap::new();
                for (label, value, origin) in items {
                    match label {
                        None => {
                            let hint = format!("write `{name} \"key\" {{ … }}`");
                            frame.evaluation().tell(at(origin, format!("`{name}` needs a label")).hint(hint));
                        }
                        Some(label) if entries.contains_key(&label) => {
                            let label = if marks == Marks::NONE { &label } else { "(secret)" };
                            frame.evaluation().tell(at(origin, format!("`{name} \"{label}\"` stands twice")));
                        }
                        Some(label) => {
                            entries.insert(label, value);
                        }
                    }
                }
                Value::map(entries)
            }
        };
        value.with_marks(marks)
    }
}
