//! `awsn_cloudwatch_log_group`: where a function or service writes its log.

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, NameRules, Outputs, PlanHook, Prior, Recovery, Result,
    Sightings, Traits,
};

use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// A group of logs.
#[derive(Inputs, Clone)]
pub struct LogGroup {
    /// Its name, such as `/aws/lambda/jobs`. If it is left out, one is made of stack, stage and address. Another name
    /// makes another group.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9_./#-]{1,512}$")]
    name: Option<String>,
    /// For how many days entries are kept: one of the numbers that CloudWatch knows, or 0 for ever.
    #[trueup(
        default = 0,
        one_of(
            0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
            3288, 3653
        )
    )]
    retention_in_days: u64,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// A group of logs as it is.
#[derive(Outputs, Clone, Default)]
pub struct LogGroupOutput {
    /// Its name.
    #[trueup(identity, stable)]
    name: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// For how many days entries are kept; 0 for ever.
    #[trueup(mirrors = "retention_in_days")]
    retention_in_days: u64,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct LogGroupPage {
    log_groups: Vec<LogGroupDescription>,
    next_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct LogGroupDescription {
    log_group_name: String,
    arn: String,
    retention_in_days: i64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TagsAnswer {
    tags: Tags,
}

impl LogGroup {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    async fn see(aws: &Aws, name: &str) -> Result<LogGroupOutput> {
        let what = format!("the log group `{name}`");
        let group = Self::find(aws, name).await?;
        let group = group.ok_or_else(|| Error::not_found(format!("there is no log group `{name}`")))?;
        let arn = group.arn.strip_suffix(":*").unwrap_or(&group.arn).to_owned();
        let tagged = aws.logs.call("ListTagsForResource", json!({ "resourceArn": arn })).await;
        let TagsAnswer { tags } = tagged.map_err(cannot_see(&what))?;
        let retention_in_days = u64::try_from(group.retention_in_days).unwrap_or(0);
        Ok(LogGroupOutput { name: name.to_owned(), arn, retention_in_days, tags_all: tags::seen(tags) })
    }

    /// There is no call for one group: those that begin with its name are listed.
    async fn find(aws: &Aws, name: &str) -> Result<Option<LogGroupDescription>> {
        let mut next: Option<String> = None;
        loop {
            let input = json!({ "logGroupNamePrefix": name, "nextToken": next });
            let page = aws.logs.call("DescribeLogGroups", input).await;
            let page: LogGroupPage = page.map_err(cannot_see(format!("the log group `{name}`")))?;
            let found = page.log_groups.into_iter().find(|group| group.log_group_name == name);
            next = page.next_token.filter(|token| !token.is_empty());
            if found.is_some() || next.is_none() {
                return Ok(found);
            }
        }
    }

    async fn set_retention(&self, aws: &Aws, name: &str) -> Result<()> {
        let doing = format!("set how long the log group `{name}` keeps its entries");
        match i32::try_from(self.retention_in_days) {
            Ok(days) if days > 0 => {
                let input = json!({ "logGroupName": name, "retentionInDays": days });
                aws.logs.send("PutRetentionPolicy", input).await.map_err(cannot(doing))
            }
            _ => {
                let input = json!({ "logGroupName": name });
                aws.logs.send("DeleteRetentionPolicy", input).await.map_err(cannot(doing))
            }
        }
    }

    async fn tag(&self, context: &Context<Aws>, seen: &LogGroupOutput) -> Result<()> {
        let (logs, arn, what) = (&context.config().logs, &seen.arn, format!("the log group `{}`", seen.name));
        let set = |tags: Tags| logs.send("TagResource", json!({ "resourceArn": arn, "tags": tags }));
        let remove =
            |keys: Vec<String>| logs.send("UntagResource", json!({ "resourceArn": arn, "tagKeys": keys }));
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

impl From<&LogGroupOutput> for LogGroup {
    fn from(seen: &LogGroupOutput) -> Self {
        LogGroup {
            name: Some(seen.name.clone()),
            retention_in_days: seen.retention_in_days,
            tags: tags::written(&seen.tags_all),
        }
    }
}

impl Crud for LogGroup {
    type Output = LogGroupOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(128), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Aws>) -> Result<LogGroupOutput> {
        let (aws, name) = (context.config(), self.name(context));
        let input = json!({ "logGroupName": name, "tags": tags::wanted(context, &self.tags) });
        let created = aws.logs.send("CreateLogGroup", input).await;
        created.map_err(cannot(format!("create the log group `{name}`")))?;
        if self.retention_in_days > 0 {
            let half_made = LogGroupOutput { name: name.clone(), ..LogGroupOutput::default() };
            self.set_retention(aws, &name).await.map_err(|error| error.with_partial(&half_made))?;
        }
        Self::see(aws, &name).await
    }

    async fn read(&self, context: &Context<Aws>, prior: &LogGroupOutput) -> Result<LogGroupOutput> {
        Self::see(context.config(), &prior.name).await
    }

    async fn update(&self, context: &Context<Aws>, prior: &Prior<Self>) -> Result<LogGroupOutput> {
        let (aws, name) = (context.config(), &prior.outputs.name);
        let seen = Self::see(aws, name).await?;
        if seen.retention_in_days != self.retention_in_days {
            self.set_retention(aws, name).await?;
        }
        self.tag(context, &seen).await?;
        Self::see(aws, name).await
    }

    async fn delete(&self, context: &Context<Aws>, prior: &LogGroupOutput) -> Result<()> {
        let (aws, name) = (context.config(), &prior.name);
        let seen = Self::see(aws, name).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the log group `{name}`"))?;
        let deleted = aws.logs.send("DeleteLogGroup", json!({ "logGroupName": name })).await;
        deleted.map_err(cannot(format!("delete the log group `{name}`")))
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        tags::update_if_unmarked(request.prior.as_ref().map(|prior| &prior.outputs.tags_all), plan);
        Ok(())
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, LogGroupOutput>>> {
        let mut outputs = Self::see(context.config(), &self.name(context)).await?;
        let ownership = tags::recognise(context, &mut outputs.tags_all);
        let inputs = LogGroup { name: self.name.clone(), ..LogGroup::from(&outputs) };
        Ok(Sightings::recognised(Found { inputs, outputs }, ownership))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, LogGroupOutput>> {
        let name = id.strip_suffix(":*").unwrap_or(id);
        let name = name.rsplit_once("log-group:").map_or(name, |(_, name)| name);
        let outputs = Self::see(context.config(), name).await?;
        Ok(Found { inputs: LogGroup::from(&outputs), outputs })
    }
}
