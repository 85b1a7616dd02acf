//! A type as Terraform sees it.
//!
//! We keep what a program sets and what a provider answers apart; Terraform has one object for both. [`Surface`] joins
//! the two: an attribute per name, *computed* where the provider may decide it. What one object cannot tell travels in the
//! private bytes beside it ([`Record`](crate::record::Record)).

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

/// What a schema is for: Terraform allows each a little less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The configuration of the provider, which Terraform does not keep.
    Configuration,
    /// A managed resource.
    Resource,
    /// A data source.
    Data,
}

/// A schema of ours that Terraform cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{type_name}` cannot be served: {what}")]
pub(crate) struct Unservable {
    pub(crate) type_name: SmolStr,
    pub(crate) what: String,
}

/// A type as Terraform sees it, and as we do.
pub(crate) struct Surface {
    pub(crate) type_name: SmolStr,
    /// What Terraform's values look like.
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
    ) -> Result<Self, Unservable> {
        let refused = |what| Unservable { type_name: type_name.into(), what };
        let block = join::joined(place, inputs, outputs).map_err(refused)?;
        Ok(Surface {
            type_name: type_name.into(),
            schema: TypeSchema::of_block(schema_version, Arc::new(block)),
            inputs: TypeSchema::of_block(schema_version, Arc::new(inputs.clone())),
            outputs: TypeSchema::of_block(schema_version, Arc::new(outputs.clone())),
        })
    }

    /// The message that tells Terraform of it.
    pub(crate) fn message(&self, version: Version) -> Vec<u8> {
        messages::schema(version, &self.schema)
    }

    /// What a program wrote in a configuration of Terraform's, checked and with defaults.
    pub(crate) fn desired(&self, config: &Value) -> (InputValues, Diagnostics) {
        let block = &self.inputs.block;
        let checked = block.check(&values::written(block, config), &self.type_name);
        let effective = block.with_defaults(&checked.value);
        (InputValues { written: checked.value, effective }, checked.diagnostics)
    }

    /// The write-only attributes that a configuration sets.
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

    /// Recorded inputs with the write-only values of now, which are never recorded: so they are no change, and the type
    /// decodes.
    pub(crate) fn lent(&self, recorded: &InputValues, desired: &InputValues) -> InputValues {
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

    /// Inputs without what must never be kept.
    pub(crate) fn unwritten(&self, inputs: &InputValues) -> InputValues {
        let kept = |value: &Value| self.inputs.block.without(value, |attribute| attribute.write_only);
        InputValues { written: kept(&inputs.written), effective: kept(&inputs.effective) }
    }

    /// The inputs by which a type looks at an object or removes it: those recorded. What is not recorded is unknown, and
    /// types get something empty for it.
    pub(crate) fn known_inputs(&self, recorded: Option<&InputValues>, outputs: &Value) -> Value {
        let known = recorded.map_or_else(|| self.mirrored(outputs), |inputs| inputs.effective.clone());
        let missing = self.inputs.block.attributes.iter().filter(|(name, attribute)| {
            attribute.presence == Presence::Required && known.get(name).is_none()
        });
        missing.fold(known.clone(), |known, (name, attribute)| {
            known.with_entry(name, Value::unknown(attribute.shape.implied_type()))
        })
    }

    /// What outputs tell of the inputs that they mirror.
    fn mirrored(&self, outputs: &Value) -> Value {
        let mirrors = self.outputs.block.attributes.iter().filter_map(|(name, attribute)| {
            let input = attribute.mirrors.as_ref()?;
            Some((input.clone(), outputs.get(name)?.clone()))
        });
        Value::object(mirrors.collect::<Vec<_>>())
    }

    /// The inputs and outputs of an object of which only Terraform's state is known.
    pub(crate) fn recovered(&self, state: &Value) -> (InputValues, Value) {
        let inputs = self.inputs.marked(&values::written(&self.inputs.block, state), []);
        let outputs = self.outputs.marked(&values::written(&self.outputs.block, state), []);
        (self.guessed(InputValues { written: inputs.clone(), effective: inputs }), outputs)
    }

    /// The inputs as Terraform shows them: with defaults, except inside what has no structure in Terraform, which must stay
    /// as it is written.
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

    /// Inputs of which a state told, where nobody knows whether the program wrote them or the provider stood in: those that
    /// may be left out count as left out, so that no program has to repeat them.
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
