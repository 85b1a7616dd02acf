//! A function as it is found, and the policy that its role has for what is bound to it.

use std::collections::BTreeMap;

use serde::Deserialize;
use trueup_core::Marked;
use trueup_provider::{Error, Result};

use super::bindings::Bound;
use super::configuration::own_log_group;
use super::function::{Architecture, Function, FunctionOutput};
use super::{VERSION, invoke_arn, invokers};
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see, if_found};
use crate::iam::{BOUND, decoded};
use crate::policy;
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// A function, and whether it can be changed and called now.
pub(super) struct SeenFunction {
    pub(super) output: FunctionOutput,
    pub(super) is_busy: bool,
}

impl SeenFunction {
    /// The function, with the variables of bindings marked as what was bound is.
    pub(super) fn marked_by(self, bound: &Bound) -> FunctionOutput {
        let mut output = self.output;
        for (name, value) in &mut output.environment {
            if let Some(given) = bound.environment.get(name).filter(|given| given.is_secret()) {
                *value = Marked::new(value.expose().clone(), given.is_secret());
            }
        }
        output
    }
}

/// Lambda's answer about a function.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct FunctionAnswer {
    configuration: Option<FunctionConfiguration>,
    pub(super) tags: Tags,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct FunctionConfiguration {
    function_arn: String,
    role: String,
    runtime: String,
    handler: String,
    code_sha256: String,
    description: String,
    timeout: i64,
    memory_size: i64,
    architectures: Vec<String>,
    environment: Environment,
    layers: Vec<Layer>,
    logging_config: LoggingConfig,
    state: String,
    state_reason: Option<String>,
    last_update_status: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Environment {
    variables: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Layer {
    arn: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct LoggingConfig {
    log_group: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct VersionPage {
    versions: Vec<Version>,
    next_marker: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Version {
    version: String,
}

/// The function of this name. What is secret in its environment only the program and the record know.
pub(super) async fn function(
    aws: &Aws,
    name: &str,
    wanted: Option<&Function>,
    known: Option<&FunctionOutput>,
) -> Result<SeenFunction> {
    let what = format!("the function `{name}`");
    let seen = aws.lambda.call(RestCall::get(&[VERSION, "functions", name])).await;
    let FunctionAnswer { configuration: seen, tags } = seen.map_err(cannot_see(&what))?;
    let seen = seen.ok_or_else(|| Error::not_found(format!("there is no function `{name}`")))?;
    if seen.state == "Failed" {
        let why = seen.state_reason.as_deref().unwrap_or("Lambda does not say why");
        return Err(Error::fatal(format!("{what} failed: {why}")));
    }
    let is_busy = seen.state == "Pending" || seen.last_update_status == "InProgress";
    let arn = unversioned(&seen.function_arn, name);
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let log_group = Some(seen.logging_config.log_group).filter(|it| !it.is_empty());
    let is_arm = seen.architectures.iter().any(|it| it == Architecture::Arm.name());
    let output = FunctionOutput {
        name: name.to_owned(),
        invoke_arn: invoke_arn(&aws.region, &arn),
        arn,
        runtime: seen.runtime,
        handler: seen.handler,
        code_sha256: seen.code_sha256,
        description: seen.description,
        timeout: number(seen.timeout),
        memory_size: number(seen.memory_size),
        architecture: if is_arm { Architecture::Arm } else { Architecture::X86 },
        environment: environment(seen.environment, wanted, known),
        layers: seen.layers.into_iter().map(|layer| layer.arn).collect(),
        log_group: log_group.unwrap_or_else(|| own_log_group(name)),
        version: latest_version(aws, name, wanted).await?,
        invokers: invokers::see(aws, name).await?,
        bound_policy: bound_policy(aws, &seen.role, name, known).await?,
        role: seen.role,
        tags_all: tags::seen(tags),
    };
    Ok(SeenFunction { output, is_busy })
}

/// The ARN without a version behind it.
fn unversioned(arn: &str, name: &str) -> String {
    let end = arn.find(&format!(":{name}")).map(|begin| begin + name.len() + 1);
    end.and_then(|end| arn.get(..end)).unwrap_or(arn).to_owned()
}

fn environment(
    seen: Environment,
    wanted: Option<&Function>,
    known: Option<&FunctionOutput>,
) -> BTreeMap<String, Marked<String>> {
    let is_secret = |name: &str| {
        let written = wanted.and_then(|wanted| wanted.environment.get(name));
        let recorded = known.and_then(|known| known.environment.get(name));
        written.or(recorded).is_some_and(Marked::is_secret)
    };
    let marked = |(name, value): (String, String)| {
        let value = Marked::new(value, is_secret(&name));
        (name, value)
    };
    seen.variables.into_iter().map(marked).collect()
}

/// The version with the highest number. Only where they are made is it looked for.
async fn latest_version(aws: &Aws, name: &str, wanted: Option<&Function>) -> Result<String> {
    let mut latest = None;
    if wanted.is_none_or(|wanted| wanted.publish) {
        let mut next: Option<String> = None;
        loop {
            let call = RestCall::get(&[VERSION, "functions", name, "versions"]).query("Marker", next);
            let page = aws.lambda.call(call).await;
            let page: VersionPage =
                page.map_err(cannot_see(format!("the versions of the function `{name}`")))?;
            let numbers = page.versions.iter().map(|version| version.version.parse::<u64>().ok());
            latest = numbers.fold(latest, Ord::max);
            next = page.next_marker.filter(|marker| !marker.is_empty());
            if next.is_none() {
                break;
            }
        }
    }
    Ok(latest.map_or_else(|| "$LATEST".to_owned(), |number| number.to_string()))
}

fn role_name(role: &str) -> &str {
    role.rsplit('/').next().unwrap_or(role)
}

/// What the role is allowed for what is bound to the function.
async fn bound_policy(
    aws: &Aws,
    role: &str,
    function: &str,
    known: Option<&FunctionOutput>,
) -> Result<Option<String>> {
    // Most functions have nothing bound: whose record says so is not asked.
    if known.is_some_and(|known| known.bound_policy.is_none()) {
        return Ok(None);
    }
    let role = role_name(role);
    let policy = format!("{BOUND}{function}");
    let form = [("RoleName", role), ("PolicyName", policy.as_str())];
    let seen = aws.iam.call("GetRolePolicy", form).await;
    let seen = if_found(seen.map_err(cannot_see(format!("what the role `{role}` may do for `{function}`"))))?;
    let seen = seen.map(|seen| decoded(seen.text_of("PolicyDocument").unwrap_or_default()));
    Ok(policy::as_written(known.and_then(|known| known.bound_policy.as_ref()), seen))
}

/// Lets the role do what the bindings need, and nothing else. A role that the function no longer has is left without.
pub(super) async fn set_bound_policy(
    aws: &Aws,
    seen: &FunctionOutput,
    role: &str,
    wanted: Option<&String>,
) -> Result<()> {
    let (name, function) = (format!("{BOUND}{}", seen.name), &seen.name);
    let moved = seen.role != *role;
    if seen.bound_policy.is_some() && (wanted.is_none() || moved) {
        let role = role_name(&seen.role);
        let form = [("RoleName", role), ("PolicyName", name.as_str())];
        let deleted = aws.iam.send("DeleteRolePolicy", form).await;
        if_found(deleted.map_err(cannot(format!("take from the role `{role}` what `{function}` needed"))))?;
    }
    if let Some(document) = wanted
        && (moved || !policy::same_optional(seen.bound_policy.as_ref(), Some(document)))
    {
        let role = role_name(role);
        let form = [("RoleName", role), ("PolicyName", name.as_str()), ("PolicyDocument", document)];
        let put = aws.iam.send("PutRolePolicy", form).await;
        put.map_err(cannot(format!("let the role `{role}` do what `{function}` needs")))?;
    }
    Ok(())
}
