//! `awsn_iam_policy`: what whoever has it attached may do.

use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, NameRules, Outputs, PlanHook, Prior, Recovery, Result,
    Sightings, Traits,
};

use super::{CONSISTENCY_WINDOW, decoded, tag_list};
use crate::failure::{cannot, cannot_see};
use crate::policy;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// How many versions of a policy IAM keeps.
const VERSIONS_MAX: usize = 5;

/// A policy that can be attached to roles.
#[derive(Inputs, Clone)]
pub struct IamPolicy {
    /// Its name. If it is left out, one is made of stack, stage and address. Another name makes another policy.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9+=,.@_-]{1,128}$")]
    name: Option<String>,
    /// Where it lies among the account's policies.
    #[trueup(default = "/", replace, pattern = "^/([!-~]*/)?$")]
    path: String,
    /// What it is for. IAM cannot change it afterwards.
    #[trueup(replace, length(max = 1000))]
    description: Option<String>,
    /// What it allows, as a policy document.
    policy: String,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// A policy as it is.
#[derive(Outputs, Clone, Default)]
pub struct IamPolicyOutput {
    /// Its name.
    #[trueup(identity, stable)]
    name: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: Option<String>,
    /// What it allows.
    #[trueup(mirrors = "policy")]
    policy: String,
    /// The version that counts, such as `v2`.
    #[trueup(informational)]
    version: String,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

impl IamPolicy {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    async fn arn(&self, context: &Context<Aws>) -> Result<String> {
        let aws = context.config();
        let (partition, account) = (aws.partition(), &aws.caller().await?.account);
        Ok(format!("arn:{partition}:iam::{account}:policy{}{}", self.path, self.name(context)))
    }

    async fn see(&self, aws: &Aws, arn: &str) -> Result<IamPolicyOutput> {
        let what = format!("the policy `{arn}`");
        let seen = aws.iam.get_policy().policy_arn(arn).send().await.map_err(cannot_see(&what))?;
        let seen = seen.policy.ok_or_else(|| Error::not_found(format!("there is no policy `{arn}`")))?;
        let version = seen.default_version_id.unwrap_or_default();
        let document = aws.iam.get_policy_version().policy_arn(arn).version_id(&version).send().await;
        let document =
            document.map_err(cannot_see(&what))?.policy_version.and_then(|version| version.document);
        let tagged = aws.iam.list_policy_tags().policy_arn(arn).send().await.map_err(cannot_see(&what))?;
        let document = decoded(&document.unwrap_or_default());
        Ok(IamPolicyOutput {
            name: seen.policy_name.unwrap_or_default(),
            arn: arn.to_owned(),
            description: seen.description.filter(|text| !text.is_empty()),
            policy: policy::as_written(Some(&self.policy), Some(document)).unwrap_or_default(),
            version,
            tags_all: tags::seen(tagged.tags.into_iter().map(|tag| (tag.key, tag.value))),
        })
    }

    /// Makes the document the version that counts. IAM keeps few: the oldest makes room.
    async fn set_document(&self, aws: &Aws, arn: &str) -> Result<()> {
        let versions = Self::other_versions(aws, arn).await?;
        if versions.len() + 1 >= VERSIONS_MAX
            && let Some(oldest) = versions.last()
        {
            Self::delete_version(aws, arn, oldest).await?;
        }
        let creating = aws.iam.create_policy_version().policy_arn(arn).policy_document(&self.policy);
        let created = creating.set_as_default(true).send().await;
        created
            .map_err(cannot(format!("change the policy `{arn}`")))
            .map_err(|error| error.at("policy"))
            .map(|_| ())
    }

    /// The versions that do not count, newest first.
    async fn other_versions(aws: &Aws, arn: &str) -> Result<Vec<String>> {
        let listed = aws.iam.list_policy_versions().policy_arn(arn).send().await;
        let listed = listed.map_err(cannot_see(format!("the versions of the policy `{arn}`")))?;
        let mut versions: Vec<_> =
            listed.versions.unwrap_or_default().into_iter().filter(|it| !it.is_default_version).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(version.create_date));
        Ok(versions.into_iter().filter_map(|version| version.version_id).collect())
    }

    async fn delete_version(aws: &Aws, arn: &str, version: &str) -> Result<()> {
        let deleted = aws.iam.delete_policy_version().policy_arn(arn).version_id(version).send().await;
        deleted.map_err(cannot(format!("delete version {version} of the policy `{arn}`"))).map(|_| ())
    }

    async fn tag(&self, context: &Context<Aws>, seen: &IamPolicyOutput) -> Result<()> {
        let (iam, arn, what) = (&context.config().iam, &seen.arn, format!("the policy `{}`", seen.arn));
        let set = |tags| iam.tag_policy().policy_arn(arn).set_tags(Some(tag_list(tags))).send();
        let remove = |keys| iam.untag_policy().policy_arn(arn).set_tag_keys(Some(keys)).send();
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

impl From<&IamPolicyOutput> for IamPolicy {
    fn from(seen: &IamPolicyOutput) -> Self {
        let path = seen.arn.split_once(":policy").and_then(|(_, path)| path.strip_suffix(&seen.name));
        IamPolicy {
            name: Some(seen.name.clone()),
            path: path.unwrap_or("/").to_owned(),
            description: seen.description.clone(),
            policy: seen.policy.clone(),
            tags: tags::written(&seen.tags_all),
        }
    }
}

impl Crud for IamPolicy {
    type Output = IamPolicyOutput;
    type Config = Aws;

    fn traits() -> Traits {
        let name_rules = NameRules::new(128);
        Traits { name_rules, consistency_window: CONSISTENCY_WINDOW, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn validate_inputs(&self, _: &Context<Aws>) -> Result<()> {
        policy::check("policy", &self.policy)
    }

    async fn create(&self, context: &Context<Aws>) -> Result<IamPolicyOutput> {
        let (aws, name) = (context.config(), self.name(context));
        let tags = tag_list(tags::wanted(context, &self.tags));
        let creating =
            aws.iam.create_policy().policy_name(&name).path(&self.path).policy_document(&self.policy);
        let created = creating.set_description(self.description.clone()).set_tags(Some(tags)).send().await;
        created.map_err(cannot(format!("create the policy `{name}`")))?;
        self.see(aws, &self.arn(context).await?).await
    }

    async fn read(&self, context: &Context<Aws>, prior: &IamPolicyOutput) -> Result<IamPolicyOutput> {
        self.see(context.config(), &prior.arn).await
    }

    async fn update(&self, context: &Context<Aws>, prior: &Prior<Self>) -> Result<IamPolicyOutput> {
        let (aws, arn) = (context.config(), &prior.outputs.arn);
        let seen = self.see(aws, arn).await?;
        if seen.policy != self.policy {
            self.set_document(aws, arn).await?;
        }
        self.tag(context, &seen).await?;
        self.see(aws, arn).await
    }

    async fn delete(&self, context: &Context<Aws>, prior: &IamPolicyOutput) -> Result<()> {
        let (aws, arn) = (context.config(), &prior.arn);
        let seen = self.see(aws, arn).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the policy `{arn}`"))?;
        for version in Self::other_versions(aws, arn).await? {
            Self::delete_version(aws, arn, &version).await?;
        }
        let deleted = aws.iam.delete_policy().policy_arn(arn).send().await;
        deleted.map_err(cannot(format!("delete the policy `{arn}`"))).map(|_| ())
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        field == "policy" && policy::same(&prior.policy, &current.policy)
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        tags::update_if_unmarked(request.prior.as_ref().map(|prior| &prior.outputs.tags_all), plan);
        Ok(())
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, IamPolicyOutput>>> {
        let mut outputs = self.see(context.config(), &self.arn(context).await?).await?;
        let ownership = tags::recognise(context, &mut outputs.tags_all);
        let inputs = IamPolicy { name: self.name.clone(), ..IamPolicy::from(&outputs) };
        Ok(Sightings::recognised(Found { inputs, outputs }, ownership))
    }

    async fn import(context: &Context<Aws>, id: &str) -> Result<Found<Self, IamPolicyOutput>> {
        if !id.starts_with("arn:") {
            return Err(Error::invalid(format!("`{id}` is not the ARN of a policy")));
        }
        let outputs = IamPolicy::from(&IamPolicyOutput::default()).see(context.config(), id).await?;
        Ok(Found { inputs: IamPolicy::from(&outputs), outputs })
    }
}
