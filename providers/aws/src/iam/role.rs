//! `awsn_iam_role`: whom a service acts as, and what it may do then.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::{Value, value};
use trueup_provider::{
    Context, Converge, Current, Error, Inputs, NameRules, Outputs, Ownership, Recovery, Result, Sightings,
    Traits,
};

use super::{CONSISTENCY_WINDOW, decoded};
use crate::client::Form;
use crate::failure::{cannot, cannot_see, if_found};
use crate::policy;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// What the names of inline policies begin with that functions put on their roles for what is bound to them. They belong
/// to the functions.
pub(crate) const BOUND: &str = "trueup-bound-";

/// The trust policy of a stub whose own is not known yet: nobody may act as it.
const TRUSTS_NOBODY: &str = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}"#;

/// A role.
///
/// # In a cycle
/// What refers to a role and is bound to something that the role refers to forms a cycle. Then a stub of the role is made
/// first: it has no policies, and if `assume_role_policy` is not known yet, nobody may act as it.
#[derive(Inputs, Clone)]
pub struct Role {
    /// Its name. If it is left out, one is made of stack, stage and address. Another name makes another role.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9+=,.@_-]{1,64}$")]
    name: Option<String>,
    /// Where it lies among the account's roles.
    #[trueup(default = "/", replace, pattern = "^/([!-~]*/)?$")]
    path: String,
    /// What it is for.
    #[trueup(default, length(max = 1000))]
    description: String,
    /// Who may act as the role, as a policy document.
    assume_role_policy: String,
    /// For how long, in seconds.
    #[trueup(default = 3600, range(min = 3600, max = 43200))]
    max_session_duration: u64,
    /// What it may do: documents that are part of the role, by their names.
    #[trueup(default)]
    inline_policies: BTreeMap<String, String>,
    /// What it may do: the ARNs of policies that are attached. Others are detached.
    #[trueup(default)]
    managed_policy_arns: BTreeSet<String>,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// A role as it is.
#[derive(Outputs, Clone)]
pub struct RoleOutput {
    /// Its name.
    #[trueup(identity, stable)]
    name: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// What tells it from another role that had its name before.
    #[trueup(stable)]
    unique_id: String,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: String,
    /// Who may act as the role.
    #[trueup(mirrors = "assume_role_policy")]
    assume_role_policy: String,
    /// For how long, in seconds.
    #[trueup(mirrors = "max_session_duration")]
    max_session_duration: u64,
    /// The documents that are part of the role.
    #[trueup(mirrors = "inline_policies")]
    inline_policies: BTreeMap<String, String>,
    /// The policies that are attached.
    #[trueup(mirrors = "managed_policy_arns")]
    managed_policy_arns: BTreeSet<String>,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

impl Role {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    /// The role of this name as it is.
    async fn see(&self, aws: &Aws, name: &str) -> Result<RoleOutput> {
        let what = format!("the role `{name}`");
        let named = [("RoleName", name)];
        let seen = aws.iam.call("GetRole", named).await.map_err(cannot_see(&what))?;
        let seen = seen.child("Role");
        let seen = seen.ok_or_else(|| Error::not_found(format!("there is no role `{name}`")))?;
        let tagged = aws.iam.call("ListRoleTags", named).await.map_err(cannot_see(&what))?;
        let attached = aws.iam.call("ListAttachedRolePolicies", named).await.map_err(cannot_see(&what))?;
        let attached = attached.members("AttachedPolicies").filter_map(|policy| policy.text_of("PolicyArn"));
        let trusted = decoded(seen.text_of("AssumeRolePolicyDocument").unwrap_or_default());
        let duration = seen.text_of("MaxSessionDuration").and_then(|seconds| seconds.parse().ok());
        Ok(RoleOutput {
            name: name.to_owned(),
            arn: seen.owned_text_of("Arn"),
            unique_id: seen.owned_text_of("RoleId"),
            description: seen.owned_text_of("Description"),
            assume_role_policy: as_written(&self.assume_role_policy, trusted),
            max_session_duration: duration.unwrap_or(3600),
            inline_policies: self.see_inline_policies(aws, name).await?,
            managed_policy_arns: attached.map(ToOwned::to_owned).collect(),
            tags_all: tags::seen_in_xml(tagged.members("Tags")),
        })
    }

    async fn see_inline_policies(&self, aws: &Aws, name: &str) -> Result<BTreeMap<String, String>> {
        let mut documents = BTreeMap::new();
        for policy in inline_names(aws, name).await?.into_iter().filter(|policy| !policy.starts_with(BOUND)) {
            let form = [("RoleName", name), ("PolicyName", policy.as_str())];
            let document = aws.iam.call("GetRolePolicy", form).await;
            let document =
                document.map_err(cannot_see(format!("the policy `{policy}` of the role `{name}`")))?;
            let seen = decoded(document.text_of("PolicyDocument").unwrap_or_default());
            let written = self.inline_policies.get(&policy);
            documents.insert(policy, written.map_or(seen.clone(), |written| as_written(written, seen)));
        }
        Ok(documents)
    }

    async fn create(&self, context: &Context<Aws>, name: &str) -> Result<()> {
        let duration = self.max_session_duration.to_string();
        let form = Form::from([
            ("RoleName", name),
            ("Path", &self.path),
            ("AssumeRolePolicyDocument", &self.assume_role_policy),
            ("Description", &self.description),
            ("MaxSessionDuration", &duration),
        ]);
        let form = form.tags(tags::wanted(context, &self.tags));
        let created = context.config().iam.send("CreateRole", form).await;
        created.map_err(cannot(format!("create the role `{name}`")))
    }

    /// Brings what differs to what the program says.
    async fn synchronise(&self, context: &Context<Aws>, seen: &RoleOutput) -> Result<()> {
        let (iam, name) = (&context.config().iam, seen.name.as_str());
        self.tag(context, seen).await?;
        if seen.assume_role_policy != self.assume_role_policy {
            let form = [("RoleName", name), ("PolicyDocument", &self.assume_role_policy)];
            let updated = iam.send("UpdateAssumeRolePolicy", form).await;
            updated.map_err(cannot(format!("change who may act as the role `{name}`")))?;
        }
        if (&seen.description, seen.max_session_duration) != (&self.description, self.max_session_duration) {
            let (description, duration) = (&self.description, self.max_session_duration.to_string());
            let form = [("RoleName", name), ("Description", description), ("MaxSessionDuration", &duration)];
            let updated = iam.send("UpdateRole", form).await;
            updated.map_err(cannot(format!("change the role `{name}`")))?;
        }
        for (policy, document) in &self.inline_policies {
            if seen.inline_policies.get(policy) != Some(document) {
                let form =
                    [("RoleName", name), ("PolicyName", policy.as_str()), ("PolicyDocument", document)];
                let put = iam.send("PutRolePolicy", form).await;
                put.map_err(cannot(format!("put the policy `{policy}` into the role `{name}`")))?;
            }
        }
        for policy in seen.inline_policies.keys().filter(|policy| !self.inline_policies.contains_key(*policy))
        {
            remove_inline(context.config(), name, policy).await?;
        }
        for arn in self.managed_policy_arns.difference(&seen.managed_policy_arns) {
            let attached = iam.send("AttachRolePolicy", [("RoleName", name), ("PolicyArn", arn)]).await;
            attached.map_err(cannot(format!("attach `{arn}` to the role `{name}`")))?;
        }
        for arn in seen.managed_policy_arns.difference(&self.managed_policy_arns) {
            detach(context.config(), name, arn).await?;
        }
        Ok(())
    }

    async fn tag(&self, context: &Context<Aws>, seen: &RoleOutput) -> Result<()> {
        let (iam, name, what) = (&context.config().iam, &seen.name, format!("the role `{}`", seen.name));
        let named = || Form::from([("RoleName", name.as_str())]);
        let set = |tags: Tags| iam.send("TagRole", named().tags(tags));
        let remove = |keys: Vec<String>| iam.send("UntagRole", named().list("TagKeys", keys));
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }

    fn check(&self) -> Result<()> {
        policy::check("assume_role_policy", &self.assume_role_policy)?;
        for (name, document) in &self.inline_policies {
            policy::check(&format!("inline_policies[{name:?}]"), document)?;
            if name.starts_with(BOUND) {
                let message = format!("names that begin with `{BOUND}` are those of functions' bindings");
                return Err(Error::invalid(message).at("inline_policies"));
            }
        }
        Ok(())
    }
}

fn as_written(written: &str, seen: String) -> String {
    if policy::same(written, &seen) { written.to_owned() } else { seen }
}

/// The names of all inline policies of a role.
async fn inline_names(aws: &Aws, role: &str) -> Result<Vec<String>> {
    let listed = aws.iam.call("ListRolePolicies", [("RoleName", role)]).await;
    let listed = listed.map_err(cannot_see(format!("the policies of the role `{role}`")))?;
    Ok(listed.members("PolicyNames").map(|name| name.text().to_owned()).collect())
}

async fn remove_inline(aws: &Aws, role: &str, policy: &str) -> Result<()> {
    let form = [("RoleName", role), ("PolicyName", policy)];
    let deleted = aws.iam.send("DeleteRolePolicy", form).await;
    let doing = format!("take the policy `{policy}` from the role `{role}`");
    if_found(deleted.map_err(cannot(doing))).map(|_| ())
}

async fn detach(aws: &Aws, role: &str, arn: &str) -> Result<()> {
    let detached = aws.iam.send("DetachRolePolicy", [("RoleName", role), ("PolicyArn", arn)]).await;
    if_found(detached.map_err(cannot(format!("detach `{arn}` from the role `{role}`")))).map(|_| ())
}

impl Converge for Role {
    type Output = RoleOutput;
    type Config = Aws;

    fn traits() -> Traits {
        let name_rules = NameRules::new(64);
        Traits { name_rules, consistency_window: CONSISTENCY_WINDOW, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<Aws>, current: &Current<Self>) -> Result<RoleOutput> {
        self.check()?;
        let aws = context.config();
        let name = current.output.as_ref().map_or_else(|| self.name(context), |output| output.name.clone());
        let seen = match if_found(self.see(aws, &name).await)? {
            Some(mut seen) => {
                let ownership = tags::recognise(context, &mut seen.tags_all);
                if current.output.is_none() && ownership == Ownership::Unowned {
                    return Err(Error::already_exists(format!("the role `{name}` exists already")));
                }
                seen
            }
            None => {
                self.create(context, &name).await?;
                self.see(aws, &name).await?
            }
        };
        self.synchronise(context, &seen).await.map_err(|error| error.with_partial(&seen))?;
        self.see(aws, &name).await
    }

    async fn read(
        &self,
        context: &Context<Aws>,
        prior: Option<&RoleOutput>,
    ) -> Result<Sightings<RoleOutput>> {
        let name = prior.map_or_else(|| self.name(context), |prior| prior.name.clone());
        let mut seen = self.see(context.config(), &name).await?;
        if prior.is_some() {
            return Ok(Sightings::owned(seen));
        }
        let ownership = tags::recognise(context, &mut seen.tags_all);
        Ok(Sightings::recognised(seen, ownership))
    }

    fn stub(_: &RoleView) -> Option<Value> {
        let (nothing, none) = (Value::map::<&str>([]), Value::set([]));
        Some(value!({
            description: "",
            assume_role_policy: TRUSTS_NOBODY,
            max_session_duration: 3600,
            inline_policies: (nothing.clone()),
            managed_policy_arns: none,
            tags: nothing,
        }))
    }

    /// A role without policies allows nothing, whoever may act as it.
    async fn precreate(&self, context: &Context<Aws>) -> Result<RoleOutput> {
        policy::check("assume_role_policy", &self.assume_role_policy)?;
        let (aws, name) = (context.config(), self.name(context));
        let Some(mut seen) = if_found(self.see(aws, &name).await)? else {
            self.create(context, &name).await?;
            return self.see(aws, &name).await;
        };
        // What is there already stays as it is until all inputs are known.
        match tags::recognise(context, &mut seen.tags_all) {
            Ownership::Unowned => Err(Error::already_exists(format!("the role `{name}` exists already"))),
            Ownership::Owned { .. } => Ok(seen),
        }
    }

    async fn delete(&self, context: &Context<Aws>, output: &RoleOutput) -> Result<()> {
        let (aws, name) = (context.config(), &output.name);
        let seen = self.see(aws, name).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the role `{name}`"))?;
        for policy in inline_names(aws, name).await? {
            remove_inline(aws, name, &policy).await?;
        }
        for arn in &seen.managed_policy_arns {
            detach(aws, name, arn).await?;
        }
        let deleted = aws.iam.send("DeleteRole", [("RoleName", name.as_str())]).await;
        deleted.map_err(cannot(format!("delete the role `{name}`")))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<RoleOutput> {
        let name = id.rsplit('/').next().unwrap_or(id);
        let nothing = Role {
            name: Some(name.to_owned()),
            path: "/".to_owned(),
            description: String::new(),
            assume_role_policy: String::new(),
            max_session_duration: 3600,
            inline_policies: BTreeMap::new(),
            managed_policy_arns: BTreeSet::new(),
            tags: Tags::new(),
        };
        nothing.see(context.config(), name).await
    }
}
