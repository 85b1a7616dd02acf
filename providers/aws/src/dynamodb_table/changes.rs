//! Creating a table, and the changes that bring one to what the program says, one at a time.

use std::fmt;

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, CreateGlobalSecondaryIndexAction, DeleteGlobalSecondaryIndexAction,
    GlobalSecondaryIndex, GlobalSecondaryIndexUpdate, TimeToLiveSpecification,
};
use trueup_provider::{Context, Error, Result};

use super::schema::{key_schema, tag_list};
use super::{Capacity, GlobalIndex, StreamView, Table, TableOutput};
use crate::failure::cannot;
use crate::settings::Aws;
use crate::tags;

/// One change of a table.
pub(super) enum Change {
    Billing(Option<Capacity>),
    Stream(Option<StreamView>),
    Protection(bool),
    DropIndex(String),
    AddIndex {
        name: String,
        index: GlobalIndex,
        definitions: Vec<AttributeDefinition>,
        capacity: Option<Capacity>,
    },
    Expiry {
        attribute: String,
        on: bool,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Billing(_) => f.write_str("changing how it is paid"),
            Change::Stream(None) => f.write_str("ending its stream"),
            Change::Stream(Some(_)) => f.write_str("beginning its stream"),
            Change::Protection(_) => f.write_str("changing its protection"),
            Change::DropIndex(name) => write!(f, "dropping the index `{name}`"),
            Change::AddIndex { name, .. } => write!(f, "adding the index `{name}`"),
            Change::Expiry { .. } => f.write_str("changing when its items expire"),
        }
    }
}

impl Table {
    /// The next change that is missing.
    pub(super) fn next_change(&self, seen: &TableOutput) -> Result<Option<Change>> {
        if self.deletion_protection != seen.deletion_protection {
            return Ok(Some(Change::Protection(self.deletion_protection)));
        }
        if self.capacity != seen.capacity {
            return Ok(Some(Change::Billing(self.capacity)));
        }
        if self.stream != seen.stream {
            // A stream cannot be changed: the old one ends, another begins.
            return Ok(Some(Change::Stream(self.stream.filter(|_| seen.stream.is_none()))));
        }
        let stale =
            seen.global_indexes.iter().find(|(name, index)| self.global_indexes.get(*name) != Some(index));
        if let Some((name, _)) = stale {
            return Ok(Some(Change::DropIndex(name.clone())));
        }
        let missing = self.global_indexes.iter().find(|(name, _)| !seen.global_indexes.contains_key(*name));
        if let Some((name, index)) = missing {
            let (name, index, capacity) = (name.clone(), index.clone(), self.capacity);
            return Ok(Some(Change::AddIndex { name, index, definitions: self.definitions()?, capacity }));
        }
        Ok(match (&self.ttl_attribute, &seen.ttl_attribute) {
            (wanted, seen) if wanted == seen => None,
            // Another attribute only after the old one is off.
            (_, Some(seen)) => Some(Change::Expiry { attribute: seen.clone(), on: false }),
            (Some(wanted), None) => Some(Change::Expiry { attribute: wanted.clone(), on: true }),
            (None, None) => None,
        })
    }

    pub(super) async fn create(&self, context: &Context<Aws>, name: &str) -> Result<()> {
        let indexes: Result<Vec<GlobalSecondaryIndex>> =
            self.global_indexes.iter().map(|(name, index)| index.created(name, self.capacity)).collect();
        let indexes = Some(indexes?).filter(|indexes| !indexes.is_empty());
        let tags = tag_list(tags::wanted(context, &self.tags));
        let mut creating = context
            .config()
            .dynamodb
            .create_table()
            .table_name(name)
            .set_attribute_definitions(Some(self.definitions()?))
            .set_key_schema(Some(key_schema(&self.hash_key, self.range_key.as_ref())?))
            .set_global_secondary_indexes(indexes)
            .deletion_protection_enabled(self.deletion_protection)
            .billing_mode(billing_mode(self.capacity))
            .set_tags(Some(tags));
        if let Some(capacity) = self.capacity {
            creating = creating.provisioned_throughput(capacity.throughput()?);
        }
        if self.stream.is_some() {
            creating = creating.stream_specification(StreamView::specification(self.stream)?);
        }
        creating.send().await.map_err(cannot(format!("create the table `{name}`"))).map(|_| ())
    }
}

fn billing_mode(capacity: Option<Capacity>) -> BillingMode {
    if capacity.is_some() { BillingMode::Provisioned } else { BillingMode::PayPerRequest }
}

impl GlobalIndex {
    fn created(&self, name: &str, capacity: Option<Capacity>) -> Result<GlobalSecondaryIndex> {
        let builder = GlobalSecondaryIndex::builder()
            .index_name(name)
            .set_key_schema(Some(key_schema(&self.hash_key, self.range_key.as_ref())?))
            .projection(self.projection())
            .set_provisioned_throughput(capacity.map(Capacity::throughput).transpose()?);
        builder.build().map_err(Error::from)
    }
}

impl Change {
    pub(super) async fn make(&self, aws: &Aws, table: &str) -> Result<()> {
        let doing = format!("change the table `{table}` ({self})");
        if let Change::Expiry { attribute, on } = self {
            let specification =
                TimeToLiveSpecification::builder().attribute_name(attribute).enabled(*on).build()?;
            let updating = aws.dynamodb.update_time_to_live().table_name(table);
            let updated = updating.time_to_live_specification(specification).send().await;
            return updated.map_err(cannot(doing)).map(|_| ());
        }
        let updating = aws.dynamodb.update_table().table_name(table);
        let updating = match self {
            Change::Billing(capacity) => updating
                .billing_mode(billing_mode(*capacity))
                .set_provisioned_throughput(capacity.map(Capacity::throughput).transpose()?),
            Change::Stream(view) => updating.stream_specification(StreamView::specification(*view)?),
            Change::Protection(on) => updating.deletion_protection_enabled(*on),
            Change::DropIndex(name) => {
                let delete = DeleteGlobalSecondaryIndexAction::builder().index_name(name).build()?;
                updating.global_secondary_index_updates(
                    GlobalSecondaryIndexUpdate::builder().delete(delete).build(),
                )
            }
            Change::AddIndex { name, index, definitions, capacity } => {
                let create = CreateGlobalSecondaryIndexAction::builder()
                    .index_name(name)
                    .set_key_schema(Some(key_schema(&index.hash_key, index.range_key.as_ref())?))
                    .projection(index.projection())
                    .set_provisioned_throughput(capacity.map(Capacity::throughput).transpose()?)
                    .build()?;
                updating.set_attribute_definitions(Some(definitions.clone())).global_secondary_index_updates(
                    GlobalSecondaryIndexUpdate::builder().create(create).build(),
                )
            }
            // Above.
            Change::Expiry { .. } => updating,
        };
        updating.send().await.map_err(cannot(doing)).map(|_| ())
    }
}
