//! HTTP APIs: the API itself, and what it is made of.
//!
//! An API has tags, and so has a stage. Integrations have none: a mark in their description tells whose they are. Routes
//! have nothing: within an API, the route key is their identity, and they belong to whom the API belongs to.

mod gateway;
mod integration;
mod route;
mod stage;

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{Context, Result};

use crate::client::RestCall;
use crate::failure::cannot_see;
use crate::settings::Aws;
use crate::tags::{self, Tags};

pub use gateway::{Api, ApiOutput, Cors};
pub use integration::{Integration, IntegrationOutput, IntegrationType};
pub use route::{Route, RouteOutput};
pub use stage::{Stage, StageOutput};

/// The ARN under which an API, or what is in it, is tagged.
fn tagged_arn(aws: &Aws, path: &str) -> String {
    format!("arn:{}:apigateway:{}::/apis/{path}", aws.partition(), aws.region)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TagsAnswer {
    tags: Tags,
}

/// A page of a list.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Page<T> {
    items: Vec<T>,
    next_token: Option<String>,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Page { items: Vec::new(), next_token: None }
    }
}

/// The tags of an API or a stage.
async fn see_tags(aws: &Aws, path: &str) -> Result<Tags> {
    let seen = aws.api.call(RestCall::get(&["v2", "tags", &tagged_arn(aws, path)])).await;
    let TagsAnswer { tags } = seen.map_err(cannot_see(format!("the tags of `{path}`")))?;
    Ok(tags::seen(tags))
}

/// Gives an API or a stage the tags it is to have.
async fn tag(context: &Context<Aws>, path: &str, seen: &Tags, written: &Tags) -> Result<()> {
    let (api, arn) = (&context.config().api, tagged_arn(context.config(), path));
    let place = ["v2", "tags", arn.as_str()];
    let set = |tags: Tags| api.send(RestCall::post(&place, json!({ "tags": tags })));
    let remove = |keys: Vec<String>| api.send(RestCall::delete(&place).query("tagKeys", keys));
    tags::synchronise((context, written), seen, &format!("`{path}`"), set, remove).await
}
