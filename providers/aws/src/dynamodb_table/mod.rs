//! `awsn_dynamodb_table`: a table of items, with its indexes.
//!
//! A table takes one change at a time and is busy for a while after each. So a reconcile makes the next change that is
//! missing, says that the table is pending while it is busy, and goes on from there when it is called again.

mod changes;
mod schema;
mod seen;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use trueup_core::Value;
use trueup_provider::{
    Context, Converge, Current, Diff, Error, FieldType, Inputs, NameRules, Outputs, Ownership, PlanHook,
    Recovery, Result, Sightings, Traits,
};

use crate::failure::{cannot, if_found};
use crate::settings::Aws;
use crate::tags::{self, Tags};
use seen::SeenTable;

/// How long to wait before looking again at a table that is busy.
const BUSY_DELAY: Duration = Duration::from_secs(2);

/// A table of items.
#[derive(Inputs, Clone)]
pub struct Table {
    /// Its name. If it is left out, one is made of stack, stage and address. Another name makes another table.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9_.-]{3,255}$")]
    name: Option<String>,
    /// The attribute by which items are found. Another one makes another table.
    #[trueup(replace)]
    hash_key: String,
    /// The attribute by which items of one `hash_key` are ordered. Another one makes another table.
    #[trueup(replace)]
    range_key: Option<String>,
    /// The types of the attributes that are keys, of the table or of an index: `S`, `N` or `B`. An attribute that is a
    /// key and not named here is a text, `S`.
    #[trueup(default)]
    key_types: BTreeMap<String, KeyType>,
    /// Indexes by other keys.
    #[trueup(default)]
    global_indexes: BTreeMap<String, GlobalIndex>,
    /// Units per second that are paid for whether they are used or not. If it is left out, each request is paid for.
    capacity: Option<Capacity>,
    /// The attribute that says when an item expires, in seconds since 1970.
    ttl_attribute: Option<String>,
    /// What a stream of changes tells of each. If it is left out, there is no stream.
    stream: Option<StreamView>,
    /// Whether the table can be deleted only after this is taken away.
    #[trueup(default)]
    deletion_protection: bool,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// The type of an attribute that is a key.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyType {
    /// A text.
    #[trueup(rename = "S")]
    Text,
    /// A number.
    #[trueup(rename = "N")]
    Number,
    /// Bytes.
    #[trueup(rename = "B")]
    Bytes,
}

/// An index by another key.
#[derive(FieldType, Clone, PartialEq, Eq, Debug)]
pub struct GlobalIndex {
    /// The attribute by which items are found.
    hash_key: String,
    /// The attribute by which items of one `hash_key` are ordered.
    range_key: Option<String>,
    /// The attributes that the index holds besides the keys. If it is left out, all of them.
    attributes: Option<Vec<String>>,
}

/// Units per second.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Of reading.
    #[trueup(range(min = 1))]
    read: u64,
    /// Of writing.
    #[trueup(range(min = 1))]
    write: u64,
}

/// What a stream tells of each change.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamView {
    /// The keys.
    #[trueup(rename = "KEYS_ONLY")]
    Keys,
    /// The item as it is now.
    #[trueup(rename = "NEW_IMAGE")]
    New,
    /// The item as it was.
    #[trueup(rename = "OLD_IMAGE")]
    Old,
    /// Both.
    #[trueup(rename = "NEW_AND_OLD_IMAGES")]
    Both,
}

/// A table as it is.
#[derive(Outputs, Clone, Debug)]
pub struct TableOutput {
    /// Its name.
    #[trueup(identity, stable)]
    name: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// The ARN of its stream of changes, if it has one: another one each time it begins.
    #[trueup(informational)]
    stream_arn: Option<String>,
    /// The attribute by which items are found.
    #[trueup(mirrors = "hash_key")]
    hash_key: String,
    /// The attribute by which items of one `hash_key` are ordered.
    #[trueup(mirrors = "range_key")]
    range_key: Option<String>,
    /// The types of all keys.
    key_types: BTreeMap<String, KeyType>,
    /// Indexes by other keys.
    #[trueup(mirrors = "global_indexes")]
    global_indexes: BTreeMap<String, GlobalIndex>,
    /// Units per second.
    #[trueup(mirrors = "capacity")]
    capacity: Option<Capacity>,
    /// The attribute that says when an item expires.
    #[trueup(mirrors = "ttl_attribute")]
    ttl_attribute: Option<String>,
    /// What the stream tells.
    #[trueup(mirrors = "stream")]
    stream: Option<StreamView>,
    /// Whether it cannot be deleted.
    #[trueup(mirrors = "deletion_protection")]
    deletion_protection: bool,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

impl Table {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    /// Makes one change after another, until nothing is missing or the table is busy with the last.
    async fn advance(&self, context: &Context<Aws>, mut seen: SeenTable) -> Result<TableOutput> {
        let aws = context.config();
        if seen.is_busy {
            return Err(busy(&seen.output));
        }
        self.tag(context, &seen.output).await.map_err(|error| error.with_partial(&seen.output))?;
        while let Some(change) = self.next_change(&seen.output) {
            context.report_progress(&change.to_string());
            change.make(aws, &seen.output.name).await.map_err(|error| error.with_partial(&seen.output))?;
            seen = seen::table(aws, &seen.output.name).await?;
            if seen.is_busy {
                return Err(busy(&seen.output));
            }
        }
        Ok(seen::table(aws, &seen.output.name).await?.output)
    }

    /// Refuses what no change in place can bring about.
    fn check_keys(&self, seen: &TableOutput) -> Result<()> {
        let same_keys = (&self.hash_key, &self.range_key) == (&seen.hash_key, &seen.range_key);
        if same_keys && seen.has_keys_of(&self.key_types) {
            return Ok(());
        }
        Err(Error::conflict(format!("the table `{}` has other keys, which cannot be changed", seen.name))
            .hint("plan again: it will be replaced"))
    }

    async fn tag(&self, context: &Context<Aws>, seen: &TableOutput) -> Result<()> {
        let (dynamodb, arn, what) =
            (&context.config().dynamodb, &seen.arn, format!("the table `{}`", seen.name));
        let set = |tags: Tags| {
            dynamodb.send("TagResource", json!({ "ResourceArn": arn, "Tags": tags::listed(tags) }))
        };
        let remove = |keys: Vec<String>| {
            dynamodb.send("UntagResource", json!({ "ResourceArn": arn, "TagKeys": keys }))
        };
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

impl TableOutput {
    /// Whether its own keys are of the types that a program gives keys.
    fn has_keys_of(&self, wanted: &BTreeMap<String, KeyType>) -> bool {
        let mut keys = [Some(&self.hash_key), self.range_key.as_ref()].into_iter().flatten();
        keys.all(|key| KeyType::of(key, &self.key_types) == KeyType::of(key, wanted))
    }
}

/// Why a table has to be looked at again, and what is known of it.
fn busy(seen: &TableOutput) -> Error {
    let message = format!("the table `{}` is not ready yet", seen.name);
    Error::pending(Some(BUSY_DELAY), Value::NULL, message).with_partial(seen)
}

impl Converge for Table {
    type Output = TableOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(128), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<Aws>, current: &Current<Self>) -> Result<TableOutput> {
        let aws = context.config();
        let name = current.output.as_ref().map_or_else(|| self.name(context), |output| output.name.clone());
        let mut seen = match if_found(seen::table(aws, &name).await)? {
            Some(seen) => seen,
            None => {
                self.create(context, &name).await?;
                seen::table(aws, &name).await?
            }
        };
        let ownership = tags::recognise(context, &mut seen.output.tags_all);
        if current.output.is_none() && ownership == Ownership::Unowned {
            return Err(Error::already_exists(format!("the table `{name}` exists already")));
        }
        self.check_keys(&seen.output)?;
        self.advance(context, seen).await
    }

    async fn read(
        &self,
        context: &Context<Aws>,
        prior: Option<&TableOutput>,
    ) -> Result<Sightings<TableOutput>> {
        let name = prior.map_or_else(|| self.name(context), |prior| prior.name.clone());
        let mut seen = seen::table(context.config(), &name).await?;
        if seen.is_going {
            return Ok(Sightings::absent());
        }
        if prior.is_some() {
            return Ok(Sightings::owned(seen.output));
        }
        let ownership = tags::recognise(context, &mut seen.output.tags_all);
        Ok(Sightings::recognised(seen.output, ownership))
    }

    async fn delete(&self, context: &Context<Aws>, output: &TableOutput) -> Result<()> {
        let (aws, name) = (context.config(), &output.name);
        let seen = seen::table(aws, name).await?;
        let going =
            || Error::pending(Some(BUSY_DELAY), Value::NULL, format!("the table `{name}` is being deleted"));
        if seen.is_going {
            return Err(going());
        }
        tags::ensure_owned(context, &seen.output.tags_all, &format!("the table `{name}`"))?;
        if seen.output.deletion_protection {
            return Err(Error::conflict(format!("the table `{name}` is protected from deletion"))
                .hint("set `deletion_protection = false` and deploy, then delete it"));
        }
        let deleted = aws.dynamodb.send("DeleteTable", json!({ "TableName": name })).await;
        deleted.map_err(cannot(format!("delete the table `{name}`")))?;
        // Its name is free once it is gone.
        match if_found(seen::table(aws, name).await)? {
            None => Ok(()),
            Some(_) => Err(going()),
        }
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let Some(prior) = &request.prior else { return Ok(()) };
        if request.current.key_types.known().is_some_and(|types| !prior.outputs.has_keys_of(types)) {
            plan.replace("key_types");
        }
        if prior.inputs.is_some() {
            return Ok(());
        }
        // An adopted table has no inputs to compare: what it is tells as much.
        if request.current.hash_key.known().is_some_and(|key| *key != prior.outputs.hash_key) {
            plan.replace("hash_key");
        } else if request.current.range_key.known().is_some_and(|key| *key != prior.outputs.range_key) {
            plan.replace("range_key");
        }
        Ok(())
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<TableOutput> {
        let name = id.rsplit('/').next().unwrap_or(id);
        seen::table(context.config(), name).await.map(|seen| seen.output)
    }
}
