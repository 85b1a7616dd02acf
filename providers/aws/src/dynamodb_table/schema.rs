//! Keys, indexes and capacities in the form that DynamoDB takes.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, KeySchemaElement, KeyType as KeyRole, Projection, ProjectionType,
    ProvisionedThroughput, ScalarAttributeType, StreamSpecification, StreamViewType, Tag,
};
use trueup_provider::{Error, Result};

use super::{Capacity, GlobalIndex, KeyType, StreamView, Table};
use crate::tags::Tags;

impl Table {
    /// All attributes that are keys, of the table or of these indexes. DynamoDB takes these and no others.
    pub(super) fn definitions<'a>(
        &'a self,
        indexes: impl IntoIterator<Item = &'a GlobalIndex>,
    ) -> Result<Vec<AttributeDefinition>> {
        let of_indexes =
            indexes.into_iter().flat_map(|index| [Some(&index.hash_key), index.range_key.as_ref()]);
        let keys = [Some(&self.hash_key), self.range_key.as_ref()].into_iter().chain(of_indexes).flatten();
        let keys: BTreeSet<&String> = keys.collect();
        let definition = |key: &String| {
            let ty = ScalarAttributeType::from(KeyType::of(key, &self.key_types));
            AttributeDefinition::builder().attribute_name(key).attribute_type(ty).build().map_err(Error::from)
        };
        keys.into_iter().map(definition).collect()
    }
}

pub(super) fn key_schema(hash_key: &str, range_key: Option<&String>) -> Result<Vec<KeySchemaElement>> {
    let element = |name: &str, role| {
        KeySchemaElement::builder().attribute_name(name).key_type(role).build().map_err(Error::from)
    };
    let mut keys = vec![element(hash_key, KeyRole::Hash)?];
    if let Some(range_key) = range_key {
        keys.push(element(range_key, KeyRole::Range)?);
    }
    Ok(keys)
}

/// The hash key and the range key of a schema.
pub(super) fn keys(schema: &[KeySchemaElement]) -> (String, Option<String>) {
    let of = |role| schema.iter().find(|it| *it.key_type() == role).map(|it| it.attribute_name().to_owned());
    (of(KeyRole::Hash).unwrap_or_default(), of(KeyRole::Range))
}

impl GlobalIndex {
    pub(super) fn projection(&self) -> Projection {
        let builder = Projection::builder();
        match &self.attributes {
            None => builder.projection_type(ProjectionType::All).build(),
            Some(attributes) if attributes.is_empty() => {
                builder.projection_type(ProjectionType::KeysOnly).build()
            }
            Some(attributes) => builder
                .projection_type(ProjectionType::Include)
                .set_non_key_attributes(Some(attributes.clone()))
                .build(),
        }
    }

    pub(super) fn seen(schema: &[KeySchemaElement], projection: Option<&Projection>) -> Self {
        let (hash_key, range_key) = keys(schema);
        let attributes = projection.and_then(|projection| match projection.projection_type()? {
            ProjectionType::All => None,
            ProjectionType::KeysOnly => Some(Vec::new()),
            _ => Some(projection.non_key_attributes().to_vec()),
        });
        GlobalIndex { hash_key, range_key, attributes }
    }
}

impl Capacity {
    pub(super) fn throughput(self) -> Result<ProvisionedThroughput> {
        let units = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let builder = ProvisionedThroughput::builder();
        builder
            .read_capacity_units(units(self.read))
            .write_capacity_units(units(self.write))
            .build()
            .map_err(Error::from)
    }
}

impl From<KeyType> for ScalarAttributeType {
    fn from(ty: KeyType) -> Self {
        match ty {
            KeyType::Text => ScalarAttributeType::S,
            KeyType::Number => ScalarAttributeType::N,
            KeyType::Bytes => ScalarAttributeType::B,
        }
    }
}

impl KeyType {
    /// The type of an attribute that is a key: a text, unless something else is said.
    pub(super) fn of(attribute: &str, types: &BTreeMap<String, KeyType>) -> Self {
        types.get(attribute).copied().unwrap_or(KeyType::Text)
    }

    pub(super) fn seen(ty: &ScalarAttributeType) -> Self {
        match ty {
            ScalarAttributeType::N => KeyType::Number,
            ScalarAttributeType::B => KeyType::Bytes,
            _ => KeyType::Text,
        }
    }
}

impl StreamView {
    /// A stream that tells this, or none.
    pub(super) fn specification(view: Option<StreamView>) -> Result<StreamSpecification> {
        let builder = StreamSpecification::builder().stream_enabled(view.is_some());
        let view = view.map(|view| match view {
            StreamView::Keys => StreamViewType::KeysOnly,
            StreamView::New => StreamViewType::NewImage,
            StreamView::Old => StreamViewType::OldImage,
            StreamView::Both => StreamViewType::NewAndOldImages,
        });
        builder.set_stream_view_type(view).build().map_err(Error::from)
    }

    pub(super) fn seen(specification: &StreamSpecification) -> Option<Self> {
        match specification.stream_view_type().filter(|_| specification.stream_enabled())? {
            StreamViewType::KeysOnly => Some(StreamView::Keys),
            StreamViewType::NewImage => Some(StreamView::New),
            StreamViewType::OldImage => Some(StreamView::Old),
            _ => Some(StreamView::Both),
        }
    }
}

/// Tags in the form that this service takes.
pub(super) fn tag_list(tags: Tags) -> Vec<Tag> {
    let tag = |(key, value)| Tag::builder().key(key).value(value).build().expect("both parts are given");
    tags.into_iter().map(tag).collect()
}
