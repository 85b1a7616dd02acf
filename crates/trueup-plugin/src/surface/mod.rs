//! The Terraform schema and values of a type.
//!
//! Native types have separate inputs and outputs; Terraform has one object. [`Surface`] joins them by name and marks as
//! *computed* whatever the provider may set. The private bytes hold the rest ([`Record`](crate::record::Record)).

mod join;
mod messages;
mod values;

pub(crate) use values::entry;

use std::sync::Arc;

pub(crate) use join::Place;
use smol_str::SmolStr;
use trueup_core::schema::{Block, Presence, Shape};
use trueup_core::{Diagnostics, Value};
use trueup_provider::InputValues;
use trueup_terraform::{TypeSchema, Version};

/// The purpose of a schema. Terraform's rules differ by purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The provider's configuration.
    Configuration,
    /// A managed resource.
    Resource,
    /// A data source.
    Data,
}

/// A type whose schema has no Terraform counterpart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{type_name}` cannot be served: {what}")]
pub struct UnservableType {
    /// The type.
    pub type_name: SmolStr,
    /// The reason.
    pub what: String,
}

/// A type's joined schema, with those of its inputs and outputs.
pub(crate) struct Surface {
    pub(crate) type_name: SmolStr,
    /// The joined schema.
    pub(crate) schema: TypeSchema,
    inputs: TypeSchema,
    outputs: TypeSchema,
}

impl Surface {
    pub(crate) fn new(
        place: Place,
        type_name: &str,
        schema_version: u64,
        inputs: &Block,
        outputs: &Block,
    ) -> Result<Self, UnservableType> {
        let refused = |what| UnservableType { type_name: type_name.into(), what };
        let block = join::joined(place, inputs, outputs).map_err(refused)?;
        Ok(Surface {
            type_name: type_name.into(),
            schema: TypeSchema::of_block(schema_version, Arc::new(block)),
            inputs: TypeSchema::of_block(schema_version, Arc::new(inputs.clone())),
            outputs: TypeSchema::of_block(schema_version, Arc::new(outputs.clone())),
        })
    }

    /// The encoded schema.
    pub(crate) fn message(&self, version: Version) -> Vec<u8> {
        messages::schema(version, &self.schema)
    }

    /// The inputs of a configuration, checked and with defaults.
    pub(crate) fn desired(&self, config: &Value) -> (InputValues, Diagnostics) {
        let block = &self.inputs.block;
        let checked = block.check(&values::written(block, config), &self.type_name);
        let effective = block.with_defaults(&checked.value);
        (InputValues { written: checked.value, effective }, checked.diagnostics)
    }

    /// Write-only attributes that a configuration sets.
    pub(crate) fn write_only_set(&self, config: &Value) -> Vec<SmolStr> {
        let set = |name: &&SmolStr| config.get(name).is_some_and(|value| !value.is_null());
        self.write_only().filter(set).cloned().collect()
    }

    fn write_only(&self) -> impl Iterator<Item = &SmolStr> {
        self.inputs
            .block
            .attributes
            .iter()
            .filter(|(_, attribute)| attribute.write_only)
            .map(|(name, _)| name)
    }

    /// Recorded inputs with the current write-only values. Those are never recorded; without them each plan would show a
    /// change.
    pub(crate) fn with_write_only(&self, recorded: &InputValues, desired: &InputValues) -> InputValues {
        let lend = |to: &Value, from: &Value| {
            self.write_only().fold(to.clone(), |to, name| match from.get(name) {
                Some(value) => to.with_entry(name, value.clone()),
                None => to,
            })
        };
        InputValues {
            written: lend(&recorded.written, &desired.written),
            effective: lend(&recorded.effective, &desired.effective),
        }
    }

    /// Inputs without write-only values.
    pub(crate) fn unwritten(&self, inputs: &InputValues) -> InputValues {
        let kept = |value: &Value| self.inputs.block.without(value, |attribute| attribute.write_only);
        InputValues { written: kept(&inputs.written), effective: kept(&inputs.effective) }
    }

    /// The inputs for a read or delete. Required inputs that are not recorded are unknown; the contract substitutes empty
    /// values.
    pub(crate) fn known_inputs(&self, recorded: Option<&InputValues>, outputs: &Value) -> Value {
        let known = recorded.map_or_else(|| self.mirrored(outputs), |inputs| inputs.effective.clone());
        let missing = self.inputs.block.attributes.iter().filter(|(name, attribute)| {
            attribute.presence == Presence::Required && known.get(name).is_none()
        });
        missing.fold(known.clone(), |known, (name, attribute)| {
            known.with_entry(name, Value::unknown(attribute.shape.implied_type()))
        })
    }

    /// The inputs that outputs mirror.
    fn mirrored(&self, outputs: &Value) -> Value {
        let mirrors = self.outputs.block.attributes.iter().filter_map(|(name, attribute)| {
            let input = attribute.mirrors.as_ref()?;
            Some((input.clone(), outputs.get(name)?.clone()))
        });
        Value::object(mirrors.collect::<Vec<_>>())
    }

    /// Inputs and outputs recovered from a state without private bytes.
    pub(crate) fn recovered(&self, state: &Value) -> (InputValues, Value) {
        let inputs = self.inputs.marked(&values::written(&self.inputs.block, state), []);
        let outputs = self.outputs.marked(&values::written(&self.outputs.block, state), []);
        (self.guessed(InputValues { written: inputs.clone(), effective: inputs }), outputs)
    }

    /// The inputs as Terraform shows them: with defaults, except in attributes of an object type, which must equal the
    /// configuration.
    pub(crate) fn shown(&self, inputs: &InputValues) -> Value {
        let opaque = self.schema.block.attributes.iter().filter(|(name, attribute)| {
            let own = self.inputs.block.attributes.get(*name);
            matches!(attribute.shape, Shape::Plain(_))
                && own.is_some_and(|own| !matches!(own.shape, Shape::Plain(_)))
        });
        opaque.fold(inputs.effective.clone(), |shown, (name, _)| match inputs.written.get(name) {
            Some(written) => shown.with_entry(name, written.clone()),
            None => shown,
        })
    }

    /// Inputs recovered from a state. Optional computed ones count as omitted: they may be defaults or the provider's choice,
    /// and programs shouldn't have to repeat them.
    pub(crate) fn guessed(&self, inputs: InputValues) -> InputValues {
        let attributes = &self.schema.block.attributes;
        let entries = inputs.written.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
        let certain = entries.filter(|(name, _)| {
            let presence = attributes.get(*name).map(|attribute| attribute.presence);
            presence != Some(Presence::OptionalComputed)
        });
        let certain = certain.map(|(name, value)| (name.clone(), value.clone()));
        InputValues { written: Value::object(certain.collect::<Vec<_>>()), ..inputs }
    }

    /// Whether the provider has an input of this name.
    fn takes(&self, name: &str) -> bool {
        self.inputs.block.attributes.contains_key(name) || self.inputs.block.blocks.contains_key(name)
    }
}
