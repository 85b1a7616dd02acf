//! `awsn_iam_policy`: what whoever has it attached may do.

use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, NameRules, Outputs, PlanHook, Prior, Recovery, Result,
    Sightings, Traits,
};

use super::{CONSISTENCY_WINDOW, decoded};
use crate::client::Form;
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
        let named = [("PolicyArn", arn)];
        let seen = aws.iam.call("GetPolicy", named).await.map_err(cannot_see(&what))?;
        let seen = seen.child("Policy");
        let seen = seen.ok_or_else(|| Error::not_found(format!("there is no policy `{arn}`")))?;
        let version = seen.owned_text_of("DefaultVersionId");
        let versioned = [("PolicyArn", arn), ("VersionId", version.as_str())];
        let document = aws.iam.call("GetPolicyVersion", versioned).await.map_err(cannot_see(&what))?;
        let document = document.child("PolicyVersion").and_then(|version| version.text_of("Document"));
        let tagged = aws.iam.call("ListPolicyTags", named).await.map_err(cannot_see(&what))?;
        let document = decoded(document.unwrap_or_default());
        let description = seen.text_of("Description").filter(|text| !text.is_empty());
        Ok(IamPolicyOutput {
            name: seen.owned_text_of("PolicyName"),
            arn: arn.to_owned(),
            description: description.map(ToOwned::to_owned),
            policy: policy::as_written(Some(&self.policy), Some(document)).unwrap_or_default(),
            version,
            tags_all: tags::seen_in_xml(tagged.members("Tags")),
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
        let form = [("PolicyArn", arn), ("PolicyDocument", self.policy.as_str()), ("SetAsDefault", "true")];
        let created = aws.iam.send("CreatePolicyVersion", form).await;
        created.map_err(cannot(format!("change the policy `{arn}`"))).map_err(|error| error.at("policy"))
    }

    /// The versions that do not count, newest first.
    async fn other_versions(aws: &Aws, arn: &str) -> Result<Vec<String>> {
        let listed = aws.iam.call("ListPolicyVersions", [("PolicyArn", arn)]).await;
        let listed = listed.map_err(cannot_see(format!("the versions of the policy `{arn}`")))?;
        let others =
            listed.members("Versions").filter(|version| version.text_of("IsDefaultVersion") != Some("true"));
        let mut versions: Vec<String> = others.map(|version| version.owned_text_of("VersionId")).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(version_number(version)));
        Ok(versions)
    }

    async fn delete_version(aws: &Aws, arn: &str, version: &str) -> Result<()> {
        let form = [("PolicyArn", arn), ("VersionId", version)];
        let deleted = aws.iam.send("DeletePolicyVersion", form).await;
        deleted.map_err(cannot(format!("delete version {version} of the policy `{arn}`")))
    }

    async fn tag(&self, context: &Context<Aws>, seen: &IamPolicyOutput) -> Result<()> {
        let (iam, arn, what) = (&context.config().iam, &seen.arn, format!("the policy `{}`", seen.arn));
        let named = || Form::from([("PolicyArn", arn.as_str())]);
        let set = |tags: Tags| iam.send("TagPolicy", named().tags(tags));
        let remove = |keys: Vec<String>| iam.send("UntagPolicy", named().list("TagKeys", keys));
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

/// The number in a version's id, such as `v12`. IAM counts up.
fn version_number(id: &str) -> u64 {
    id.trim_start_matches('v').parse().unwrap_or(0)
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
        let named = [("PolicyName", name.as_str()), ("Path", &self.path), ("PolicyDocument", &self.policy)];
        let form = Form::from(named).optional("Description", self.description.as_deref());
        let created = aws.iam.send("CreatePolicy", form.tags(tags::wanted(context, &self.tags))).await;
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
        let deleted = aws.iam.send("DeletePolicy", [("PolicyArn", arn.as_str())]).await;
        deleted.map_err(cannot(format!("delete the policy `{arn}`")))
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

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, IamPolicyOutput>> {
        if !id.starts_with("arn:") {
            return Err(Error::invalid(format!("`{id}` is not the ARN of a policy")));
        }
        let outputs = IamPolicy::from(&IamPolicyOutput::default()).see(context.config(), id).await?;
        Ok(Found { inputs: IamPolicy::from(&outputs), outputs })
    }
}
