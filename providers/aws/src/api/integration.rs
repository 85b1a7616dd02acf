//! `awsn_apigatewayv2_integration`: what an API calls.

use serde::Deserialize;
use serde_json::{Value, json};
use trueup_provider::{
    Context, Crud, Error, FieldType, Found, Inputs, Outputs, Prior, Recovery, Result, Sightings,
};

use super::Page;
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;
use crate::tags;

/// What stands before the mark in a description.
const MARK: &str = "trueup:";

/// What an API calls: a function, or another server.
#[derive(Inputs, Clone)]
pub struct Integration {
    /// The id of the API. Another API makes another integration.
    #[trueup(replace)]
    api_id: String,
    /// What is called: `AWS_PROXY` for a function, `HTTP_PROXY` for another server.
    #[trueup(default = IntegrationType::Function, replace)]
    integration_type: IntegrationType,
    /// Where: a function's `invoke_arn` or `arn`, or an address.
    integration_uri: String,
    /// With which method. A function is always called with `POST`.
    #[trueup(default = "POST")]
    integration_method: String,
    /// The form in which a function gets the call.
    #[trueup(default = "2.0", one_of("1.0", "2.0"))]
    payload_format_version: String,
    /// How long the call may take, in milliseconds.
    #[trueup(default = 30000, range(min = 50, max = 30000))]
    timeout_milliseconds: u64,
    /// What it is for. Behind it stands a mark by which the integration is recognised.
    #[trueup(default, length(max = 900))]
    description: String,
}

/// What an integration calls.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntegrationType {
    /// A function.
    #[trueup(rename = "AWS_PROXY")]
    Function,
    /// Another server.
    #[trueup(rename = "HTTP_PROXY")]
    Server,
}

/// An integration as it is.
#[derive(Outputs, Clone)]
pub struct IntegrationOutput {
    /// Its id within the API.
    #[trueup(identity, stable)]
    id: String,
    /// The id of the API.
    #[trueup(identity, mirrors = "api_id", stable)]
    api_id: String,
    /// What a route names as its target.
    #[trueup(stable)]
    target: String,
    /// What is called.
    #[trueup(mirrors = "integration_type")]
    integration_type: IntegrationType,
    /// Where.
    #[trueup(mirrors = "integration_uri")]
    integration_uri: String,
    /// With which method.
    #[trueup(mirrors = "integration_method")]
    integration_method: String,
    /// The form in which a function gets the call.
    #[trueup(mirrors = "payload_format_version")]
    payload_format_version: String,
    /// How long the call may take, in milliseconds.
    #[trueup(mirrors = "timeout_milliseconds")]
    timeout_milliseconds: u64,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: String,
    /// The mark by which it is recognised.
    mark: Option<String>,
}

/// The integration's own mark.
fn mark(context: &Context<Aws>) -> String {
    format!("{MARK}{}", context.physical_name())
}

/// A description with a mark behind it.
fn marked(description: &str, mark: &str) -> String {
    if description.is_empty() { mark.to_owned() } else { format!("{description} {mark}") }
}

/// The description, and the mark behind it if there is one.
fn unmarked(description: &str) -> (&str, Option<&str>) {
    match description.rfind(MARK) {
        Some(begin) if begin == 0 || description[..begin].ends_with(' ') => {
            (description[..begin].trim_end(), Some(&description[begin..]))
        }
        _ => (description, None),
    }
}

impl Integration {
    async fn see(&self, aws: &Aws, api: &str, id: &str) -> Result<IntegrationOutput> {
        let seen = aws.api.call(RestCall::get(&["v2", "apis", api, "integrations", id])).await;
        let seen: IntegrationDescription =
            seen.map_err(cannot_see(format!("the integration `{id}` of the API `{api}`")))?;
        Ok(output(api, IntegrationDescription { integration_id: id.to_owned(), ..seen }))
    }

    /// All integrations of the API.
    async fn all(&self, aws: &Aws) -> Result<Vec<IntegrationOutput>> {
        let api = &self.api_id;
        let mut all = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let call = RestCall::get(&["v2", "apis", api, "integrations"]).query("nextToken", next);
            let page = aws.api.call(call).await;
            let page: Page<IntegrationDescription> =
                page.map_err(cannot_see(format!("the integrations of the API `{api}`")))?;
            all.extend(page.items.into_iter().map(|seen| output(api, seen)));
            next = page.next_token;
            if next.is_none() {
                return Ok(all);
            }
        }
    }

    /// The one that bears our mark.
    async fn own(&self, context: &Context<Aws>) -> Result<Option<IntegrationOutput>> {
        let mark = mark(context);
        let all = self.all(context.config()).await?;
        Ok(all.into_iter().find(|integration| integration.mark.as_ref() == Some(&mark)))
    }

    fn observed(seen: &IntegrationOutput) -> Self {
        Integration {
            api_id: seen.api_id.clone(),
            integration_type: seen.integration_type,
            integration_uri: seen.integration_uri.clone(),
            integration_method: seen.integration_method.clone(),
            payload_format_version: seen.payload_format_version.clone(),
            timeout_milliseconds: seen.timeout_milliseconds,
            description: seen.description.clone(),
        }
    }

    /// The properties that can be changed, with our mark behind the description.
    fn to_json(&self, mark: &str) -> Value {
        json!({
            "integrationUri": self.integration_uri,
            "integrationMethod": self.integration_method,
            "payloadFormatVersion": self.payload_format_version,
            "timeoutInMillis": self.timeout_milliseconds,
            "description": marked(&self.description, mark),
        })
    }
}

/// An integration in an answer of API Gateway.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct IntegrationDescription {
    integration_id: String,
    integration_type: String,
    integration_uri: String,
    integration_method: String,
    payload_format_version: String,
    timeout_in_millis: Option<i64>,
    description: String,
}

fn output(api: &str, seen: IntegrationDescription) -> IntegrationOutput {
    let id = seen.integration_id;
    let (description, mark) = unmarked(&seen.description);
    let timeout = seen.timeout_in_millis.and_then(|milliseconds| u64::try_from(milliseconds).ok());
    IntegrationOutput {
        target: format!("integrations/{id}"),
        id,
        api_id: api.to_owned(),
        integration_type: match seen.integration_type.as_str() {
            "HTTP_PROXY" => IntegrationType::Server,
            _ => IntegrationType::Function,
        },
        integration_uri: seen.integration_uri,
        integration_method: Some(seen.integration_method)
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| "POST".to_owned()),
        payload_format_version: seen.payload_format_version,
        timeout_milliseconds: timeout.unwrap_or(30000),
        description: description.to_owned(),
        mark: mark.map(ToOwned::to_owned),
    }
}

impl IntegrationType {
    fn name(self) -> &'static str {
        match self {
            IntegrationType::Function => "AWS_PROXY",
            IntegrationType::Server => "HTTP_PROXY",
        }
    }
}

impl Crud for Integration {
    type Output = IntegrationOutput;
    type Config = Aws;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Aws>) -> Result<IntegrationOutput> {
        let (aws, api) = (context.config(), &self.api_id);
        // API Gateway makes another one each time: an earlier attempt whose answer was lost must not be doubled.
        let id = match self.own(context).await? {
            Some(earlier) => earlier.id,
            None => {
                let mut input = self.to_json(&mark(context));
                input["integrationType"] = json!(self.integration_type.name());
                let call = RestCall::post(&["v2", "apis", api, "integrations"], input);
                let created = aws.api.call(call).await;
                let created: IntegrationDescription =
                    created.map_err(cannot(format!("create an integration of the API `{api}`")))?;
                created.integration_id
            }
        };
        self.see(aws, api, &id).await
    }

    async fn read(&self, context: &Context<Aws>, prior: &IntegrationOutput) -> Result<IntegrationOutput> {
        self.see(context.config(), &prior.api_id, &prior.id).await
    }

    async fn update(&self, context: &Context<Aws>, prior: &Prior<Self>) -> Result<IntegrationOutput> {
        let (aws, api, id) = (context.config(), &prior.outputs.api_id, &prior.outputs.id);
        let call = RestCall::patch(&["v2", "apis", api, "integrations", id], self.to_json(&mark(context)));
        let updated = aws.api.send(call).await;
        updated.map_err(cannot(format!("change the integration `{id}` of the API `{api}`")))?;
        self.see(aws, api, id).await
    }

    async fn delete(&self, context: &Context<Aws>, prior: &IntegrationOutput) -> Result<()> {
        let (aws, api, id) = (context.config(), &prior.api_id, &prior.id);
        let seen = self.see(aws, api, id).await?;
        if seen.mark.is_none() {
            return Err(tags::not_ours(&format!("the integration `{id}` of the API `{api}`")));
        }
        let deleted = aws.api.send(RestCall::delete(&["v2", "apis", api, "integrations", id])).await;
        deleted.map_err(cannot(format!("delete the integration `{id}` of the API `{api}`")))
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, IntegrationOutput>>> {
        let found = self.own(context).await?;
        let found = found.map(|outputs| Found { inputs: Self::observed(&outputs), outputs });
        Ok(found.map_or_else(Sightings::absent, Sightings::owned))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, IntegrationOutput>> {
        let Some((api, id)) = id.split_once('/') else {
            return Err(Error::invalid(format!(
                "`{id}` is not an API and an integration, such as `a1b2c3/d4e5f6`"
            )));
        };
        let seen = Self::observed(&output(api, IntegrationDescription::default()));
        let outputs = seen.see(context.config(), api, id).await?;
        Ok(Found { inputs: Self::observed(&outputs), outputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_behind_the_description() {
        for description in ["", "calls the worker", "trueup: our own"] {
            let marked = marked(description, "trueup:shop-prod-x");
            assert_eq!(unmarked(&marked), (description, Some("trueup:shop-prod-x")), "{marked}");
        }
        assert_eq!(unmarked("untrueup:x"), ("untrueup:x", None));
    }
}
