//! Values between the two forms.

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, NestedBlock, Presence, Shape};
use trueup_core::{Entries, Kind, Value};
use trueup_provider::InputValues;

use super::Surface;
use super::join::{is_computed, unknown};

impl Surface {
    /// The state of an object of these inputs and outputs. Where the two share an attribute, the input is what Terraform
    /// was promised; the output stands in where the program left it open, and for an object whose inputs nobody knows.
    pub(crate) fn state(&self, inputs: Option<&InputValues>, outputs: &Value) -> Value {
        let inputs = inputs.map(|inputs| self.shown(inputs));
        let inputs = inputs.as_ref();
        let entries = self.schema.block.attributes.iter().map(|(name, attribute)| {
            let output = entry(outputs, name);
            let value = match inputs {
                _ if attribute.write_only => Value::NULL,
                Some(inputs) if self.takes(name) => filled(attribute, entry(inputs, name), output),
                _ => output.clone(),
            };
            (name.clone(), value)
        });
        let blocks = self.schema.block.blocks.iter().map(|(name, nested)| {
            let output = entry(outputs, name);
            let value = match inputs {
                Some(inputs) => filled_shape(&nested.shape(), entry(inputs, name), output),
                None => output.clone(),
            };
            (name.clone(), value)
        });
        self.schema.complete(&Value::object(entries.chain(blocks).collect::<Vec<_>>()))
    }

    /// What is to be expected of a change: the desired inputs, and planned outputs where the program left one open.
    /// `removed` are the inputs that are recorded and no longer desired: what becomes of those, apply tells.
    pub(crate) fn expected(&self, desired: &InputValues, outputs: &Value, removed: &[SmolStr]) -> Value {
        let outputs = removed.iter().fold(outputs.clone(), |outputs, name| {
            match self.outputs.block.attributes.get(name) {
                Some(attribute) => outputs.with_entry(name, unknown(attribute)),
                None => outputs,
            }
        });
        // An output that repeats an input says nothing of what was left open inside.
        let open = self.outputs.block.attributes.iter().filter(|(name, _)| self.takes(name));
        let outputs = open.fold(outputs, |outputs, (name, attribute)| {
            match entry(&desired.effective, name).is_null() || !inner_is_open(&self.schema.block, name) {
                true => outputs,
                false => outputs.with_entry(name, unknown(attribute)),
            }
        });
        self.state(Some(desired), &outputs)
    }

    /// The inputs that are recorded and not desired any more.
    pub(crate) fn removed(&self, recorded: Option<&Value>, desired: &Value) -> Vec<SmolStr> {
        let Some(recorded) = recorded else { return Vec::new() };
        let names = self.inputs.block.attributes.keys();
        let gone = |name: &&SmolStr| recorded.get(name).is_some() && desired.get(name).is_none();
        names.filter(gone).cloned().collect()
    }

    /// The observed outputs, as a refreshed state of Terraform's tells them: the recorded ones wherever the state is as the
    /// record would have it.
    pub(crate) fn observed(&self, state: &Value, as_recorded: &Value, recorded: &Value) -> Value {
        let changed = self
            .outputs
            .block
            .attributes
            .keys()
            .filter(|name| !entry(state, name).same(entry(as_recorded, name)));
        let (_, seen) = self.recovered(state);
        changed.fold(recorded.clone(), |outputs, name| outputs.with_entry(name, entry(&seen, name).clone()))
    }

    /// A state with what was observed, where that differs from the record.
    pub(crate) fn refreshed(&self, as_recorded: &Value, recorded: &Value, observed: &Value) -> Value {
        let changed = self
            .outputs
            .block
            .attributes
            .keys()
            .filter(|name| !entry(observed, name).same(entry(recorded, name)));
        let changed = changed.filter(|name| {
            !self.schema.block.attributes.get(*name).is_some_and(|attribute| attribute.write_only)
        });
        let state = changed
            .fold(as_recorded.clone(), |state, name| state.with_entry(name, entry(observed, name).clone()));
        self.schema.complete(&state)
    }

    /// A planned state with everything unknown that the provider decides and does not promise to keep: for a change that
    /// shows in no value.
    pub(crate) fn unsettled(&self, planned: &Value, config: &Value) -> Value {
        let open = self.schema.block.attributes.iter().filter(|(name, attribute)| {
            let kept = self.outputs.block.attributes.get(*name).is_none_or(|it| it.stable || it.identity);
            is_computed(attribute) && !kept && entry(config, name).is_null()
        });
        open.fold(planned.clone(), |planned, (name, attribute)| planned.with_entry(name, unknown(attribute)))
    }
}

/// What stands where nothing does.
static NULL: Value = Value::NULL;

pub(crate) fn entry<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_entries().and_then(|entries| entries.get(name)).unwrap_or(&NULL)
}

/// What a program would write for this block, of a complete value: without nulls, and without blocks that are not there.
pub(super) fn written(block: &Block, value: &Value) -> Value {
    let Some(entries) = value.as_entries() else { return value.clone() };
    let attribute = |(name, attribute): (&SmolStr, &Attribute)| {
        let item = entries.get(name).filter(|item| !item.is_null())?;
        Some((name.clone(), written_shape(&attribute.shape, item)))
    };
    let nested = |(name, nested): (&SmolStr, &NestedBlock)| {
        let item = entries.get(name).filter(|item| !is_nothing(item))?;
        Some((name.clone(), written_shape(&nested.shape(), item)))
    };
    let attributes = block.attributes.iter().filter_map(attribute);
    let all = attributes.chain(block.blocks.iter().filter_map(nested));
    Value::object(all.collect::<Vec<_>>()).into_secret_if(value.is_secret())
}

fn written_shape(shape: &Shape, value: &Value) -> Value {
    let item = match (shape, value.kind()) {
        (Shape::Object(block), _) => return written(block, value),
        (Shape::List(element), Kind::List(items)) => {
            Value::list(items.iter().map(|item| written_shape(element, item)))
        }
        (Shape::Set(element), Kind::Set(items)) => {
            Value::set(items.iter().map(|item| written_shape(element, item)))
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => Value::map(
            entries.iter().map(|(key, item)| (key.clone(), written_shape(element, item))).collect::<Vec<_>>(),
        ),
        _ => return value.clone(),
    };
    item.into_secret_if(value.is_secret())
}

fn is_nothing(value: &Value) -> bool {
    value.is_null()
        || value.as_items().is_some_and(<[Value]>::is_empty)
        || matches!(value.kind(), Kind::Map(entries) if entries.is_empty())
}

/// An input, with the output where the program left it or something inside open.
fn filled(attribute: &Attribute, input: &Value, output: &Value) -> Value {
    match input.is_null() && is_computed(attribute) {
        true => output.clone(),
        false => filled_shape(&attribute.shape, input, output),
    }
}

fn filled_shape(shape: &Shape, input: &Value, output: &Value) -> Value {
    let filled = match (shape, input.kind()) {
        (Shape::Object(block), Kind::Map(_) | Kind::Object(_)) => filled_block(block, input, output),
        (Shape::List(element), Kind::List(items)) => {
            Value::list(items.iter().enumerate().map(|(at, item)| {
                let output = match output.is_unknown() {
                    true => output,
                    false => output.as_items().and_then(|outputs| outputs.get(at)).unwrap_or(&NULL),
                };
                filled_shape(element, item, output)
            }))
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => {
            Value::map(each(entries, |key, item| filled_shape(element, item, inner(output, key))))
        }
        // Elements of a set are told apart by what they hold, so none can be found for another.
        (Shape::Set(element), Kind::Set(items)) => {
            Value::set(items.iter().map(|item| filled_shape(element, item, &NULL)))
        }
        _ => return input.clone(),
    };
    filled.into_secret_if(input.is_secret())
}

fn filled_block(block: &Block, input: &Value, output: &Value) -> Value {
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        let (input, output) = (entry(input, name), inner(output, name));
        let value = match (input.is_null() && is_computed(attribute), output.is_unknown()) {
            (true, true) => unknown(attribute),
            _ => filled(attribute, input, output),
        };
        (name.clone(), value)
    });
    let blocks = block.blocks.iter().map(|(name, nested)| {
        (name.clone(), filled_shape(&nested.shape(), entry(input, name), inner(output, name)))
    });
    Value::object(attributes.chain(blocks).collect::<Vec<_>>())
}

/// The part of an output under a name: of what is unknown, every part is.
fn inner<'a>(output: &'a Value, name: &str) -> &'a Value {
    if output.is_unknown() { output } else { entry(output, name) }
}

fn each(entries: &Entries, change: impl Fn(&str, &Value) -> Value) -> Vec<(SmolStr, Value)> {
    entries.iter().map(|(key, item)| (key.clone(), change(key, item))).collect()
}

/// Whether the provider chooses something inside an attribute that a program writes.
fn inner_is_open(block: &Block, name: &str) -> bool {
    let chosen = |attribute: &Attribute| attribute.presence == Presence::OptionalComputed;
    let of_attribute = block.attributes.get(name).is_some_and(|it| it.shape.any_attribute(chosen));
    of_attribute || block.blocks.get(name).is_some_and(|it| it.block.any_attribute(chosen))
}
