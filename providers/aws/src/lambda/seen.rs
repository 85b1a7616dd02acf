//! A function as it is found, and the policy that its role has for what is bound to it.

use std::collections::BTreeMap;

use aws_sdk_lambda::types::{Architecture as Processor, FunctionConfiguration, LastUpdateStatus, State};
use trueup_core::Marked;
use trueup_provider::{Error, Result};

use super::bindings::Bound;
use super::configuration::own_log_group;
use super::function::{Architecture, Function, FunctionOutput};
use super::{invoke_arn, invokers};
use crate::failure::{cannot, cannot_see, if_found};
use crate::iam::{BOUND, decoded};
use crate::policy;
use crate::settings::Aws;
use crate::tags;

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

/// The function of this name. What is secret in its environment only the program and the record know.
pub(super) async fn function(
    aws: &Aws,
    name: &str,
    wanted: Option<&Function>,
    known: Option<&FunctionOutput>,
) -> Result<SeenFunction> {
    let what = format!("the function `{name}`");
    let seen = aws.lambda.get_function().function_name(name).send().await.map_err(cannot_see(&what))?;
    let tags_all = tags::seen(seen.tags.unwrap_or_default());
    let seen =
        seen.configuration.ok_or_else(|| Error::not_found(format!("there is no function `{name}`")))?;
    if let (Some(State::Failed), why) = (seen.state(), seen.state_reason()) {
        return Err(Error::fatal(format!("{what} failed: {}", why.unwrap_or("Lambda does not say why"))));
    }
    let is_busy = seen.state() == Some(&State::Pending)
        || seen.last_update_status() == Some(&LastUpdateStatus::InProgress);
    let arn = unversioned(seen.function_arn().unwrap_or_default(), name);
    let role = seen.role().unwrap_or_default().to_owned();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let number =
        |number: Option<i32>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or_default();
    let log_group = seen.logging_config().and_then(|logging| logging.log_group()).filter(|it| !it.is_empty());
    let output = FunctionOutput {
        name: name.to_owned(),
        invoke_arn: invoke_arn(&aws.region, &arn),
        arn,
        runtime: seen.runtime().map_or(String::new(), |runtime| runtime.as_str().to_owned()),
        handler: text(seen.handler()),
        code_sha256: text(seen.code_sha256()),
        description: text(seen.description()),
        timeout: number(seen.timeout()),
        memory_size: number(seen.memory_size()),
        architecture: architecture(&seen),
        environment: environment(&seen, wanted, known),
        layers: seen.layers().iter().map(|layer| text(layer.arn())).collect(),
        log_group: log_group.map_or_else(|| own_log_group(name), ToOwned::to_owned),
        version: latest_version(aws, name, wanted).await?,
        invokers: invokers::see(aws, name).await?,
        bound_policy: bound_policy(aws, &role, name, known).await?,
        role,
        tags_all,
    };
    Ok(SeenFunction { output, is_busy })
}

/// The ARN without a version behind it.
fn unversioned(arn: &str, name: &str) -> String {
    let end = arn.find(&format!(":{name}")).map(|begin| begin + name.len() + 1);
    end.and_then(|end| arn.get(..end)).unwrap_or(arn).to_owned()
}

fn architecture(seen: &FunctionConfiguration) -> Architecture {
    if seen.architectures().contains(&Processor::Arm64) { Architecture::Arm } else { Architecture::X86 }
}

fn environment(
    seen: &FunctionConfiguration,
    wanted: Option<&Function>,
    known: Option<&FunctionOutput>,
) -> BTreeMap<String, Marked<String>> {
    let is_secret = |name: &str| {
        let written = wanted.and_then(|wanted| wanted.environment.get(name));
        let recorded = known.and_then(|known| known.environment.get(name));
        written.or(recorded).is_some_and(Marked::is_secret)
    };
    let variables = seen.environment().and_then(|environment| environment.variables());
    let variables = variables.into_iter().flatten();
    variables.map(|(name, value)| (name.clone(), Marked::new(value.clone(), is_secret(name)))).collect()
}

/// The version with the highest number. Only where they are made is it looked for.
async fn latest_version(aws: &Aws, name: &str, wanted: Option<&Function>) -> Result<String> {
    let mut latest = None;
    if wanted.is_none_or(|wanted| wanted.publish) {
        let mut pages =
            aws.lambda.list_versions_by_function().function_name(name).into_paginator().items().send();
        while let Some(version) = pages.next().await {
            let version = version.map_err(cannot_see(format!("the versions of the function `{name}`")))?;
            latest = latest.max(version.version().and_then(|number| number.parse::<u64>().ok()));
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
    let seen =
        aws.iam.get_role_policy().role_name(role).policy_name(format!("{BOUND}{function}")).send().await;
    let seen = if_found(seen.map_err(cannot_see(format!("what the role `{role}` may do for `{function}`"))))?;
    let seen = seen.map(|seen| decoded(&seen.policy_document));
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
        let deleted = aws.iam.delete_role_policy().role_name(role).policy_name(&name).send().await;
        if_found(deleted.map_err(cannot(format!("take from the role `{role}` what `{function}` needed"))))?;
    }
    if let Some(document) = wanted
        && (moved || !policy::same_optional(seen.bound_policy.as_ref(), Some(document)))
    {
        let role = role_name(role);
        let putting = aws.iam.put_role_policy().role_name(role).policy_name(&name).policy_document(document);
        putting.send().await.map_err(cannot(format!("let the role `{role}` do what `{function}` needs")))?;
    }
    Ok(())
}
