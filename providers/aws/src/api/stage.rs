//! `awsn_apigatewayv2_stage`: where an API is published.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, Outputs, PlanHook, Prior, Recovery, Result, Sightings,
};

use super::gateway::ApiDescription;
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// Where an API is published.
#[derive(Inputs, Clone)]
pub struct Stage {
    /// The id of the API. Another API makes another stage.
    #[trueup(identity, replace)]
    api_id: String,
    /// The first part of the path, or `$default` for none. Another name makes another stage.
    #[trueup(identity, replace, default = "$default", pattern = "^(\\$default|[A-Za-z0-9_-]{1,128})$")]
    name: String,
    /// Whether each change of the API is published at once.
    #[trueup(default = true)]
    auto_deploy: bool,
    /// What it is for.
    #[trueup(default, length(max = 1024))]
    description: String,
    /// Variables for what the API calls.
    #[trueup(default)]
    variables: BTreeMap<String, String>,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// A stage as it is.
#[derive(Outputs, Clone)]
pub struct StageOutput {
    /// The id of the API.
    #[trueup(mirrors = "api_id", stable)]
    api_id: String,
    /// The first part of the path.
    #[trueup(mirrors = "name", stable)]
    name: String,
    /// Where it is called.
    #[trueup(stable)]
    invoke_url: String,
    /// Whether each change of the API is published at once.
    #[trueup(mirrors = "auto_deploy")]
    auto_deploy: bool,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: String,
    /// Variables for what the API calls.
    #[trueup(mirrors = "variables")]
    variables: BTreeMap<String, String>,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StageDescription {
    auto_deploy: bool,
    description: String,
    stage_variables: BTreeMap<String, String>,
}

impl Stage {
    async fn see(&self, aws: &Aws) -> Result<StageOutput> {
        let (api, name) = (&self.api_id, &self.name);
        let what = format!("the stage `{name}` of the API `{api}`");
        let seen = aws.api.call(RestCall::get(&["v2", "apis", api, "stages", name])).await;
        let seen: StageDescription = seen.map_err(cannot_see(&what))?;
        let of: ApiDescription =
            aws.api.call(RestCall::get(&["v2", "apis", api])).await.map_err(cannot_see(&what))?;
        let endpoint = of.api_endpoint;
        let invoke_url = if name == "$default" { endpoint } else { format!("{endpoint}/{name}") };
        let variables = seen.stage_variables.into_iter();
        Ok(StageOutput {
            api_id: api.clone(),
            name: name.clone(),
            invoke_url,
            auto_deploy: seen.auto_deploy,
            description: seen.description,
            variables: variables.filter(|(_, value)| !value.is_empty()).collect(),
            tags_all: super::see_tags(aws, &self.path()).await?,
        })
    }

    fn path(&self) -> String {
        format!("{}/stages/{}", self.api_id, self.name)
    }

    fn observed(&self, seen: &StageOutput) -> Self {
        Stage {
            auto_deploy: seen.auto_deploy,
            description: seen.description.clone(),
            variables: seen.variables.clone(),
            tags: tags::written(&seen.tags_all),
            ..self.clone()
        }
    }
}

impl Crud for Stage {
    type Output = StageOutput;
    type Config = Aws;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Aws>) -> Result<StageOutput> {
        let (aws, api, name) = (context.config(), &self.api_id, &self.name);
        let input = json!({
            "stageName": name,
            "autoDeploy": self.auto_deploy,
            "description": self.description,
            "stageVariables": self.variables,
            "tags": tags::wanted(context, &self.tags),
        });
        let created = aws.api.send(RestCall::post(&["v2", "apis", api, "stages"], input)).await;
        created.map_err(cannot(format!("create the stage `{name}` of the API `{api}`")))?;
        self.see(aws).await
    }

    async fn read(&self, context: &Context<Aws>, _: &StageOutput) -> Result<StageOutput> {
        self.see(context.config()).await
    }

    async fn update(&self, context: &Context<Aws>, _: &Prior<Self>) -> Result<StageOutput> {
        let (aws, api, name) = (context.config(), &self.api_id, &self.name);
        let seen = self.see(aws).await?;
        super::tag(context, &self.path(), &seen.tags_all, &self.tags).await?;
        // API Gateway adds variables to those it has: an empty one takes the old away.
        let gone = seen.variables.into_keys().filter(|variable| !self.variables.contains_key(variable));
        let gone = gone.map(|variable| (variable, String::new()));
        let variables: BTreeMap<String, String> = self.variables.clone().into_iter().chain(gone).collect();
        let input = json!({
            "autoDeploy": self.auto_deploy,
            "description": self.description,
            "stageVariables": variables,
        });
        let updated = aws.api.send(RestCall::patch(&["v2", "apis", api, "stages", name], input)).await;
        updated.map_err(cannot(format!("change the stage `{name}` of the API `{api}`")))?;
        self.see(aws).await
    }

    async fn delete(&self, context: &Context<Aws>, _: &StageOutput) -> Result<()> {
        let (aws, api, name) = (context.config(), &self.api_id, &self.name);
        let seen = self.see(aws).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the stage `{name}` of the API `{api}`"))?;
        let deleted = aws.api.send(RestCall::delete(&["v2", "apis", api, "stages", name])).await;
        deleted.map_err(cannot(format!("delete the stage `{name}` of the API `{api}`")))
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        tags::update_if_unmarked(request.prior.as_ref().map(|prior| &prior.outputs.tags_all), plan);
        Ok(())
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, StageOutput>>> {
        let mut outputs = self.see(context.config()).await?;
        let ownership = tags::recognise(context, &mut outputs.tags_all);
        Ok(Sightings::recognised(Found { inputs: self.observed(&outputs), outputs }, ownership))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, StageOutput>> {
        let Some((api, name)) = id.split_once('/') else {
            return Err(Error::invalid(format!(
                "`{id}` is not an API and a stage, such as `a1b2c3/$default`"
            )));
        };
        let named = Stage {
            api_id: api.to_owned(),
            name: name.to_owned(),
            auto_deploy: true,
            description: String::new(),
            variables: BTreeMap::new(),
            tags: Tags::new(),
        };
        let outputs = named.see(context.config()).await?;
        Ok(Found { inputs: named.observed(&outputs), outputs })
    }
}
