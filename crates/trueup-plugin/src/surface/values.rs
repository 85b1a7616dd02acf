//! Conversion of values between the two forms.

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, NestedBlock, Presence, Shape};
use trueup_core::{Entries, Kind, Value};
use trueup_provider::InputValues;

use super::Surface;
use super::join::{is_computed, unknown};

impl Surface {
    /// The Terraform state of inputs and outputs. In a shared attribute the input takes precedence; the output fills omitted
    /// inputs, and all of them for an object without recorded inputs.
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

    /// The planned state of a change. The outputs of `removed` inputs are unknown: recorded values no longer apply.
    pub(crate) fn expected(&self, desired: &InputValues, outputs: &Value, removed: &[SmolStr]) -> Value {
        let outputs = removed.iter().fold(outputs.clone(), |outputs, name| {
            match self.outputs.block.attributes.get(name) {
                Some(attribute) => outputs.with_entry(name, unknown(attribute)),
                None => outputs,
            }
        });
        // A mirrored output predicts nothing for omitted values inside its input.
        let open = self.outputs.block.attributes.iter().filter(|(name, _)| self.takes(name));
        let outputs = open.fold(outputs, |outputs, (name, attribute)| {
            match entry(&desired.effective, name).is_null() || !inner_is_open(&self.schema.block, name) {
                true => outputs,
                false => outputs.with_entry(name, unknown(attribute)),
            }
        });
        self.state(Some(desired), &outputs)
    }

    /// Recorded inputs that are no longer desired.
    pub(crate) fn removed(&self, recorded: Option<&Value>, desired: &Value) -> Vec<SmolStr> {
        let Some(recorded) = recorded else { return Vec::new() };
        let names = self.inputs.block.attributes.keys();
        let gone = |name: &&SmolStr| recorded.get(name).is_some() && desired.get(name).is_none();
        names.filter(gone).cloned().collect()
    }

    /// The observed outputs of a refreshed state: recorded ones wherever the state equals that of the record.
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

    /// The state of the record, updated with observed outputs that differ.
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

    /// The planned state with all computed attributes unknown that are not stable: for a change that no value shows.
    pub(crate) fn unsettled(&self, planned: &Value, config: &Value) -> Value {
        let open = self.schema.block.attributes.iter().filter(|(name, attribute)| {
            let kept = self.outputs.block.attributes.get(*name).is_none_or(|it| it.stable || it.identity);
            is_computed(attribute) && !kept && entry(config, name).is_null()
        });
        open.fold(planned.clone(), |planned, (name, attribute)| planned.with_entry(name, unknown(attribute)))
    }
}

/// The value of an absent entry.
static NULL: Value = Value::NULL;

pub(crate) fn entry<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_entries().and_then(|entries| entries.get(name)).unwrap_or(&NULL)
}

/// A complete value as a program would write it: without nulls and empty blocks.
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

/// An input, with omitted parts filled from the output.
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
        // Set elements have no identity beyond their value, so none can be matched.
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

/// An entry of an output; unknown if the output is.
fn inner<'a>(output: &'a Value, name: &str) -> &'a Value {
    if output.is_unknown() { output } else { entry(output, name) }
}

fn each(entries: &Entries, change: impl Fn(&str, &Value) -> Value) -> Vec<(SmolStr, Value)> {
    entries.iter().map(|(key, item)| (key.clone(), change(key, item))).collect()
}

/// Whether an input has nested attributes that the provider may set.
fn inner_is_open(block: &Block, name: &str) -> bool {
    let chosen = |attribute: &Attribute| attribute.presence == Presence::OptionalComputed;
    let of_attribute = block.attributes.get(name).is_some_and(|it| it.shape.any_attribute(chosen));
    of_attribute || block.blocks.get(name).is_some_and(|it| it.block.any_attribute(chosen))
}
