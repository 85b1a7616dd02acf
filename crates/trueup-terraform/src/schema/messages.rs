//! From the messages of the protocol to blocks.

use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::Type;
use trueup_core::schema::{Attribute, Block, NestedBlock, Nesting, Presence, Shape};

use crate::protocol::{tfplugin5, tfplugin6};

/// Deeper ones are no schemas anyone wrote.
const DEPTH_MAX: usize = 50;

/// Why a message is no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no message at all.
    #[error("it is not readable: {0}")]
    Message(#[from] prost::DecodeError),
    /// The type of an attribute is none.
    #[error("the type of its attribute `{0}` is none")]
    Type(String),
    /// Blocks or attributes have no kind of nesting.
    #[error("how `{0}` nests is not said")]
    Nesting(String),
    /// It nests without end.
    #[error("it nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
}

pub(super) fn block(message: tfplugin6::Block) -> Result<Block, SchemaError> {
    read_block(message, 0)
}

fn read_block(message: tfplugin6::Block, depth: usize) -> Result<Block, SchemaError> {
    if depth > DEPTH_MAX {
        return Err(SchemaError::TooDeep);
    }
    let mut blocks = IndexMap::new();
    for nested in message.block_types {
        let (name, nested) = read_nested(nested, depth)?;
        blocks.insert(name, nested);
    }
    blocks.sort_unstable_keys();
    let attributes = read_attributes(message.attributes, depth)?;
    Ok(Block { doc: message.description, attributes, blocks, rules: Vec::new() })
}

fn read_nested(message: tfplugin6::NestedBlock, depth: usize) -> Result<(SmolStr, NestedBlock), SchemaError> {
    use tfplugin6::nested_block::Nesting as Sent;
    let nesting = match message.nesting() {
        Sent::Single => Nesting::Single,
        Sent::Group => Nesting::Group,
        Sent::List => Nesting::List,
        Sent::Set => Nesting::Set,
        Sent::Map => Nesting::Map,
        Sent::Invalid => return Err(SchemaError::Nesting(message.type_name)),
    };
    let nested = NestedBlock {
        nesting,
        block: Arc::new(read_block(message.block.unwrap_or_default(), depth + 1)?),
        items_min: u64::try_from(message.min_items).unwrap_or_default(),
        items_max: u64::try_from(message.max_items).ok().filter(|max| *max > 0),
    };
    Ok((message.type_name.into(), nested))
}

fn read_attributes(
    messages: Vec<tfplugin6::Attribute>,
    depth: usize,
) -> Result<IndexMap<SmolStr, Attribute>, SchemaError> {
    let mut attributes = IndexMap::new();
    for message in messages {
        let (name, attribute) = read_attribute(message, depth)?;
        attributes.insert(name, attribute);
    }
    attributes.sort_unstable_keys();
    Ok(attributes)
}

fn read_attribute(message: tfplugin6::Attribute, depth: usize) -> Result<(SmolStr, Attribute), SchemaError> {
    let presence = match (message.required, message.optional, message.computed) {
        (true, ..) => Presence::Required,
        (false, true, true) => Presence::OptionalComputed,
        (false, true, false) => Presence::Optional,
        (false, false, _) => Presence::Computed,
    };
    let shape = match message.nested_type {
        Some(object) => read_object(&message.name, object, depth)?,
        None => Shape::Plain(read_type(&message.name, &message.r#type)?),
    };
    let deprecated = message.deprecated.then(|| "the provider will do without it some day".to_owned());
    let attribute = Attribute {
        doc: message.description,
        // What must never be kept is not to be shown either.
        secret: message.sensitive || message.write_only,
        write_only: message.write_only,
        deprecated,
        ..Attribute::new(shape, presence)
    };
    Ok((message.name.into(), attribute))
}

fn read_object(name: &str, message: tfplugin6::Object, depth: usize) -> Result<Shape, SchemaError> {
    use tfplugin6::object::Nesting as Sent;
    if depth > DEPTH_MAX {
        return Err(SchemaError::TooDeep);
    }
    let nesting = message.nesting();
    let attributes = read_attributes(message.attributes, depth + 1)?;
    let object = Shape::Object(Arc::new(Block { attributes, ..Block::default() }));
    Ok(match nesting {
        Sent::Single => object,
        Sent::List => Shape::List(Arc::new(object)),
        Sent::Set => Shape::Set(Arc::new(object)),
        Sent::Map => Shape::Map(Arc::new(object)),
        Sent::Invalid => return Err(SchemaError::Nesting(name.to_owned())),
    })
}

pub(crate) fn read_type(name: &str, json: &[u8]) -> Result<Type, SchemaError> {
    serde_json::from_slice(json).map_err(|_| SchemaError::Type(name.to_owned()))
}

/// Version 5 is version 6 without nested attribute types.
impl From<tfplugin5::Schema> for tfplugin6::Schema {
    fn from(schema: tfplugin5::Schema) -> Self {
        tfplugin6::Schema { version: schema.version, block: schema.block.map(Into::into) }
    }
}

impl From<tfplugin5::Block> for tfplugin6::Block {
    fn from(block: tfplugin5::Block) -> Self {
        tfplugin6::Block {
            version: block.version,
            attributes: block.attributes.into_iter().map(Into::into).collect(),
            block_types: block.block_types.into_iter().map(Into::into).collect(),
            description: block.description,
            description_kind: block.description_kind,
            deprecated: block.deprecated,
        }
    }
}

impl From<tfplugin5::NestedBlock> for tfplugin6::NestedBlock {
    fn from(nested: tfplugin5::NestedBlock) -> Self {
        tfplugin6::NestedBlock {
            type_name: nested.type_name,
            block: nested.block.map(Into::into),
            nesting: nested.nesting,
            min_items: nested.min_items,
            max_items: nested.max_items,
        }
    }
}

impl From<tfplugin5::Attribute> for tfplugin6::Attribute {
    fn from(attribute: tfplugin5::Attribute) -> Self {
        tfplugin6::Attribute {
            name: attribute.name,
            r#type: attribute.r#type,
            nested_type: None,
            description: attribute.description,
            required: attribute.required,
            optional: attribute.optional,
            computed: attribute.computed,
            sensitive: attribute.sensitive,
            description_kind: attribute.description_kind,
            deprecated: attribute.deprecated,
            write_only: attribute.write_only,
        }
    }
}
