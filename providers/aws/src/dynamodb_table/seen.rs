//! A table as it is found.

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{Error, Result};

use super::schema::{AttributeDefinition, KeyElement, Projection, StreamSpecification, Throughput, keys};
use super::{Capacity, GlobalIndex, KeyType, StreamView, TableOutput};
use crate::failure::cannot_see;
use crate::settings::Aws;
use crate::tags::{self, Tag, Tags};

/// A table, and whether it can be changed now.
pub(super) struct SeenTable {
    pub(super) output: TableOutput,
    /// Something is still being done to it.
    pub(super) is_busy: bool,
    /// It is being deleted.
    pub(super) is_going: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TableAnswer {
    table: Option<TableDescription>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TableDescription {
    table_name: String,
    table_arn: String,
    table_status: String,
    latest_stream_arn: Option<String>,
    key_schema: Vec<KeyElement>,
    attribute_definitions: Vec<AttributeDefinition>,
    global_secondary_indexes: Vec<IndexDescription>,
    billing_mode_summary: BillingModeSummary,
    provisioned_throughput: Throughput,
    stream_specification: StreamSpecification,
    deletion_protection_enabled: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct IndexDescription {
    index_name: String,
    index_status: String,
    key_schema: Vec<KeyElement>,
    projection: Projection,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct BillingModeSummary {
    billing_mode: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TimeToLiveAnswer {
    time_to_live_description: TimeToLiveDescription,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TimeToLiveDescription {
    time_to_live_status: String,
    attribute_name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct TagsAnswer {
    tags: Vec<Tag>,
}

/// The table of this name.
pub(super) async fn table(aws: &Aws, name: &str) -> Result<SeenTable> {
    let described = aws.dynamodb.call("DescribeTable", json!({ "TableName": name })).await;
    let TableAnswer { table } = described.map_err(cannot_see(format!("the table `{name}`")))?;
    let table = table.ok_or_else(|| Error::not_found(format!("there is no table `{name}`")))?;
    let is_going = table.table_status == "DELETING";
    let is_unready = |status: &str| !matches!(status, "" | "ACTIVE");
    let indexes_are_busy = table.global_secondary_indexes.iter().any(|index| is_unready(&index.index_status));
    let ttl_attribute = if is_going { None } else { time_to_live(aws, name).await? };
    let tags_all = if is_going { Tags::new() } else { see_tags(aws, name, &table.table_arn).await? };
    let is_busy = table.table_status != "ACTIVE" || indexes_are_busy;
    Ok(SeenTable { output: output(table, ttl_attribute, tags_all), is_busy, is_going })
}

fn output(table: TableDescription, ttl_attribute: Option<String>, tags_all: Tags) -> TableOutput {
    let (hash_key, range_key) = keys(&table.key_schema);
    let capacity = capacity(&table);
    let definitions = table.attribute_definitions.into_iter();
    let indexes = table.global_secondary_indexes.into_iter().map(|index| {
        let seen = GlobalIndex::seen(&index.key_schema, &index.projection);
        (index.index_name, seen)
    });
    let stream = StreamView::seen(&table.stream_specification);
    TableOutput {
        name: table.table_name,
        arn: table.table_arn,
        stream_arn: table.latest_stream_arn.filter(|_| stream.is_some()),
        hash_key,
        range_key,
        key_types: definitions.map(|it| (it.attribute_name, KeyType::seen(&it.attribute_type))).collect(),
        global_indexes: indexes.collect(),
        capacity,
        ttl_attribute,
        stream,
        deletion_protection: table.deletion_protection_enabled,
        tags_all,
    }
}

/// The capacity, unless each request is paid for.
fn capacity(table: &TableDescription) -> Option<Capacity> {
    let units = |units: i64| u64::try_from(units).unwrap_or(0);
    let provisioned = &table.provisioned_throughput;
    let capacity = Capacity {
        read: units(provisioned.read_capacity_units),
        write: units(provisioned.write_capacity_units),
    };
    // A table that was never paid by request does not say how it is paid.
    (table.billing_mode_summary.billing_mode != "PAY_PER_REQUEST" && capacity.read > 0).then_some(capacity)
}

/// The attribute that tells when items expire. A change of it takes up to an hour, during which the table can be used and
/// changed otherwise.
async fn time_to_live(aws: &Aws, name: &str) -> Result<Option<String>> {
    let seen = aws.dynamodb.call("DescribeTimeToLive", json!({ "TableName": name })).await;
    let TimeToLiveAnswer { time_to_live_description: seen } =
        seen.map_err(cannot_see(format!("when items of the table `{name}` expire")))?;
    let on = matches!(seen.time_to_live_status.as_str(), "ENABLED" | "ENABLING");
    Ok(seen.attribute_name.filter(|_| on))
}

async fn see_tags(aws: &Aws, name: &str, arn: &str) -> Result<Tags> {
    let seen = aws.dynamodb.call("ListTagsOfResource", json!({ "ResourceArn": arn })).await;
    let TagsAnswer { tags } = seen.map_err(cannot_see(format!("the tags of the table `{name}`")))?;
    Ok(tags::seen_in(tags))
}
