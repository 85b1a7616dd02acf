//! Keys, indexes and capacities in the form that DynamoDB takes and gives them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Capacity, GlobalIndex, KeyType, StreamView, Table};

/// An attribute that is a key, and its type.
#[derive(Serialize, Deserialize, Clone, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct AttributeDefinition {
    pub(super) attribute_name: String,
    pub(super) attribute_type: String,
}

/// A key of a table or of an index.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct KeyElement {
    attribute_name: String,
    key_type: String,
}

/// The attributes that an index holds.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Projection {
    projection_type: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    non_key_attributes: Vec<String>,
}

/// Units per second, of reading and of writing.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Throughput {
    pub(super) read_capacity_units: i64,
    pub(super) write_capacity_units: i64,
}

/// The stream of a table, if it is enabled.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct StreamSpecification {
    stream_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_view_type: Option<String>,
}

impl Table {
    /// All attributes that are keys, of the table or of these indexes. DynamoDB takes these and no others.
    pub(super) fn definitions<'a>(
        &'a self,
        indexes: impl IntoIterator<Item = &'a GlobalIndex>,
    ) -> Vec<AttributeDefinition> {
        let of_indexes =
            indexes.into_iter().flat_map(|index| [Some(&index.hash_key), index.range_key.as_ref()]);
        let keys = [Some(&self.hash_key), self.range_key.as_ref()].into_iter().chain(of_indexes).flatten();
        let keys: BTreeSet<&String> = keys.collect();
        let definition = |key: &String| AttributeDefinition {
            attribute_name: key.clone(),
            attribute_type: KeyType::of(key, &self.key_types).name().to_owned(),
        };
        keys.into_iter().map(definition).collect()
    }
}

pub(super) fn key_schema(hash_key: &str, range_key: Option<&String>) -> Vec<KeyElement> {
    let element =
        |name: &str, role: &str| KeyElement { attribute_name: name.to_owned(), key_type: role.to_owned() };
    let hash = element(hash_key, "HASH");
    [Some(hash), range_key.map(|key| element(key, "RANGE"))].into_iter().flatten().collect()
}

/// The hash key and the range key of a schema.
pub(super) fn keys(schema: &[KeyElement]) -> (String, Option<String>) {
    let of = |role| schema.iter().find(|it| it.key_type == role).map(|it| it.attribute_name.clone());
    (of("HASH").unwrap_or_default(), of("RANGE"))
}

impl GlobalIndex {
    /// The index as it is created, paid as its table is.
    pub(super) fn created(&self, name: &str, capacity: Option<Capacity>) -> Value {
        json!({
            "IndexName": name,
            "KeySchema": key_schema(&self.hash_key, self.range_key.as_ref()),
            "Projection": self.projection(),
            "ProvisionedThroughput": capacity.map(Capacity::throughput),
        })
    }

    fn projection(&self) -> Projection {
        let projection_type = match &self.attributes {
            None => "ALL",
            Some(attributes) if attributes.is_empty() => "KEYS_ONLY",
            Some(_) => "INCLUDE",
        };
        Projection {
            projection_type: projection_type.to_owned(),
            non_key_attributes: self.attributes.clone().unwrap_or_default(),
        }
    }

    pub(super) fn seen(schema: &[KeyElement], projection: &Projection) -> Self {
        let (hash_key, range_key) = keys(schema);
        let attributes = match projection.projection_type.as_str() {
            "" | "ALL" => None,
            "KEYS_ONLY" => Some(Vec::new()),
            _ => Some(projection.non_key_attributes.clone()),
        };
        GlobalIndex { hash_key, range_key, attributes }
    }
}

impl Capacity {
    pub(super) fn throughput(self) -> Throughput {
        let units = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Throughput { read_capacity_units: units(self.read), write_capacity_units: units(self.write) }
    }
}

impl KeyType {
    /// The type of an attribute that is a key: a text, unless something else is said.
    pub(super) fn of(attribute: &str, types: &BTreeMap<String, KeyType>) -> Self {
        types.get(attribute).copied().unwrap_or(KeyType::Text)
    }

    fn name(self) -> &'static str {
        match self {
            KeyType::Text => "S",
            KeyType::Number => "N",
            KeyType::Bytes => "B",
        }
    }

    pub(super) fn seen(name: &str) -> Self {
        match name {
            "N" => KeyType::Number,
            "B" => KeyType::Bytes,
            _ => KeyType::Text,
        }
    }
}

impl StreamView {
    /// A stream that tells this, or none.
    pub(super) fn specification(view: Option<StreamView>) -> StreamSpecification {
        let name = view.map(|view| match view {
            StreamView::Keys => "KEYS_ONLY",
            StreamView::New => "NEW_IMAGE",
            StreamView::Old => "OLD_IMAGE",
            StreamView::Both => "NEW_AND_OLD_IMAGES",
        });
        StreamSpecification { stream_enabled: name.is_some(), stream_view_type: name.map(ToOwned::to_owned) }
    }

    pub(super) fn seen(specification: &StreamSpecification) -> Option<Self> {
        let view = specification.stream_view_type.as_deref().filter(|_| specification.stream_enabled)?;
        Some(match view {
            "KEYS_ONLY" => StreamView::Keys,
            "NEW_IMAGE" => StreamView::New,
            "OLD_IMAGE" => StreamView::Old,
            _ => StreamView::Both,
        })
    }
}
