//! `awsn_apigatewayv2_api`: an HTTP API.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use trueup_provider::{
    Context, Converge, Current, Error, FieldType, Inputs, NameRules, Outputs, Ownership, Recovery, Result,
    Sightings, Traits,
};

use super::{Page, see_tags, tagged_arn};
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see, if_found};
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// An HTTP API. Its routes, integrations and stages are resources of their own.
#[derive(Inputs, Clone)]
pub struct Api {
    /// Its name, which need not be unique. If it is left out, one is made of stack, stage and address.
    #[trueup(length(min = 1, max = 128))]
    name: Option<String>,
    /// What it is for.
    #[trueup(default, length(max = 1024))]
    description: String,
    /// Which pages of other sites may call it from a browser. If it is left out, none.
    cors: Option<Cors>,
    /// Tags.
    #[trueup(default)]
    tags: Tags,
}

/// Which pages of other sites may call an API from a browser.
#[derive(FieldType, Clone, PartialEq, Eq, Debug)]
pub struct Cors {
    /// The sites, such as `https://example.com`, or `*`.
    allow_origins: BTreeSet<String>,
    /// With which methods.
    #[trueup(default)]
    allow_methods: BTreeSet<String>,
    /// With which headers.
    #[trueup(default)]
    allow_headers: BTreeSet<String>,
    /// For how long a browser may remember it, in seconds.
    #[trueup(default = 0, range(min = 0, max = 86400))]
    max_age: u64,
}

/// An HTTP API as it is.
#[derive(Outputs, Clone)]
pub struct ApiOutput {
    /// Its id.
    #[trueup(identity, stable)]
    id: String,
    /// Its name.
    #[trueup(mirrors = "name")]
    name: String,
    /// Where it is called.
    #[trueup(stable)]
    endpoint: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// What the ARNs of calls to it begin with.
    #[trueup(stable)]
    execution_arn: String,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: String,
    /// Which pages of other sites may call it.
    #[trueup(mirrors = "cors")]
    cors: Option<Cors>,
    /// All its tags, those by which it is recognised included.
    tags_all: Tags,
}

/// An API in an answer of API Gateway.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ApiDescription {
    api_id: String,
    name: String,
    pub(super) api_endpoint: String,
    description: String,
    cors_configuration: Option<CorsConfiguration>,
    tags: Tags,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct CorsConfiguration {
    allow_origins: BTreeSet<String>,
    allow_methods: BTreeSet<String>,
    allow_headers: BTreeSet<String>,
    max_age: i64,
}

impl Api {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    async fn create(&self, context: &Context<Aws>) -> Result<ApiOutput> {
        let (aws, name) = (context.config(), self.name(context));
        let input = json!({
            "name": name,
            "protocolType": "HTTP",
            "description": self.description,
            "corsConfiguration": self.cors.clone().map(CorsConfiguration::from),
            "tags": tags::wanted(context, &self.tags),
        });
        let created = aws.api.call(RestCall::post(&["v2", "apis"], input)).await;
        let created: ApiDescription = created.map_err(cannot(format!("create the API `{name}`")))?;
        see(aws, &created.api_id).await
    }

    async fn synchronise(&self, context: &Context<Aws>, seen: &ApiOutput) -> Result<()> {
        let (aws, id, name) = (context.config(), &seen.id, self.name(context));
        super::tag(context, id, &seen.tags_all, &self.tags).await?;
        if seen.cors.is_some() && self.cors.is_none() {
            let deleted = aws.api.send(RestCall::delete(&["v2", "apis", id, "cors"])).await;
            deleted.map_err(cannot(format!("keep other sites from the API `{id}`")))?;
        }
        if (&seen.name, &seen.description) != (&name, &self.description) || seen.cors != self.cors {
            let input = json!({
                "name": name,
                "description": self.description,
                "corsConfiguration": self.cors.clone().map(CorsConfiguration::from),
            });
            let updated = aws.api.send(RestCall::patch(&["v2", "apis", id], input)).await;
            updated.map_err(cannot(format!("change the API `{id}`")))?;
        }
        Ok(())
    }
}

/// The API of this id.
async fn see(aws: &Aws, id: &str) -> Result<ApiOutput> {
    let seen = aws.api.call(RestCall::get(&["v2", "apis", id])).await;
    let seen: ApiDescription = seen.map_err(cannot_see(format!("the API `{id}`")))?;
    let tags = see_tags(aws, id).await?;
    output(aws, ApiDescription { api_id: id.to_owned(), tags, ..seen }).await
}

async fn output(aws: &Aws, seen: ApiDescription) -> Result<ApiOutput> {
    let id = seen.api_id;
    let (partition, region, account) = (aws.partition(), &aws.region, &aws.caller().await?.account);
    Ok(ApiOutput {
        arn: tagged_arn(aws, &id),
        execution_arn: format!("arn:{partition}:execute-api:{region}:{account}:{id}"),
        id,
        name: seen.name,
        endpoint: seen.api_endpoint,
        description: seen.description,
        cors: seen.cors_configuration.map(Cors::from),
        tags_all: tags::seen(seen.tags),
    })
}

/// All APIs that are ours, each with its generation. Names tell nothing: any number of APIs can have the same.
async fn own(context: &Context<Aws>) -> Result<Vec<(ApiOutput, Ownership)>> {
    let aws = context.config();
    let mut own = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let page = aws.api.call(RestCall::get(&["v2", "apis"]).query("nextToken", next)).await;
        let page: Page<ApiDescription> = page.map_err(cannot_see("the account's APIs"))?;
        for api in page.items {
            let mut tags = tags::seen(api.tags.clone());
            let ownership = tags::recognise(context, &mut tags);
            if ownership != Ownership::Unowned {
                own.push((output(aws, api).await?, ownership));
            }
        }
        next = page.next_token;
        if next.is_none() {
            return Ok(own);
        }
    }
}

impl Converge for Api {
    type Output = ApiOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(128), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<Aws>, current: &Current<Self>) -> Result<ApiOutput> {
        let aws = context.config();
        let seen = match &current.output {
            Some(output) => if_found(see(aws, &output.id).await)?,
            // An earlier attempt whose answer was lost: of the same generation, or it would be what is replaced.
            None => {
                let this = Ownership::Owned { generation: Some(context.generation) };
                own(context).await?.into_iter().find(|(_, ownership)| *ownership == this).map(|(api, _)| api)
            }
        };
        let seen = match seen {
            Some(seen) => seen,
            None => self.create(context).await?,
        };
        self.synchronise(context, &seen).await.map_err(|error| error.with_partial(&seen))?;
        see(aws, &seen.id).await
    }

    async fn read(&self, context: &Context<Aws>, prior: Option<&ApiOutput>) -> Result<Sightings<ApiOutput>> {
        if let Some(prior) = prior {
            return see(context.config(), &prior.id).await.map(Sightings::owned);
        }
        let found = own(context).await?.into_iter();
        Ok(found.fold(Sightings::absent(), |found, (api, ownership)| found.and(api, ownership)))
    }

    async fn delete(&self, context: &Context<Aws>, output: &ApiOutput) -> Result<()> {
        let (aws, id) = (context.config(), &output.id);
        let seen = see(aws, id).await?;
        tags::ensure_owned(context, &seen.tags_all, &format!("the API `{id}`"))?;
        let deleted = aws.api.send(RestCall::delete(&["v2", "apis", id])).await;
        deleted.map_err(cannot(format!("delete the API `{id}`")))
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<ApiOutput> {
        if id.is_empty() {
            return Err(Error::invalid("an API is imported by its id, such as `a1b2c3d4e5`"));
        }
        see(context.config(), id).await
    }
}

impl From<Cors> for CorsConfiguration {
    fn from(cors: Cors) -> Self {
        CorsConfiguration {
            allow_origins: cors.allow_origins,
            allow_methods: cors.allow_methods,
            allow_headers: cors.allow_headers,
            max_age: i64::try_from(cors.max_age).unwrap_or(i64::MAX),
        }
    }
}

impl From<CorsConfiguration> for Cors {
    fn from(cors: CorsConfiguration) -> Self {
        Cors {
            allow_origins: cors.allow_origins,
            allow_methods: cors.allow_methods,
            allow_headers: cors.allow_headers,
            max_age: u64::try_from(cors.max_age).unwrap_or(0),
        }
    }
}
