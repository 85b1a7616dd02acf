//! Creating a table, and the changes that bring one to what the program says, one at a time.

use std::fmt;

use serde_json::{Value, json};
use trueup_provider::{Context, Result};

use super::schema::{AttributeDefinition, key_schema};
use super::{Capacity, GlobalIndex, KeyType, StreamView, Table, TableOutput};
use crate::failure::cannot;
use crate::settings::Aws;
use crate::tags;

/// One change of a table.
pub(super) enum Change {
    /// Indexes are paid as their table is, and have to be told so, each.
    Billing {
        capacity: Option<Capacity>,
        indexes: Vec<String>,
    },
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
            Change::Billing { .. } => f.write_str("changing how it is paid"),
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
    pub(super) fn next_change(&self, seen: &TableOutput) -> Option<Change> {
        if self.deletion_protection != seen.deletion_protection {
            return Some(Change::Protection(self.deletion_protection));
        }
        if self.capacity != seen.capacity {
            let indexes = seen.global_indexes.keys().cloned().collect();
            return Some(Change::Billing { capacity: self.capacity, indexes });
        }
        if self.stream != seen.stream {
            // A stream cannot be changed: the old one ends, another begins.
            return Some(Change::Stream(self.stream.filter(|_| seen.stream.is_none())));
        }
        let is_stale = |name: &str, index: &GlobalIndex| {
            let mut keys = [Some(&index.hash_key), index.range_key.as_ref()].into_iter().flatten();
            self.global_indexes.get(name) != Some(index)
                || keys.any(|key| KeyType::of(key, &self.key_types) != KeyType::of(key, &seen.key_types))
        };
        let stale = seen.global_indexes.iter().find(|(name, index)| is_stale(name, index));
        if let Some((name, _)) = stale {
            return Some(Change::DropIndex(name.clone()));
        }
        let missing = self.global_indexes.iter().find(|(name, _)| !seen.global_indexes.contains_key(*name));
        if let Some((name, index)) = missing {
            // Those that come later have to wait: what no key uses yet is refused.
            let definitions = self.definitions(seen.global_indexes.values().chain([index]));
            let (name, index, capacity) = (name.clone(), index.clone(), self.capacity);
            return Some(Change::AddIndex { name, index, definitions, capacity });
        }
        match (&self.ttl_attribute, &seen.ttl_attribute) {
            (wanted, seen) if wanted == seen => None,
            // Another attribute only after the old one is off.
            (_, Some(seen)) => Some(Change::Expiry { attribute: seen.clone(), on: false }),
            (Some(wanted), None) => Some(Change::Expiry { attribute: wanted.clone(), on: true }),
            (None, None) => None,
        }
    }

    pub(super) async fn create(&self, context: &Context<Aws>, name: &str) -> Result<()> {
        let indexes = self.global_indexes.iter();
        let indexes: Vec<Value> = indexes.map(|(name, index)| index.created(name, self.capacity)).collect();
        let input = json!({
            "TableName": name,
            "AttributeDefinitions": self.definitions(self.global_indexes.values()),
            "KeySchema": key_schema(&self.hash_key, self.range_key.as_ref()),
            "GlobalSecondaryIndexes": Some(indexes).filter(|indexes| !indexes.is_empty()),
            "DeletionProtectionEnabled": self.deletion_protection,
            "BillingMode": billing_mode(self.capacity),
            "ProvisionedThroughput": self.capacity.map(Capacity::throughput),
            "StreamSpecification": self.stream.map(|view| StreamView::specification(Some(view))),
            "Tags": tags::listed(tags::wanted(context, &self.tags)),
        });
        let created = context.config().dynamodb.send("CreateTable", input).await;
        created.map_err(cannot(format!("create the table `{name}`")))
    }
}

fn billing_mode(capacity: Option<Capacity>) -> &'static str {
    if capacity.is_some() { "PROVISIONED" } else { "PAY_PER_REQUEST" }
}

impl Change {
    pub(super) async fn make(&self, aws: &Aws, table: &str) -> Result<()> {
        let (operation, input) = self.call(table);
        let doing = format!("change the table `{table}` ({self})");
        aws.dynamodb.send(operation, input).await.map_err(cannot(doing))
    }

    /// The operation that makes the change, and its input.
    fn call(&self, table: &str) -> (&'static str, Value) {
        let input = match self {
            Change::Expiry { attribute, on } => {
                let specification = json!({ "AttributeName": attribute, "Enabled": on });
                let input = json!({ "TableName": table, "TimeToLiveSpecification": specification });
                return ("UpdateTimeToLive", input);
            }
            Change::Billing { capacity, indexes } => {
                let throughput = capacity.map(Capacity::throughput);
                let of_indexes = throughput.iter().flat_map(|it| indexes.iter().map(move |name| (name, it)));
                let of_indexes = of_indexes.map(|(name, throughput)| {
                    json!({ "Update": { "IndexName": name, "ProvisionedThroughput": throughput } })
                });
                let of_indexes: Vec<Value> = of_indexes.collect();
                json!({
                    "TableName": table,
                    "BillingMode": billing_mode(*capacity),
                    "ProvisionedThroughput": throughput,
                    "GlobalSecondaryIndexUpdates": Some(of_indexes).filter(|it| !it.is_empty()),
                })
            }
            Change::Stream(view) => {
                json!({ "TableName": table, "StreamSpecification": StreamView::specification(*view) })
            }
            Change::Protection(on) => json!({ "TableName": table, "DeletionProtectionEnabled": on }),
            Change::DropIndex(name) => json!({
                "TableName": table,
                "GlobalSecondaryIndexUpdates": [{ "Delete": { "IndexName": name } }],
            }),
            Change::AddIndex { name, index, definitions, capacity } => json!({
                "TableName": table,
                "AttributeDefinitions": definitions,
                "GlobalSecondaryIndexUpdates": [{ "Create": index.created(name, *capacity) }],
            }),
        };
        ("UpdateTable", input)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn table(indexes: &[(&str, &str)], capacity: Option<Capacity>) -> Table {
        let index = |key: &str| GlobalIndex { hash_key: key.to_owned(), range_key: None, attributes: None };
        Table {
            name: None,
            hash_key: "id".to_owned(),
            range_key: None,
            key_types: BTreeMap::new(),
            global_indexes: indexes.iter().map(|(name, key)| ((*name).to_owned(), index(key))).collect(),
            capacity,
            ttl_attribute: None,
            stream: None,
            deletion_protection: false,
            tags: BTreeMap::new(),
        }
    }

    /// A table as it was made from what a program says.
    fn seen(made: Table) -> TableOutput {
        TableOutput {
            name: "t".to_owned(),
            arn: String::new(),
            stream_arn: None,
            hash_key: made.hash_key,
            range_key: None,
            key_types: BTreeMap::new(),
            global_indexes: made.global_indexes,
            capacity: made.capacity,
            ttl_attribute: None,
            stream: None,
            deletion_protection: false,
            tags_all: BTreeMap::new(),
        }
    }

    #[test]
    fn an_index_is_added_with_the_keys_in_use_and_no_others() {
        let wanted = table(&[("a", "x"), ("b", "y"), ("c", "z")], None);
        let Some(Change::AddIndex { name, definitions, .. }) =
            wanted.next_change(&seen(table(&[("a", "x")], None)))
        else {
            panic!("an index is missing");
        };
        let keys: Vec<&str> = definitions.iter().map(|it| it.attribute_name.as_str()).collect();
        assert_eq!((name.as_str(), keys), ("b", vec!["id", "x", "y"]));
    }

    #[test]
    fn an_index_whose_key_is_of_another_type_is_made_again() {
        let mut wanted = table(&[("a", "x")], None);
        wanted.key_types.insert("x".to_owned(), KeyType::Number);
        let change = wanted.next_change(&seen(table(&[("a", "x")], None)));
        assert!(matches!(change, Some(Change::DropIndex(name)) if name == "a"));
    }

    #[test]
    fn indexes_are_paid_as_their_table_is() {
        let capacity = Some(Capacity { read: 2, write: 1 });
        let before = seen(table(&[("a", "x"), ("b", "y")], None));
        let Some(Change::Billing { indexes, .. }) =
            table(&[("a", "x"), ("b", "y")], capacity).next_change(&before)
        else {
            panic!("it is paid otherwise");
        };
        assert_eq!(indexes, ["a", "b"]);
    }
}
