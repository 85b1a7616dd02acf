//! Who may call a function: the statements of its own policy that are ours.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use trueup_provider::{FieldType, Result};

use super::VERSION;
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see, if_found};
use crate::settings::Aws;

/// What the ids of our statements begin with; others are left alone.
const OWN: &str = "trueup-";

/// A service that may call a function.
#[derive(FieldType, Clone, PartialEq, Eq, Debug)]
pub struct Invoker {
    /// The service, such as `apigateway.amazonaws.com`.
    principal: String,
    /// What of it, such as `${awsn_apigatewayv2_api.main.execution_arn}/*/*`. If it is left out, all.
    source_arn: Option<String>,
}

impl Invoker {
    /// A service, or what of it has this ARN.
    pub fn new(principal: impl Into<String>, source_arn: Option<String>) -> Self {
        Invoker { principal: principal.into(), source_arn }
    }
}

/// Who may call, by the names that the program gives them.
pub(super) type Invokers = BTreeMap<String, Invoker>;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct PolicyAnswer {
    policy: String,
}

pub(super) async fn see(aws: &Aws, function: &str) -> Result<Invokers> {
    let seen = aws.lambda.call(RestCall::get(&[VERSION, "functions", function, "policy"])).await;
    let seen: Option<PolicyAnswer> =
        if_found(seen.map_err(cannot_see(format!("who may call the function `{function}`"))))?;
    Ok(seen.and_then(|seen| parse(&seen.policy)).unwrap_or_default())
}

fn parse(policy: &str) -> Option<Invokers> {
    let policy: Value = serde_json::from_str(policy).ok()?;
    let statements = policy.get("Statement")?.as_array()?.iter();
    let invokers = statements.filter_map(|statement| {
        let name = statement.get("Sid")?.as_str()?.strip_prefix(OWN)?.to_owned();
        let principal = statement.get("Principal")?;
        let principal = principal.get("Service").or_else(|| principal.get("AWS")).unwrap_or(principal);
        let source = statement.pointer("/Condition/ArnLike/AWS:SourceArn").and_then(Value::as_str);
        Some((
            name,
            Invoker { principal: principal.as_str()?.to_owned(), source_arn: source.map(ToOwned::to_owned) },
        ))
    });
    Some(invokers.collect())
}

/// Lets in whom the program names, and nobody else of ours. A statement cannot be changed: it goes and comes again.
pub(super) async fn synchronise(aws: &Aws, function: &str, wanted: &Invokers, seen: &Invokers) -> Result<()> {
    for name in seen.iter().filter(|(name, invoker)| wanted.get(*name) != Some(invoker)).map(|(name, _)| name)
    {
        let statement = format!("{OWN}{name}");
        let call = RestCall::delete(&[VERSION, "functions", function, "policy", &statement]);
        let doing = format!("no longer let `{name}` call the function `{function}`");
        if_found(aws.lambda.send(call).await.map_err(cannot(doing)))?;
    }
    for (name, invoker) in wanted.iter().filter(|(name, invoker)| seen.get(*name) != Some(invoker)) {
        let input = json!({
            "StatementId": format!("{OWN}{name}"),
            "Action": "lambda:InvokeFunction",
            "Principal": invoker.principal,
            "SourceArn": invoker.source_arn,
        });
        let call = RestCall::post(&[VERSION, "functions", function, "policy"], input);
        let added = aws.lambda.send(call).await;
        added.map_err(cannot(format!("let `{name}` call the function `{function}`")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_statements_count() {
        let policy = r#"{"Version":"2012-10-17","Statement":[
            {"Sid":"trueup-api","Effect":"Allow","Principal":{"Service":"apigateway.amazonaws.com"},
             "Action":"lambda:InvokeFunction","Resource":"f","Condition":{"ArnLike":{"AWS:SourceArn":"arn:api/*"}}},
            {"Sid":"trueup-all","Effect":"Allow","Principal":"*","Action":"lambda:InvokeFunction","Resource":"f"},
            {"Sid":"console","Effect":"Allow","Principal":"*","Action":"lambda:InvokeFunction","Resource":"f"}]}"#;
        let seen = parse(policy).unwrap();
        let invoker = |principal: &str, source: Option<&str>| Invoker {
            principal: principal.to_owned(),
            source_arn: source.map(ToOwned::to_owned),
        };
        let expected = [
            ("all".to_owned(), invoker("*", None)),
            ("api".to_owned(), invoker("apigateway.amazonaws.com", Some("arn:api/*"))),
        ];
        assert_eq!(seen, Invokers::from(expected));
    }
}
