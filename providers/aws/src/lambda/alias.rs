//! `awsn_lambda_alias`: a name for a version of a function.
//!
//! An alias carries no tags: it belongs to whom the function belongs to.

use serde::Deserialize;
use serde_json::{Value, json};
use trueup_provider::{Context, Crud, Error, Found, Inputs, Outputs, Prior, Recovery, Result, Sightings};

use super::seen::FunctionAnswer;
use super::{VERSION, function_name, invoke_arn};
use crate::client::RestCall;
use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;
use crate::tags;

/// A name for a version of a function.
#[derive(Inputs, Clone)]
pub struct Alias {
    /// The alias. Another one makes another alias.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9_-]{1,128}$")]
    name: String,
    /// The function, by its name or its ARN: which of the two makes no difference. Another function makes another alias.
    #[trueup(identity, replace, length(min = 1))]
    function_name: String,
    /// The version that the alias stands for.
    #[trueup(default = "$LATEST", pattern = "^(\\$LATEST|[0-9]+)$")]
    function_version: String,
    /// What it is for.
    #[trueup(default, length(max = 256))]
    description: String,
}

/// An alias as it is.
#[derive(Outputs, Clone)]
pub struct AliasOutput {
    /// The alias.
    #[trueup(mirrors = "name", stable)]
    name: String,
    /// The function, as the program names it.
    #[trueup(mirrors = "function_name", stable)]
    function_name: String,
    /// Its ARN.
    #[trueup(stable)]
    arn: String,
    /// Where API Gateway calls the function under this name.
    #[trueup(stable)]
    invoke_arn: String,
    /// The version that the alias stands for.
    #[trueup(mirrors = "function_version")]
    function_version: String,
    /// What it is for.
    #[trueup(mirrors = "description")]
    description: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct AliasDescription {
    alias_arn: String,
    function_version: String,
    description: String,
}

impl Alias {
    async fn see(&self, aws: &Aws) -> Result<AliasOutput> {
        let (function, name) = (function_name(&self.function_name), &self.name);
        let seen = aws.lambda.call(RestCall::get(&self.path())).await;
        let seen: AliasDescription =
            seen.map_err(cannot_see(format!("the alias `{name}` of the function `{function}`")))?;
        Ok(AliasOutput {
            name: name.clone(),
            function_name: self.function_name.clone(),
            invoke_arn: invoke_arn(&aws.region, &seen.alias_arn),
            arn: seen.alias_arn,
            function_version: seen.function_version,
            description: seen.description,
        })
    }

    /// Whether the function bears the marks of this stack.
    async fn is_ours(&self, context: &Context<Aws>) -> Result<bool> {
        let function = function_name(&self.function_name);
        let seen = context.config().lambda.call(RestCall::get(&[VERSION, "functions", function])).await;
        let seen: FunctionAnswer = seen.map_err(cannot_see(format!("the function `{function}`")))?;
        Ok(tags::is_of_this_stack(context, &tags::seen(seen.tags)))
    }

    fn path(&self) -> [&str; 5] {
        [VERSION, "functions", function_name(&self.function_name), "aliases", &self.name]
    }

    /// The properties that can be changed.
    fn to_json(&self) -> Value {
        json!({ "FunctionVersion": self.function_version, "Description": self.description })
    }
}

impl Crud for Alias {
    type Output = AliasOutput;
    type Config = Aws;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Aws>) -> Result<AliasOutput> {
        let aws = context.config();
        let (function, name) = (function_name(&self.function_name), &self.name);
        let mut input = self.to_json();
        input["Name"] = json!(name);
        let created =
            aws.lambda.send(RestCall::post(&[VERSION, "functions", function, "aliases"], input)).await;
        created.map_err(cannot(format!("create the alias `{name}` of the function `{function}`")))?;
        self.see(aws).await
    }

    async fn read(&self, context: &Context<Aws>, _: &AliasOutput) -> Result<AliasOutput> {
        self.see(context.config()).await
    }

    async fn update(&self, context: &Context<Aws>, _: &Prior<Self>) -> Result<AliasOutput> {
        let aws = context.config();
        let (function, name) = (function_name(&self.function_name), &self.name);
        let updated = aws.lambda.send(RestCall::put(&self.path(), self.to_json())).await;
        updated.map_err(cannot(format!("change the alias `{name}` of the function `{function}`")))?;
        self.see(aws).await
    }

    async fn delete(&self, context: &Context<Aws>, _: &AliasOutput) -> Result<()> {
        let aws = context.config();
        let (function, name) = (function_name(&self.function_name), &self.name);
        // Lambda takes the delete of what is not there for a success.
        self.see(aws).await?;
        let deleted = aws.lambda.send(RestCall::delete(&self.path())).await;
        deleted.map_err(cannot(format!("delete the alias `{name}` of the function `{function}`")))
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        field == "function_name"
            && function_name(&prior.function_name) == function_name(&current.function_name)
    }

    async fn lookup(&self, context: &Context<Aws>) -> Result<Sightings<Found<Self, AliasOutput>>> {
        let outputs = self.see(context.config()).await?;
        let inputs = Alias {
            function_version: outputs.function_version.clone(),
            description: outputs.description.clone(),
            ..self.clone()
        };
        let found = Found { inputs, outputs };
        Ok(if self.is_ours(context).await? { Sightings::owned(found) } else { Sightings::unowned(found) })
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<Found<Self, AliasOutput>> {
        let Some((function, name)) = id.rsplit_once(['/', ':']) else {
            return Err(Error::invalid(format!(
                "`{id}` is not a function and an alias, such as `jobs/live`"
            )));
        };
        let inputs = Alias {
            name: name.to_owned(),
            function_name: function.to_owned(),
            function_version: String::new(),
            description: String::new(),
        };
        let outputs = inputs.see(context.config()).await?;
        let inputs = Alias {
            function_version: outputs.function_version.clone(),
            description: outputs.description.clone(),
            ..inputs
        };
        Ok(Found { inputs, outputs })
    }
}
