//! `awsn_lambda_function`: code that runs when it is called.
//!
//! Lambda takes one change at a time and is busy for a while after each, and it takes a role only once that is known
//! everywhere. So a reconcile does what is missing, step by step, and says that it is pending or worth a retry; called
//! again, it goes on from where the function is.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use trueup_core::{Marked, Value, value};
use trueup_provider::{
    Context, Converge, Current, Diff, Error, FieldType, Inputs, NameRules, Outputs, Ownership, PlanHook,
    Recovery, Result, Sightings, Traits,
};

use super::archive::Archive;
use super::bindings::Bound;
use super::invokers::{self, Invoker};
use super::seen::{self, SeenFunction};
use super::{TAGS_VERSION, VERSION};
use crate::client::RestCall;
use crate::failure::{cannot, if_found};
use crate::settings::Aws;
use crate::tags::{self, Tags};

/// How long to wait before looking again at a function that is busy.
const BUSY_DELAY: Duration = Duration::from_secs(1);

/// Code that runs when it is called.
///
/// # What is bound to it
/// A queue, table or bucket that is bound to a function gives it variables, named after the binding's key, and lets its
/// role use that one thing:
///
/// ```hcl
/// resource "awsn_sqs_queue" "jobs" {
///   bind "jobs" {
///     to      = awsn_lambda_function.worker
///     payload = { arn = self.arn, url = self.url, access = ["read", "write"] }
///   }
/// }
/// ```
///
/// The function then finds `JOBS_ARN`, `JOBS_NAME` and `JOBS_URL` in its environment. What its role is allowed for this is
/// in a policy of the role's own, named `trueup-bound-` and the function's name.
///
/// # In a cycle
/// A queue that is bound to a function and whose policy names that function forms a cycle with it. Then a stub of the
/// function is made first: it has no code to run, no variables, no layers, and nobody may call it. Its `name`, `role` and
/// `runtime` must be known before; if the role is part of the cycle too, a stub of the role comes first.
#[derive(Inputs, Clone)]
pub struct Function {
    /// Its name. If it is left out, one is made of stack, stage and address. Another name makes another function.
    #[trueup(identity, replace, pattern = "^[A-Za-z0-9_-]{1,64}$")]
    pub(super) name: Option<String>,
    /// The ARN of the role that it acts as.
    #[trueup(pattern = "^arn:")]
    pub(super) role: String,
    /// What it runs on, such as `python3.13` or `nodejs22.x`.
    pub(super) runtime: String,
    /// Where it begins, such as `main.handler`.
    pub(super) handler: String,
    /// A folder with the code, or a ZIP archive. A relative path begins at the stack's folder.
    #[trueup(length(min = 1))]
    pub(super) code: String,
    /// What it is for.
    #[trueup(default, length(max = 256))]
    pub(super) description: String,
    /// How long it may run, in seconds.
    #[trueup(default = 3, range(min = 1, max = 900))]
    pub(super) timeout: u64,
    /// How much memory it has, in MB.
    #[trueup(default = 128, range(min = 128, max = 10240))]
    pub(super) memory_size: u64,
    /// The processor it runs on: `x86_64` or `arm64`.
    #[trueup(default = Architecture::X86)]
    pub(super) architecture: Architecture,
    /// Variables that it finds in its environment.
    #[trueup(default)]
    pub(super) environment: BTreeMap<String, Marked<String>>,
    /// The ARNs of layers that are put below its code, in order.
    #[trueup(default)]
    pub(super) layers: Vec<String>,
    /// The log group it writes to, if not `/aws/lambda/` and its name.
    pub(super) log_group: Option<String>,
    /// Whether each change makes a version with a number.
    #[trueup(default)]
    pub(super) publish: bool,
    /// Which services may call it.
    #[trueup(default)]
    pub(super) invokers: BTreeMap<String, Invoker>,
    /// Tags.
    #[trueup(default)]
    pub(super) tags: Tags,
}

/// The processor that a function runs on.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// Intel and AMD.
    #[trueup(rename = "x86_64")]
    X86,
    /// Graviton.
    #[trueup(rename = "arm64")]
    Arm,
}

/// A function as it is.
#[derive(Outputs, Clone)]
pub struct FunctionOutput {
    /// Its name.
    #[trueup(identity, stable)]
    pub(super) name: String,
    /// Its ARN.
    #[trueup(stable)]
    pub(super) arn: String,
    /// Where API Gateway calls it.
    #[trueup(stable)]
    pub(super) invoke_arn: String,
    /// The role that it acts as.
    #[trueup(mirrors = "role")]
    pub(super) role: String,
    /// What it runs on.
    #[trueup(mirrors = "runtime")]
    pub(super) runtime: String,
    /// Where it begins.
    #[trueup(mirrors = "handler")]
    pub(super) handler: String,
    /// The digest of its code, packed.
    pub(super) code_sha256: String,
    /// What it is for.
    #[trueup(mirrors = "description")]
    pub(super) description: String,
    /// How long it may run, in seconds.
    #[trueup(mirrors = "timeout")]
    pub(super) timeout: u64,
    /// How much memory it has, in MB.
    #[trueup(mirrors = "memory_size")]
    pub(super) memory_size: u64,
    /// The processor it runs on.
    #[trueup(mirrors = "architecture")]
    pub(super) architecture: Architecture,
    /// All variables that it finds in its environment, those of bindings included.
    pub(super) environment: BTreeMap<String, Marked<String>>,
    /// The layers below its code.
    #[trueup(mirrors = "layers")]
    pub(super) layers: Vec<String>,
    /// The log group it writes to.
    #[trueup(mirrors = "log_group")]
    pub(super) log_group: String,
    /// The version with the highest number, or `$LATEST` where there is none.
    #[trueup(informational)]
    pub(super) version: String,
    /// Which services may call it.
    #[trueup(mirrors = "invokers")]
    pub(super) invokers: BTreeMap<String, Invoker>,
    /// What its role is allowed for what is bound to it.
    pub(super) bound_policy: Option<String>,
    /// All its tags, those by which it is recognised included.
    pub(super) tags_all: Tags,
}

impl Function {
    fn name(&self, context: &Context<Aws>) -> String {
        self.name.clone().unwrap_or_else(|| context.physical_name())
    }

    async fn create(
        &self,
        context: &Context<Aws>,
        name: &str,
        archive: Archive,
        bound: &Bound,
    ) -> Result<()> {
        let mut input = self.configuration(name, bound).to_json();
        input["FunctionName"] = json!(name);
        input["Code"] = json!({ "ZipFile": STANDARD.encode(archive.bytes) });
        input["Architectures"] = json!([self.architecture.name()]);
        input["Tags"] = json!(tags::wanted(context, &self.tags));
        let created = context.config().lambda.send(RestCall::post(&[VERSION, "functions"], input)).await;
        created.map_err(cannot(format!("create the function `{name}`")))
    }

    /// Does what is missing. Lambda refuses a change while it is busy with another.
    async fn synchronise(
        &self,
        context: &Context<Aws>,
        seen: &SeenFunction,
        archive: Archive,
        bound: &Bound,
    ) -> Result<()> {
        let (aws, name) = (context.config(), &seen.output.name);
        self.tag(context, &seen.output).await?;
        invokers::synchronise(aws, name, &self.invokers, &seen.output.invokers).await?;
        seen::set_bound_policy(aws, &seen.output, &self.role, bound.policy.as_ref()).await?;
        if (&archive.sha256, self.architecture) != (&seen.output.code_sha256, seen.output.architecture) {
            context.report_progress("sending the code");
            let code = STANDARD.encode(archive.bytes);
            let input = json!({ "ZipFile": code, "Architectures": [self.architecture.name()] });
            let updated = aws.lambda.send(RestCall::put(&[VERSION, "functions", name, "code"], input)).await;
            updated.map_err(cannot(format!("change the code of the function `{name}`")))?;
            self.ensure_ready(aws, name).await?;
        }
        let configuration = self.configuration(name, bound);
        if !configuration.is_as_in(&seen.output) {
            let path = [VERSION, "functions", name, "configuration"];
            let updated = aws.lambda.send(RestCall::put(&path, configuration.to_json())).await;
            updated.map_err(cannot(format!("change the function `{name}`")))?;
            self.ensure_ready(aws, name).await?;
        }
        if self.publish {
            // Where nothing changed since the last version, Lambda makes no other.
            let path = [VERSION, "functions", name, "versions"];
            let published = aws.lambda.send(RestCall::post(&path, json!({}))).await;
            published.map_err(cannot(format!("publish a version of the function `{name}`")))?;
        }
        Ok(())
    }

    async fn ensure_ready(&self, aws: &Aws, name: &str) -> Result<()> {
        let seen = seen::function(aws, name, Some(self), None).await?;
        if seen.is_busy { Err(busy(name)) } else { Ok(()) }
    }

    async fn tag(&self, context: &Context<Aws>, seen: &FunctionOutput) -> Result<()> {
        let (lambda, arn, what) =
            (&context.config().lambda, &seen.arn, format!("the function `{}`", seen.name));
        let path = [TAGS_VERSION, "tags", arn];
        let set = |tags: Tags| lambda.send(RestCall::post(&path, json!({ "Tags": tags })));
        let remove = |keys: Vec<String>| lambda.send(RestCall::delete(&path).query("tagKeys", keys));
        tags::synchronise((context, &self.tags), &seen.tags_all, &what, set, remove).await
    }
}

fn busy(name: &str) -> Error {
    Error::pending(Some(BUSY_DELAY), Value::NULL, format!("the function `{name}` is not ready yet"))
}

impl Converge for Function {
    type Output = FunctionOutput;
    type Config = Aws;

    fn traits() -> Traits {
        Traits { name_rules: NameRules::new(64), ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<Aws>, current: &Current<Self>) -> Result<FunctionOutput> {
        let aws = context.config();
        let bound = Bound::of(&current.bindings)?;
        let archive = Archive::read(&aws.resolve(&self.code))?;
        let name = current.output.as_ref().map_or_else(|| self.name(context), |output| output.name.clone());
        let known = current.output.as_ref();
        let mut seen = match if_found(seen::function(aws, &name, Some(self), known).await)? {
            Some(seen) => seen,
            None => {
                let archive = Archive { bytes: archive.bytes.clone(), sha256: archive.sha256.clone() };
                self.create(context, &name, archive, &bound).await?;
                seen::function(aws, &name, Some(self), known).await?
            }
        };
        let ownership = tags::recognise(context, &mut seen.output.tags_all);
        if current.output.is_none() && ownership == Ownership::Unowned {
            return Err(Error::already_exists(format!("the function `{name}` exists already")));
        }
        let half_made = seen.output.clone();
        if seen.is_busy {
            return Err(busy(&name).with_partial(&half_made));
        }
        let done = self.synchronise(context, &seen, archive, &bound).await;
        done.map_err(|error| error.with_partial(&half_made))?;
        Ok(seen::function(aws, &name, Some(self), known).await?.marked_by(&bound))
    }

    async fn read(
        &self,
        context: &Context<Aws>,
        prior: Option<&FunctionOutput>,
    ) -> Result<Sightings<FunctionOutput>> {
        let name = prior.map_or_else(|| self.name(context), |prior| prior.name.clone());
        let mut seen = seen::function(context.config(), &name, Some(self), prior).await?.output;
        if prior.is_some() {
            return Ok(Sightings::owned(seen));
        }
        let ownership = tags::recognise(context, &mut seen.tags_all);
        Ok(Sightings::recognised(seen, ownership))
    }

    fn stub(_: &FunctionView) -> Option<Value> {
        let nothing = || Value::map::<&str>([]);
        Some(value!({
            handler: "stub.handler",
            code: "",
            description: "",
            timeout: 3,
            memory_size: 128,
            architecture: (Architecture::X86.name()),
            environment: (nothing()),
            layers: [],
            log_group: null,
            publish: false,
            invokers: (nothing()),
            tags: (nothing()),
        }))
    }

    async fn precreate(&self, context: &Context<Aws>) -> Result<FunctionOutput> {
        let (aws, name) = (context.config(), self.name(context));
        let seen = match if_found(seen::function(aws, &name, Some(self), None).await)? {
            Some(mut seen) => {
                // What is there already stays as it is until all inputs are known.
                if tags::recognise(context, &mut seen.output.tags_all) == Ownership::Unowned {
                    return Err(Error::already_exists(format!("the function `{name}` exists already")));
                }
                seen
            }
            None => {
                let (environment, layers) = (BTreeMap::new(), Vec::new());
                let stub = Function { environment, layers, ..self.clone() };
                stub.create(context, &name, Archive::of_stub()?, &Bound::default()).await?;
                seen::function(aws, &name, Some(self), None).await?
            }
        };
        // It may be busy yet: the reconcile that follows waits for it.
        Ok(seen.output)
    }

    async fn delete(&self, context: &Context<Aws>, output: &FunctionOutput) -> Result<()> {
        let (aws, name) = (context.config(), &output.name);
        let seen = seen::function(aws, name, Some(self), Some(output)).await?.output;
        tags::ensure_owned(context, &seen.tags_all, &format!("the function `{name}`"))?;
        seen::set_bound_policy(aws, &seen, &seen.role, None).await?;
        let deleted = aws.lambda.send(RestCall::delete(&[VERSION, "functions", name])).await;
        deleted.map_err(cannot(format!("delete the function `{name}`")))
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        // Inputs say where the code is; what it is, only the code itself.
        let (Some(aws), Some(code)) = (request.config, request.current.code.known()) else { return Ok(()) };
        let archive = Archive::read(&aws.resolve(code))?;
        if request.prior.as_ref().is_some_and(|prior| prior.outputs.code_sha256 != archive.sha256) {
            plan.update();
        }
        plan.set_output("code_sha256", &archive.sha256)
    }

    async fn import(&self, context: &Context<Aws>, id: &str) -> Result<FunctionOutput> {
        let name = super::function_name(id);
        seen::function(context.config(), name, None, None).await.map(|seen| seen.output)
    }
}
