//! Schemas as messages of the protocol.

use prost::Message;
use smol_str::SmolStr;
use trueup_core::Type;
use trueup_core::schema::{Attribute, Block, NestedBlock, Nesting, Presence, Shape};
use trueup_terraform::protocol::{tfplugin5, tfplugin6};
use trueup_terraform::{TypeSchema, Version};

/// Markdown: descriptions are documentation comments.
const MARKDOWN: i32 = 1;

/// The encoded message of a schema.
pub(super) fn schema(version: Version, schema: &TypeSchema) -> Vec<u8> {
    let number = i64::try_from(schema.version).unwrap_or(i64::MAX);
    match version {
        Version::V6 => {
            let block = Some(block(&schema.block));
            tfplugin6::Schema { version: number, block }.encode_to_vec()
        }
        Version::V5 => {
            let block = Some(older_block(&schema.block));
            tfplugin5::Schema { version: number, block }.encode_to_vec()
        }
    }
}

fn block(of: &Block) -> tfplugin6::Block {
    tfplugin6::Block {
        attributes: of.attributes.iter().map(|(name, it)| attribute(name, it)).collect(),
        block_types: of.blocks.iter().map(|(name, it)| nested(name, it)).collect(),
        description: of.doc.clone(),
        description_kind: MARKDOWN,
        ..tfplugin6::Block::default()
    }
}

fn nested(name: &str, of: &NestedBlock) -> tfplugin6::NestedBlock {
    use tfplugin6::nested_block::Nesting as Sent;
    let nesting = match of.nesting {
        Nesting::Single => Sent::Single,
        Nesting::Group => Sent::Group,
        Nesting::List => Sent::List,
        Nesting::Set => Sent::Set,
        Nesting::Map => Sent::Map,
    };
    let (items_min, items_max) = bounds(of);
    tfplugin6::NestedBlock {
        type_name: name.to_owned(),
        block: Some(block(&of.block)),
        nesting: nesting.into(),
        min_items: items_min,
        max_items: items_max,
    }
}

/// The bounds of a block. Terraform allows none for map and group nesting.
fn bounds(of: &NestedBlock) -> (i64, i64) {
    let number = |items: u64| i64::try_from(items).unwrap_or(i64::MAX);
    match of.nesting {
        Nesting::Group | Nesting::Map => (0, 0),
        Nesting::Single => (number(of.items_min.min(1)), number(of.items_min.min(1))),
        Nesting::List | Nesting::Set => (number(of.items_min), of.items_max.map_or(0, number)),
    }
}

fn attribute(name: &str, of: &Attribute) -> tfplugin6::Attribute {
    let object = object(&of.shape);
    let ty = if object.is_some() { Vec::new() } else { type_json(&of.shape.implied_type()) };
    tfplugin6::Attribute {
        name: name.to_owned(),
        r#type: ty,
        nested_type: object,
        description: of.doc.clone(),
        required: of.presence == Presence::Required,
        optional: matches!(of.presence, Presence::Optional | Presence::OptionalComputed),
        computed: matches!(of.presence, Presence::Computed | Presence::OptionalComputed),
        sensitive: of.secret,
        description_kind: MARKDOWN,
        deprecated: of.deprecated.is_some(),
        write_only: of.write_only,
    }
}

/// The message of a nested attribute.
fn object(shape: &Shape) -> Option<tfplugin6::Object> {
    use tfplugin6::object::Nesting as Sent;
    let (nesting, inner) = match shape {
        Shape::Plain(_) => return None,
        Shape::Object(block) => (Sent::Single, block),
        Shape::List(element) => (Sent::List, as_block(element)?),
        Shape::Set(element) => (Sent::Set, as_block(element)?),
        Shape::Map(element) => (Sent::Map, as_block(element)?),
    };
    let attributes = inner.attributes.iter().map(|(name, it)| attribute(name, it));
    let blocks = inner.blocks.iter().map(|(name, it)| attribute(name, &as_attribute(it)));
    Some(tfplugin6::Object { attributes: attributes.chain(blocks).collect(), nesting: nesting.into() })
}

fn as_block(shape: &Shape) -> Option<&std::sync::Arc<Block>> {
    match shape {
        Shape::Object(block) => Some(block),
        _ => None,
    }
}

/// A nested block as an attribute, for blocks inside attributes.
fn as_attribute(of: &NestedBlock) -> Attribute {
    let presence = if of.items_min > 0 { Presence::Required } else { Presence::Optional };
    Attribute::new(of.shape(), presence)
}

fn type_json(ty: &Type) -> Vec<u8> {
    // Writing into memory cannot fail.
    serde_json::to_vec(ty).unwrap_or_default()
}

fn older_block(of: &Block) -> tfplugin5::Block {
    tfplugin5::Block {
        attributes: of.attributes.iter().map(|(name, it)| older_attribute(name, it)).collect(),
        block_types: of.blocks.iter().map(|(name, it)| older_nested(name, it)).collect(),
        description: of.doc.clone(),
        description_kind: MARKDOWN,
        ..tfplugin5::Block::default()
    }
}

fn older_attribute(name: &SmolStr, of: &Attribute) -> tfplugin5::Attribute {
    let newer = attribute(name, of);
    tfplugin5::Attribute {
        name: newer.name,
        r#type: type_json(&of.shape.implied_type()),
        description: newer.description,
        required: newer.required,
        optional: newer.optional,
        computed: newer.computed,
        sensitive: newer.sensitive || of.shape.any_attribute(|inner| inner.secret),
        description_kind: newer.description_kind,
        deprecated: newer.deprecated,
        write_only: newer.write_only,
    }
}

fn older_nested(name: &SmolStr, of: &NestedBlock) -> tfplugin5::NestedBlock {
    let newer = nested(name, of);
    tfplugin5::NestedBlock {
        type_name: newer.type_name,
        block: Some(older_block(&of.block)),
        nesting: newer.nesting,
        min_items: newer.min_items,
        max_items: newer.max_items,
    }
}
