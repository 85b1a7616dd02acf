//! What Terraform does around the calls, as far as it judges a provider.

use std::collections::BTreeMap;

use prost::Message;
use prost::bytes::Bytes;
use trueup::{NativeProvider, Path, Value};
use trueup_plugin::Server;
use trueup_terraform::protocol::diagnostic::Severity;
use trueup_terraform::protocol::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, Diagnostic, DiagnosticsResponse,
    DynamicValue, Empty, PlanRequest, PlanResponse, RawState, ReadRequest, ReadResponse, SchemaResponse,
    UpgradeStateRequest, UpgradeStateResponse, ValidateRequest,
};
use trueup_terraform::{TypeSchema, Version, inconsistencies, violations};

pub(crate) struct Terraform {
    server: Server,
    pub(crate) runtime: tokio::runtime::Runtime,
    version: Version,
    schemas: BTreeMap<String, TypeSchema>,
}

/// An object in a state.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) state: Value,
    pub(crate) private: Bytes,
    pub(crate) tainted: bool,
}

/// What is wrong, as a text for each error.
pub(crate) type Errors = Vec<String>;

/// What a provider planned.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) action: &'static str,
    pub(crate) state: Value,
    private: Bytes,
}

impl Terraform {
    pub(crate) fn new<C: Send + Sync + 'static>(provider: NativeProvider<C>, version: Version) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = runtime.block_on(Server::new(provider, version)).unwrap();
        let mut terraform = Terraform { server, runtime, version, schemas: BTreeMap::new() };
        let names = if version == Version::V5 { "GetSchema" } else { "GetProviderSchema" };
        let told: SchemaResponse = terraform.call(names, &Empty {});
        let read =
            |(name, message): (&String, &Bytes)| (name.clone(), TypeSchema::read(version, message).unwrap());
        terraform.schemas = told.resource_schemas.iter().map(read).collect();
        let configure = if version == Version::V5 { "Configure" } else { "ConfigureProvider" };
        let empty = TypeSchema::default().encode(&Value::object::<&str>([])).unwrap();
        let told: DiagnosticsResponse = terraform
            .call(configure, &ConfigureRequest { config: Some(empty), ..ConfigureRequest::default() });
        assert!(told.diagnostics.is_empty(), "{told:?}");
        terraform
    }

    /// Answers that are no answer fail the test.
    fn call<O: Message + Default>(&self, method: &str, request: &impl Message) -> O {
        let number = if self.version == Version::V5 { 5 } else { 6 };
        let path = format!("/tfplugin{number}.Provider/{method}");
        let answered = self.runtime.block_on(self.server.call(&path, request.encode_to_vec().into()));
        O::decode(answered.unwrap()).unwrap()
    }

    pub(crate) fn schema(&self, type_name: &str) -> &TypeSchema {
        &self.schemas[type_name]
    }

    fn encoded(&self, type_name: &str, value: &Value) -> Option<DynamicValue> {
        Some(self.schema(type_name).encode(value).unwrap())
    }

    fn decoded(&self, type_name: &str, sent: Option<&DynamicValue>) -> Value {
        self.schema(type_name).decode(sent).unwrap()
    }

    /// A configuration as Terraform makes it of a program: complete, and of the right types.
    pub(crate) fn config(&self, type_name: &str, written: &Value) -> Value {
        let schema = self.schema(type_name);
        let complete = schema.complete(written);
        trueup_core::convert(&complete, &schema.block.implied_type()).unwrap()
    }

    pub(crate) fn validate(&self, type_name: &str, config: &Value) -> Errors {
        let capabilities = ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() };
        let request = ValidateRequest {
            type_name: type_name.to_owned(),
            config: self.encoded(type_name, config),
            client_capabilities: Some(capabilities),
        };
        let method = match self.version {
            Version::V5 => "ValidateResourceTypeConfig",
            Version::V6 => "ValidateResourceConfig",
        };
        errors(&self.call::<DiagnosticsResponse>(method, &request).diagnostics)
    }

    /// Upgrades and refreshes what is in the state.
    pub(crate) fn refresh(&self, type_name: &str, object: &Object) -> Result<Option<Object>, Errors> {
        let schema = self.schema(type_name);
        let upgraded: UpgradeStateResponse = self.call(
            "UpgradeResourceState",
            &UpgradeStateRequest {
                type_name: type_name.to_owned(),
                version: i64::try_from(schema.version).unwrap(),
                raw_state: Some(RawState {
                    json: schema.encode_json(&object.state).unwrap().into(),
                    ..RawState::default()
                }),
            },
        );
        refused(&upgraded.diagnostics)?;
        let state = self.decoded(type_name, upgraded.upgraded_state.as_ref());
        assert!(state.same(&object.state), "an upgrade to the same version changes nothing: {state}");
        let read: ReadResponse = self.call(
            "ReadResource",
            &ReadRequest {
                type_name: type_name.to_owned(),
                current_state: upgraded.upgraded_state,
                private: object.private.clone(),
                ..ReadRequest::default()
            },
        );
        refused(&read.diagnostics)?;
        let state = self.decoded(type_name, read.new_state.as_ref());
        assert!(state.is_wholly_known());
        let known = Object { state, private: read.private, tainted: object.tainted };
        Ok(Some(known).filter(|object| !object.state.is_null()))
    }

    fn asked(
        &self,
        type_name: &str,
        prior: &Value,
        config: &Value,
        private: &Bytes,
    ) -> Result<(Value, PlanResponse), Errors> {
        let planned: PlanResponse = self.call(
            "PlanResourceChange",
            &PlanRequest {
                type_name: type_name.to_owned(),
                prior_state: self.encoded(type_name, prior),
                // Types of ours plan from the configuration.
                proposed_new_state: self.encoded(type_name, config),
                config: self.encoded(type_name, config),
                prior_private: private.clone(),
                ..PlanRequest::default()
            },
        );
        refused(&planned.diagnostics)?;
        let state = self.decoded(type_name, planned.planned_state.as_ref());
        let wrong = violations(&self.schema(type_name).block, prior, config, &state);
        assert!(wrong.is_empty(), "{type_name} plans {state} of {config} and {prior}: {wrong:?}");
        Ok((state, planned))
    }

    pub(crate) fn plan(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        config: &Value,
    ) -> Result<Plan, Errors> {
        let nothing = Bytes::new();
        let before = prior.map_or(Value::NULL, |prior| prior.state.clone());
        let private = prior.map_or(&nothing, |prior| &prior.private);
        let (state, answer) = self.asked(type_name, &before, config, private)?;
        let replaces = answer.requires_replace.iter().any(|path| {
            let path = followed(path);
            let (old, new) = (before.at(&path), state.at(&path));
            assert!(old.is_some() || new.is_some(), "{type_name}: {path} leads nowhere");
            !old.unwrap_or_default().same(&new.clone().unwrap_or_default())
                || new.is_some_and(|it| it.is_unknown())
        });
        let private = answer.planned_private;
        if prior.is_none() {
            return Ok(Plan { action: "create", state, private });
        }
        if replaces || prior.is_some_and(|prior| prior.tainted) {
            let (state, answer) = self.asked(type_name, &Value::NULL, config, &private)?;
            return Ok(Plan { action: "replace", state, private: answer.planned_private });
        }
        let action = if state.same(&before) { "no-op" } else { "update" };
        Ok(Plan { action, state, private })
    }

    /// Carries a plan out: what is there now, and what is wrong.
    fn carry_out(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        config: &Value,
        planned: &Value,
        private: &Bytes,
    ) -> (Option<Object>, Errors) {
        let before = prior.map_or(Value::NULL, |prior| prior.state.clone());
        let applied: ApplyResponse = self.call(
            "ApplyResourceChange",
            &ApplyRequest {
                type_name: type_name.to_owned(),
                prior_state: self.encoded(type_name, &before),
                planned_state: self.encoded(type_name, planned),
                config: self.encoded(type_name, config),
                planned_private: private.clone(),
                ..ApplyRequest::default()
            },
        );
        let wrong = errors(&applied.diagnostics);
        let state = self.decoded(type_name, applied.new_state.as_ref());
        assert!(state.is_wholly_known(), "{type_name}: {state}");
        if wrong.is_empty() {
            let broken = inconsistencies(planned, &state);
            assert!(broken.is_empty(), "{type_name} was planned as {planned} and is {state}: {broken:?}");
            assert_eq!(state.is_null(), planned.is_null(), "{type_name}");
        }
        let tainted = prior.is_none() && !wrong.is_empty();
        let object = Object { state, private: applied.private, tainted };
        (Some(object).filter(|object| !object.state.is_null()), wrong)
    }

    /// One run: refresh, plan, apply. What was done, or what is wrong.
    pub(crate) fn run(
        &self,
        type_name: &str,
        object: &mut Option<Object>,
        written: Option<&Value>,
    ) -> Result<&'static str, Errors> {
        if let Some(known) = object.take() {
            *object = Some(known.clone());
            *object = self.refresh(type_name, &known)?;
        }
        let Some(written) = written else {
            let Some(known) = object.as_ref() else { return Ok("no-op") };
            let (left, wrong) =
                self.carry_out(type_name, Some(known), &Value::NULL, &Value::NULL, &known.private);
            *object = left;
            return if wrong.is_empty() { Ok("delete") } else { Err(wrong) };
        };
        let config = self.config(type_name, written);
        let wrong = self.validate(type_name, &config);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let plan = self.plan(type_name, object.as_ref(), &config)?;
        if plan.action == "no-op" {
            return Ok("no-op");
        }
        if plan.action == "replace" {
            let known = object.as_ref().unwrap();
            let (left, wrong) =
                self.carry_out(type_name, Some(known), &Value::NULL, &Value::NULL, &known.private);
            *object = left;
            if !wrong.is_empty() {
                return Err(wrong);
            }
        }
        let (now, wrong) = self.carry_out(type_name, object.as_ref(), &config, &plan.state, &plan.private);
        *object = now;
        if wrong.is_empty() { Ok(plan.action) } else { Err(wrong) }
    }
}

fn followed(path: &trueup_terraform::protocol::AttributePath) -> Path {
    use trueup_terraform::protocol::attribute_path::step::Selector;
    let step = |selector: &Selector| match selector {
        Selector::AttributeName(name) | Selector::ElementKeyString(name) => trueup::Step::key(name),
        Selector::ElementKeyInt(at) => trueup::Step::Index(u64::try_from(*at).unwrap()),
    };
    path.steps.iter().map(|it| step(it.selector.as_ref().unwrap())).collect()
}

fn errors(told: &[Diagnostic]) -> Errors {
    let errors = told.iter().filter(|it| it.severity() == Severity::Error);
    errors.map(|it| format!("{}: {}", it.summary, it.detail)).collect()
}

fn refused(told: &[Diagnostic]) -> Result<(), Errors> {
    let errors = errors(told);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
