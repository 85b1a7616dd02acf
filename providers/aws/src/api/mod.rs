//! HTTP APIs: the API itself, and what it is made of.
//!
//! An API has tags, and so has a stage. Integrations have none: a mark in their description tells whose they are. Routes
//! have nothing: within an API, the route key is their identity, and they belong to whom the API belongs to.

mod gateway;
mod integration;
mod route;
mod stage;

use trueup_provider::{Context, Result};

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

/// The tags of an API or a stage.
async fn see_tags(aws: &Aws, path: &str) -> Result<Tags> {
    let seen = aws.api.get_tags().resource_arn(tagged_arn(aws, path)).send().await;
    let seen = seen.map_err(cannot_see(format!("the tags of `{path}`")))?;
    Ok(tags::seen(seen.tags.unwrap_or_default()))
}

/// Gives an API or a stage the tags it is to have.
async fn tag(context: &Context<Aws>, path: &str, seen: &Tags, written: &Tags) -> Result<()> {
    let (api, arn) = (&context.config().api, &tagged_arn(context.config(), path));
    let set =
        |tags: Tags| api.tag_resource().resource_arn(arn).set_tags(Some(tags.into_iter().collect())).send();
    let remove = |keys| api.untag_resource().resource_arn(arn).set_tag_keys(Some(keys)).send();
    tags::synchronise((context, written), seen, &format!("`{path}`"), set, remove).await
}
