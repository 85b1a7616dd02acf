//! `awsn_apigatewayv2_route`: which calls of an API go where.

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{Context, Crud, Error, Found, Inputs, Outputs, Prior, Recovery, Result, Sightings};

use super::{Page, see_tags};
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;
use crate::tags;

/// Which calls of an API go where.
#[derive(Inputs, Clone)]
pub struct Route {
    /// The id of the API. Another API makes another route.
    #[trueup(identity, replace)]
    api_id: String,
    /// Which calls: a method and a path, such as `GET /jobs/{id}`, or `$default` for all others. Another key makes another
    /// route.
    #[trueup(identity, replace, length(min = 1))]
    route_key: String,
    /// Where they go: the `target` of an integration.
    #[trueup(pattern = "^integrations/")]
    target: String,
}

/// A route as it is.
#[derive(Outputs, Clone)]
pub struct RouteOutput {
    /// Its id within the API.
    #[trueup(stable)]
    id: String,
    /// The id of the API.
    #[trueup(mirrors = "api_id", stable)]
    api_id: String,
    /// Which calls.
    #[trueup(mirrors = "route_key", stable)]
    route_key: String,
    /// Where they go.
    #[trueup(mirrors = "target")]
    target: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RouteDescription {
    route_id: String,
    route_key: String,
    target: String,
}

impl Route {
    /// The route with this key.
    async fn see(&self, aws: &Aws) -> Result<RouteOutput> {
        let (api, key) = (&self.api_id, &self.route_key);
        let mut next: Option<String> = None;
        loop {
            let call = RestCall::get(&["v2", "apis", api, "routes"]).query("nextToken", next);
            let page = aws.api.call(call).await;
            let page: Page<RouteDescription> =
                page.map_err(cannot_see(format!("the routes of the API `{api}`")))?;
            if let Some(route) = page.items.into_iter().find(|it| it.route_key == *key) {
                return Ok(RouteOutput {
                    id: route.route_id,
                    api_id: api.clone(),
                    route_key: key.clone(),
                    target: route.target,
                });
            }
            next = page.next_token;
            if next.is_none() {
                return Err(Error::not_found(format!("the API `{api}` has no route `{key}`")));
            }
        }
    }
}

impl Crud for Route {
    type Output = RouteOutput;
    type Config = Aws;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Aws>) -> Result<RouteOutput> {
        let (aws, api, key) = (context.config(), &self.api_id, &self.route_key);
        let input = json!({ "routeKey": key, "target": self.target });
        let created = aws.api.send(RestCall::post(&["v2", "apis", api, "routes"], input)).await;
        created.map_err(cannot(format!("create the route `{key}` of the API `{api}`")))?;
        self.see(aws).await
    }

    async fn read(&self, context: &Context<Aws>, _: &RouteOutput) -> Result<RouteOutput> {
        self.see(context.config()).await
    }

    async fn update(&self, context: &Context<Aws>, prior: &Prior<Self>) -> Result<RouteOutput> {
        let (aws, api, key) = (context.config(), &self.api_id, &self.route_key);
        let path = ["v2", "apis", api, "routes", &prior.outputs.id];
        let updated = aws.api.send(RestCall::patch(&path, json!({ "target": self.target }))).await;
        updated.map_err(cannot(format!("change the route `{key}` of the API `{api}`")))?;
        self.see(aws).await
    }

    async fn delete(&self, context: &Context<Aws>, prior: &RouteOutput) -> Result<()> {
        let (api, key) = (&self.api_id, &self.route_key);
        let call = RestCall::delete(&["v2", "apis", api, "routes", &prior.id]);
        let deleted = context.config().api.send(call).await;
        deleted.map_err(cannot(format!("delete the route `{key}` of the API `{api}`")))
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, RouteOutput>>> {
        let outputs = self.see(context.config()).await?;
        let found = Found { inputs: Route { target: outputs.target.clone(), ..self.clone() }, outputs };
        let ours = tags::is_of_this_stack(context, &see_tags(context.config(), &self.api_id).await?);
        Ok(if ours { Sightings::owned(found) } else { Sightings::unowned(found) })
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, RouteOutput>> {
        let Some((api, key)) = id.split_once('/') else {
            return Err(Error::invalid(format!(
                "`{id}` is not an API and a route key, such as `a1b2c3/GET /jobs`"
            )));
        };
        let named = Route { api_id: api.to_owned(), route_key: key.to_owned(), target: String::new() };
        let outputs = named.see(context.config()).await?;
        Ok(Found { inputs: Route { target: outputs.target.clone(), ..named }, outputs })
    }
}
