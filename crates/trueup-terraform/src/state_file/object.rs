//! Objects in states: attributes by the schema of their type.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use trueup_core::Value;
use trueup_core::schema::{Attribute, Block, Presence, ResourceSchema};
use trueup_provider::{InputValues, State};

use super::{StateInstance, secrets};
use crate::schema::TypeSchema;

/// How objects of a type stand in states.
pub struct ObjectForm {
    schema: TypeSchema,
    /// What of it the program writes, where that is kept apart: types of our own.
    own_inputs: Option<Block>,
    own_outputs: Block,
}

impl ObjectForm {
    /// The form of a type of a Terraform provider: what was written and what the provider decided stand together.
    pub fn of_terraform(schema: &ResourceSchema) -> Self {
        let block = schema.outputs.clone();
        let schema = TypeSchema::of_block(schema.version, Arc::new(block.clone()));
        ObjectForm { schema, own_inputs: None, own_outputs: block }
    }

    /// The form of a type of our own that Terraform has too: inputs and outputs stand apart with us, and together there.
    pub fn of_own(schema: &ResourceSchema) -> Self {
        let mut both = schema.outputs.clone();
        let inputs = schema.inputs.attributes.iter();
        both.attributes.extend(inputs.map(|(name, attribute)| (name.clone(), attribute.clone())));
        ObjectForm {
            schema: TypeSchema::of_block(schema.version, Arc::new(both)),
            own_inputs: Some(schema.inputs.clone()),
            own_outputs: schema.outputs.clone(),
        }
    }

    /// The object of an instance.
    pub fn read(&self, instance: &StateInstance) -> Result<State, String> {
        let StateInstance { schema_version, attributes, private, identity, .. } = instance;
        let Some(attributes) = attributes else {
            return Err("it was written by Terraform before 0.12; run `terraform refresh` with a later one"
                .to_owned());
        };
        if *schema_version > self.schema.version {
            return Err(format!(
                "it has schema version {schema_version}, and the provider knows only {}: use a later version of it",
                self.schema.version
            ));
        }
        let text = attributes.to_string();
        let value = match *schema_version == self.schema.version {
            true => self.schema.decode_json(text.as_bytes()).map_err(|error| error.to_string())?,
            // An older schema's: the provider brings it up to date when the next plan asks it to.
            false => Value::from_plain_json(&text).map_err(|error| error.to_string())?,
        };
        let value = self.schema.marked(&value, []);
        let value =
            instance.sensitive_attributes.iter().fold(value, |value, path| secrets::marked(&value, path));
        let identity = identity.as_ref().filter(|identity| !identity.is_null());
        let identity = identity.map(|identity| Value::from_plain_json(&identity.to_string()));
        let private = private.as_deref().map(|private| STANDARD.decode(private)).transpose();
        let (outputs, inputs) = match &self.own_inputs {
            None => (value, None),
            Some(inputs) => {
                let written = only(&value, inputs, true);
                let inputs = InputValues { written: written.clone(), effective: written };
                (only(&value, &self.own_outputs, false), Some(inputs))
            }
        };
        Ok(State {
            inputs,
            outputs,
            private: private.map_err(|_| "its private part is not Base64".to_owned())?.unwrap_or_default(),
            schema_version: *schema_version,
            identity: identity.transpose().map_err(|error| error.to_string())?,
        })
    }

    /// The instance of an object; what it is an instance of is not said yet.
    pub fn write(&self, state: &State) -> Result<StateInstance, String> {
        let value = match (&self.own_inputs, &state.inputs) {
            (Some(_), Some(inputs)) => {
                let written = inputs.effective.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
                written
                    .fold(state.outputs.clone(), |value, (name, item)| value.with_entry(name, item.clone()))
            }
            _ => state.outputs.clone(),
        };
        let json = |text: &[u8]| serde_json::from_slice::<Json>(text).map_err(|error| error.to_string());
        let attributes = self.schema.encode_json(&value).map_err(|error| error.to_string())?;
        let identity = state.identity.as_ref().filter(|_| self.own_inputs.is_none());
        let identity = identity.map(|identity| {
            let ty = crate::wire::WireType::from(&trueup_core::Type::of_recorded(identity));
            json(&crate::wire::encode_json(identity, &ty).map_err(|error| error.to_string())?)
        });
        let identity = identity.transpose()?;
        Ok(StateInstance {
            schema_version: state.schema_version,
            attributes: Some(json(&attributes)?),
            sensitive_attributes: secrets::paths(&self.schema.block.without(&value, is_never_marked)),
            identity_schema_version: identity.is_some().then_some(0),
            identity,
            private: (!state.private.is_empty()).then(|| STANDARD.encode(&state.private)),
            ..StateInstance::default()
        })
    }
}

/// What of a value a block has; without nulls, if they say nothing.
fn only(value: &Value, block: &Block, drop_nulls: bool) -> Value {
    let entries = value.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
    let kept = entries.filter(|(name, item)| {
        block.attributes.contains_key(name.as_str()) && !(drop_nulls && item.is_null())
    });
    Value::object(kept.map(|(name, item)| (name.clone(), item.clone())).collect::<Vec<_>>())
}

/// Whether Terraform never marks an attribute in a state: it is only ever written, and kept nowhere, or only the provider
/// sets it. A mark of ours on such a value, which repeats a secret, would be a change that Terraform plans.
fn is_never_marked(attribute: &Attribute) -> bool {
    attribute.write_only || attribute.presence == Presence::Computed && !attribute.secret
}
