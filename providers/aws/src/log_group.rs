//! `awsn_cloudwatch_log_group`: where a function or service writes its log.

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

impl LogGroup {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    async fn see(aws: &Aws, name: &str) -> Result<LogGroupOutput> {
        let what = format!("the log group `{name}`");
        // There is no call for one group: those that begin with its name are listed.
        let mut pages =
            aws.logs.describe_log_groups().log_group_name_prefix(name).into_paginator().items().send();
        let group = loop {
            match pages.next().await {
                None => return Err(Error::not_found(format!("there is no log group `{name}`"))),
                Some(group) => {
                    let group = group.map_err(cannot_see(&what))?;
                    if group.log_group_name() == Some(name) {
                        break group;
                    }
                }
            }
        };
        let arn = group.arn().unwrap_or_default();
        let arn = arn.strip_suffix(":*").unwrap_or(arn).to_owned();
        let tagged = aws.logs.list_tags_for_resource().resource_arn(&arn).send().await;
        let tagged = tagged.map_err(cannot_see(&what))?.tags.unwrap_or_default();
        let retention_in_days =
            group.retention_in_days().and_then(|days| u64::try_from(days).ok()).unwrap_or(0);
        Ok(LogGroupOutput { name: name.to_owned(), arn, retention_in_days, tags_all: tags::seen(tagged) })
    }

    async fn set_retention(&self, aws: &Aws, name: &str) -> Result<()> {
        let doing = format!("set how long the log group `{name}` keeps its entries");
        match i32::try_from(self.retention_in_days) {
            Ok(days) if days > 0 => {
                let putting = aws.logs.put_retention_policy().log_group_name(name).retention_in_days(days);
                putting.send().await.map_err(cannot(doing)).map(|_| ())
            }
            _ => {
                let deleted = aws.logs.delete_retention_policy().log_group_name(name).send().await;
                deleted.map_err(cannot(doing)).map(|_| ())
            }
        }
    }

    async fn tag(&self, context: &Context<Aws>, seen: &LogGroupOutput) -> Result<()> {
        let (logs, arn, what) = (&context.config().logs, &seen.arn, format!("the log group `{}`", seen.name));
        let set = |tags: Tags| {
            logs.tag_resource().resource_arn(arn).set_tags(Some(tags.into_iter().collect())).send()
        };
        let remove = |keys| logs.untag_resource().resource_arn(arn).set_tag_keys(Some(keys)).send();
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
        let tags = tags::wanted(context, &self.tags).into_iter().collect();
        let created = aws.logs.create_log_group().log_group_name(&name).set_tags(Some(tags)).send().await;
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
        let deleted = aws.logs.delete_log_group().log_group_name(name).send().await;
        deleted.map_err(cannot(format!("delete the log group `{name}`"))).map(|_| ())
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

    async fn import(context: &Context<Aws>, id: &str) -> Result<Found<Self, LogGroupOutput>> {
        let name = id.strip_suffix(":*").unwrap_or(id);
        let name = name.rsplit_once("log-group:").map_or(name, |(_, name)| name);
        let outputs = Self::see(context.config(), name).await?;
        Ok(Found { inputs: LogGroup::from(&outputs), outputs })
    }
}
