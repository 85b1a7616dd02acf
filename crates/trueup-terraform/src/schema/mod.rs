//! Schemas of Terraform's types, in our own vocabulary.
//!
//! One message describes what a program writes and what the provider answers, so inputs and outputs are the same block,
//! and values of it are *complete*: every attribute is there, null if nobody set it, and blocks that nobody wrote are
//! empty collections. That is the form in which the protocol wants them.

mod complete;
mod marks;
mod messages;

use std::sync::Arc;

use prost::Message;
use smol_str::SmolStr;
use trueup_core::schema::{Block, ResourceSchema};
use trueup_core::{Type, Value};

pub use messages::SchemaError;
pub(crate) use messages::read_type;

use crate::client::Version;
use crate::protocol::{DynamicValue, IdentitySchema, tfplugin5, tfplugin6};
use crate::wire::{self, WireError, WireType};

/// The schema of a resource type, data source, ephemeral resource or of the provider's configuration.
#[derive(Debug)]
pub struct TypeSchema {
    /// Grows when states of older providers no longer fit.
    pub version: u64,
    /// What a program may write and what the provider answers.
    pub block: Arc<Block>,
    wire: WireType,
}

impl Default for TypeSchema {
    /// Of something that takes nothing.
    fn default() -> Self {
        let block = Block::default();
        TypeSchema { version: 0, wire: WireType::of_block(&block), block: Arc::new(block) }
    }
}

impl TypeSchema {
    /// Reads the message of a schema.
    pub fn read(version: Version, message: &[u8]) -> Result<Self, SchemaError> {
        let schema = match version {
            Version::V5 => tfplugin5::Schema::decode(message)?.into(),
            Version::V6 => tfplugin6::Schema::decode(message)?,
        };
        Self::from_message(schema)
    }

    /// The schema that a message describes.
    pub fn from_message(schema: tfplugin6::Schema) -> Result<Self, SchemaError> {
        let block = messages::block(schema.block.unwrap_or_default())?;
        let wire = WireType::of_block(&block);
        let version = u64::try_from(schema.version).unwrap_or_default();
        Ok(TypeSchema { version, block: Arc::new(block), wire })
    }

    /// The schema of this block.
    pub fn of_block(version: u64, block: Arc<Block>) -> Self {
        TypeSchema { version, wire: WireType::of_block(&block), block }
    }

    /// The same as the engine knows it.
    pub fn resource_schema(&self) -> ResourceSchema {
        let mut outputs = Block::clone(&self.block);
        for (name, attribute) in &mut outputs.attributes {
            attribute.mirrors = Some(name.clone());
        }
        ResourceSchema { version: self.version, inputs: Block::clone(&self.block), outputs }
    }

    /// The value with every attribute and block.
    pub fn complete(&self, value: &Value) -> Value {
        complete::complete(&self.block, value)
    }

    /// The value with secrets marked: what the schema says, and what is secret in any of `sources`.
    pub fn marked<'a>(&self, value: &Value, sources: impl IntoIterator<Item = &'a Value>) -> Value {
        let marked = marks::of_schema(&self.block, value);
        sources.into_iter().fold(marked, |marked, source| marks::of_value(source, &marked))
    }

    /// A value as it is sent.
    pub fn encode(&self, value: &Value) -> Result<DynamicValue, WireError> {
        wire::encode(value, &self.wire)
    }

    /// A value as it came; null stays null, anything else is complete.
    pub fn decode(&self, sent: Option<&DynamicValue>) -> Result<Value, WireError> {
        let Some(sent) = sent else { return Ok(Value::NULL) };
        let value = wire::decode(sent, &self.wire)?;
        Ok(if value.is_null() { value } else { self.complete(&value) })
    }

    /// A recorded value as JSON text. What an older schema recorded may have other attributes, or attributes of other
    /// types: those are written as they are.
    pub fn encode_json(&self, value: &Value) -> Result<Vec<u8>, WireError> {
        wire::encode_json(value, &self.wire.widened_for(value))
            .or_else(|_| wire::encode_json(value, &WireType::from(&Type::of_recorded(value))))
    }

    /// A value from JSON text, as it stands in Terraform's states.
    pub fn decode_json(&self, text: &[u8]) -> Result<Value, WireError> {
        Ok(self.complete(&wire::decode_json(text, &self.wire)?))
    }
}

/// What tells objects of a type from each other, by the provider's own word.
#[derive(Debug)]
pub struct Identities {
    /// What stands in it.
    pub attributes: Vec<IdentityAttribute>,
    wire: WireType,
}

/// One attribute of an identity.
#[derive(Debug)]
pub struct IdentityAttribute {
    /// Its name.
    pub name: SmolStr,
    /// Whether nothing can be imported without it.
    pub required: bool,
}

impl Identities {
    /// Reads the message of an identity's schema.
    pub fn read(message: &[u8]) -> Result<Self, SchemaError> {
        let schema = IdentitySchema::decode(message)?;
        let mut attributes = Vec::new();
        let mut types = Vec::new();
        for attribute in schema.attributes {
            types.push((attribute.name.clone(), read_type(&attribute.name, &attribute.r#type)?));
            attributes.push(IdentityAttribute {
                name: attribute.name.into(),
                required: attribute.required_for_import,
            });
        }
        Ok(Identities { attributes, wire: WireType::from(&Type::object(types)) })
    }

    /// An identity as it is sent; `None` if it does not fit, and then the provider goes without.
    pub fn encode(&self, identity: &Value) -> Option<DynamicValue> {
        wire::encode(identity, &self.wire).ok()
    }

    /// An identity as it came, if it is one.
    pub fn decode(&self, sent: &DynamicValue) -> Option<Value> {
        let value = wire::decode(sent, &self.wire).ok()?;
        value.is_wholly_known().then_some(value).filter(|value| !value.is_null())
    }
}
