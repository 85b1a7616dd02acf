//! A table as it is found.

use aws_sdk_dynamodb::types::{BillingMode, IndexStatus, TableDescription, TableStatus, TimeToLiveStatus};
use trueup_provider::{Error, Result};

use super::schema::keys;
use super::{Capacity, GlobalIndex, KeyType, StreamView, TableOutput};
use crate::failure::cannot_see;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// A table, and whether it can be changed now.
pub(super) struct SeenTable {
    pub(super) output: TableOutput,
    /// Something is still being done to it.
    pub(super) is_busy: bool,
    /// It is being deleted.
    pub(super) is_going: bool,
}

/// The table of this name.
pub(super) async fn table(aws: &Aws, name: &str) -> Result<SeenTable> {
    let what = format!("the table `{name}`");
    let described = aws.dynamodb.describe_table().table_name(name).send().await;
    let described = described.map_err(cannot_see(&what))?.table;
    let table = described.ok_or_else(|| Error::not_found(format!("there is no table `{name}`")))?;
    let is_going = table.table_status() == Some(&TableStatus::Deleting);
    let index_is_busy =
        |status: Option<&IndexStatus>| status.is_some_and(|status| *status != IndexStatus::Active);
    let indexes_are_busy =
        table.global_secondary_indexes().iter().any(|index| index_is_busy(index.index_status()));
    let (ttl_attribute, ttl_is_busy) = if is_going { (None, false) } else { time_to_live(aws, name).await? };
    let arn = table.table_arn().unwrap_or_default();
    let tags_all = if is_going { Tags::new() } else { see_tags(aws, name, arn).await? };
    let is_busy = table.table_status() != Some(&TableStatus::Active) || indexes_are_busy || ttl_is_busy;
    Ok(SeenTable { output: output(&table, ttl_attribute, tags_all), is_busy, is_going })
}

fn output(table: &TableDescription, ttl_attribute: Option<String>, tags_all: Tags) -> TableOutput {
    let (hash_key, range_key) = keys(table.key_schema());
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let definitions = table.attribute_definitions().iter();
    let indexes = table.global_secondary_indexes().iter();
    let indexes = indexes
        .map(|index| (text(index.index_name()), GlobalIndex::seen(index.key_schema(), index.projection())));
    let stream = table.stream_specification().and_then(StreamView::seen);
    TableOutput {
        name: text(table.table_name()),
        arn: text(table.table_arn()),
        stream_arn: stream.and_then(|_| table.latest_stream_arn().map(ToOwned::to_owned)),
        hash_key,
        range_key,
        key_types: definitions
            .map(|it| (it.attribute_name().to_owned(), KeyType::seen(it.attribute_type())))
            .collect(),
        global_indexes: indexes.collect(),
        capacity: capacity(table),
        ttl_attribute,
        stream,
        deletion_protection: table.deletion_protection_enabled() == Some(true),
        tags_all,
    }
}

/// The capacity, unless each request is paid for.
fn capacity(table: &TableDescription) -> Option<Capacity> {
    let mode = table.billing_mode_summary().and_then(|summary| summary.billing_mode());
    let provisioned = table.provisioned_throughput()?;
    let units = |units: Option<i64>| units.and_then(|units| u64::try_from(units).ok()).unwrap_or(0);
    let capacity = Capacity {
        read: units(provisioned.read_capacity_units()),
        write: units(provisioned.write_capacity_units()),
    };
    // A table that was never paid by request does not say how it is paid.
    (mode != Some(&BillingMode::PayPerRequest) && capacity.read > 0).then_some(capacity)
}

/// The attribute that tells when items expire, and whether that is being changed.
async fn time_to_live(aws: &Aws, name: &str) -> Result<(Option<String>, bool)> {
    let seen = aws.dynamodb.describe_time_to_live().table_name(name).send().await;
    let seen = seen.map_err(cannot_see(format!("when items of the table `{name}` expire")))?;
    let seen = seen.time_to_live_description;
    let status = seen.as_ref().and_then(|seen| seen.time_to_live_status());
    let on = matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling));
    // The change takes up to an hour, during which the table can be used and changed otherwise.
    let attribute = seen.as_ref().and_then(|seen| seen.attribute_name()).filter(|_| on);
    Ok((attribute.map(ToOwned::to_owned), false))
}

async fn see_tags(aws: &Aws, name: &str, arn: &str) -> Result<Tags> {
    let seen = aws.dynamodb.list_tags_of_resource().resource_arn(arn).send().await;
    let seen = seen.map_err(cannot_see(format!("the tags of the table `{name}`")))?;
    Ok(tags::seen(seen.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value))))
}
