//! A resource type of a Terraform provider.
//!
//! Its outputs are what Terraform calls the state of the resource: everything that was written and everything that the
//! provider decided. The provider plans for itself; the handler proposes, checks, and says what the plan comes to
//! ([`plan`]). What is changed goes through [`change`].

mod change;
mod import_ids;
mod plan;
mod recorded;

pub use import_ids::import_id_of;

use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::schema::{Presence, ResourceSchema};
use trueup_core::{Change, Diagnostic, Diagnostics, Failure, FailureClass, Path, Value, diff};
use trueup_provider::{
    ApplyFailure, ApplyRequest, BoxFuture, CallContext, CheckRequest, Configured, DeleteRequest,
    FailedCreate, ImportRequest, Imported, InputValues, LookupRequest, MigrateRequest, Observed, PlanAnswer,
    PlanRequest, ReadRequest, Recovery, ResourceHandler, Sighting, State, Traits, ValidateRequest,
    with_ignored,
};

use crate::answers::{diagnostics, failure, unreadable, unsendable};
use crate::catalogue::Section;
use crate::client::Client;
use crate::instance::{CAPABILITIES, Effect, Instance};
use crate::protocol;
use crate::provider::Shared;
use crate::schema::{Identities, TypeSchema};

/// A resource type of a Terraform provider.
pub(crate) struct TerraformResource {
    shared: Arc<Shared>,
    type_name: SmolStr,
    schema: Arc<TypeSchema>,
    resource_schema: ResourceSchema,
    identities: Option<Identities>,
    traits: Traits,
    plans_deletions: bool,
    moves: bool,
}

impl TerraformResource {
    /// The type of this name, if the provider has it.
    pub(crate) async fn find(shared: &Arc<Shared>, type_name: &str) -> Result<Option<Self>, Failure> {
        let Some(schema) = shared.schema(Section::Resources, type_name).await? else { return Ok(None) };
        let abilities = shared.catalogue().await?.abilities();
        Ok(Some(TerraformResource {
            shared: shared.clone(),
            type_name: type_name.into(),
            resource_schema: schema.resource_schema(),
            identities: shared.identities(type_name).await?,
            schema,
            // As Terraform does: what failed half-way is replaced, and to replace is to delete first.
            traits: Traits {
                failed_create: FailedCreate::Replace,
                delete_first: true,
                read_back: false,
                in_records: false,
                tells_place: false,
                importable: true,
                consistency_window: Duration::ZERO,
                ..Traits::default()
            },
            plans_deletions: abilities.plans_deletions,
            moves: abilities.moves,
        }))
    }

    fn provider(&self) -> &str {
        self.shared.name()
    }

    fn encode(&self, what: &str, value: &Value) -> Result<Option<protocol::DynamicValue>, Failure> {
        let encoded = self.schema.encode(value);
        encoded.map(Some).map_err(|error| unsendable(self.provider(), what, &error))
    }

    fn decode(&self, what: &str, sent: Option<&protocol::DynamicValue>) -> Result<Value, Failure> {
        self.schema.decode(sent).map_err(|error| unreadable(self.provider(), what, &error))
    }

    fn encode_identity(&self, identity: Option<&Value>) -> Option<protocol::IdentityData> {
        let data = self.identities.as_ref()?.encode(identity?)?;
        Some(protocol::IdentityData { data: Some(data) })
    }

    fn decode_identity(&self, sent: Option<&protocol::IdentityData>) -> Option<Value> {
        self.identities.as_ref()?.decode(sent?.data.as_ref()?)
    }

    /// The state of an object. What must never be kept is left out of its inputs. Its identity is what the provider says
    /// that it is, and nothing otherwise: an id may be another object's in another region.
    fn state(
        &self,
        inputs: Option<&InputValues>,
        outputs: Value,
        private: impl Into<Vec<u8>>,
        identity: Option<Value>,
    ) -> State {
        let kept = |value: &Value| self.schema.block.without(value, |attribute| attribute.write_only);
        let inputs = inputs
            .map(|inputs| InputValues { written: kept(&inputs.written), effective: kept(&inputs.effective) });
        let schema_version = self.schema.version;
        State { inputs, outputs, private: private.into(), schema_version, identity }
    }

    /// Judges a configuration; values may be unknown.
    async fn judge(&self, instance: &Instance, config: &Value) -> Result<Diagnostics, Failure> {
        let message = protocol::ValidateRequest {
            type_name: self.type_name.to_string(),
            config: self.encode("the configuration", config)?,
            client_capabilities: Some(CAPABILITIES),
        };
        let answer = instance
            .call("validate a resource", Effect::Looks, None, message, Client::validate_resource)
            .await?;
        Ok(diagnostics(&answer.diagnostics))
    }

    async fn read_object(
        &self,
        config: &Configured,
        state: &State,
        context: &CallContext,
    ) -> Result<Option<State>, Failure> {
        let current = self.schema.complete(&state.outputs);
        let message = protocol::ReadRequest {
            type_name: self.type_name.to_string(),
            current_state: self.encode("the record", &current)?,
            private: state.private.clone().into(),
            provider_meta: self.shared.meta(context).await?,
            client_capabilities: Some(CAPABILITIES),
            current_identity: self.encode_identity(state.identity.as_ref()),
        };
        let instance = self.shared.configured(config)?;
        let answer = instance
            .call("read a resource", Effect::Looks, Some(&context.cancellation), message, Client::read)
            .await?;
        let told = crate::answers::warnings(&answer.diagnostics, FailureClass::Fatal)?;
        context.report_warnings(told);
        crate::answers::refuse_deferred(self.provider(), answer.deferred.as_ref())?;
        let read = self.decode("what was read", answer.new_state.as_ref())?;
        if read.is_null() {
            return Ok(None);
        }
        let written = state.inputs.as_ref().map(|inputs| &inputs.effective);
        let outputs = match read.same(&current) {
            // As recorded, to the last mark.
            true => state.outputs.clone(),
            false => self.schema.marked(&read, [&state.outputs].into_iter().chain(written)),
        };
        let identity = self.decode_identity(answer.new_identity.as_ref());
        let identity = identity.or_else(|| state.identity.clone());
        Ok(Some(State {
            inputs: state.inputs.clone(),
            ..self.state(None, outputs, answer.private, identity)
        }))
    }
}

impl ResourceHandler for TerraformResource {
    fn schema(&self) -> &ResourceSchema {
        &self.resource_schema
    }

    fn traits(&self) -> &Traits {
        &self.traits
    }

    /// A create whose outcome is unknown is resolved by its answer, if a host kept it, else by import, where all that it
    /// takes stands in the inputs.
    fn recovery(&self, inputs: &Value) -> Recovery {
        match self.import_key(inputs) {
            Some(_) => Recovery::Lookup,
            // Its answer may have been kept.
            None if self.shared.options.launch.host.is_some() => Recovery::Lookup,
            None => Recovery::Blind,
        }
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        diff(&prior.effective, &current.effective)
    }

    /// Older providers cannot tell nothing from empty, and answer now this, now that: no one changed anything.
    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change> {
        let mut changes = diff(&recorded.outputs, &observed.outputs);
        changes.retain(|change| !(is_nothing(change.before.as_ref()) && is_nothing(change.after.as_ref())));
        changes
    }

    /// As Terraform does: what is ignored has the value that the object has. What was written stays what it was, for the
    /// provider to judge: an object may have what could never be written.
    fn keep_ignored(
        &self,
        desired: &InputValues,
        prior: &State,
        observed: Option<&State>,
        ignored: &[Path],
    ) -> InputValues {
        let block = &self.schema.block;
        let held = &observed.unwrap_or(prior).outputs;
        let kept = |inputs: &Value| match ignored.iter().any(Path::is_root) {
            true => block.without(held, |attribute| attribute.presence == Presence::Computed),
            false => with_ignored(&self.schema.complete(inputs), held, ignored),
        };
        InputValues { written: desired.written.clone(), effective: kept(&desired.effective) }
    }

    /// The provider compares the object as it is: `keep_ignored` has put the same values into its inputs.
    fn ignore_drift(&self, _: &State, observed: &State, _: &[Path]) -> State {
        observed.clone()
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let judged = async {
                let instance = self.shared.instance_of(request.config).await?;
                self.judge(&instance, &self.schema.complete(&request.inputs.effective)).await
            };
            judged.await.unwrap_or_else(|failure| Diagnostic::error(failure.message).into())
        })
    }

    /// Planning judged the same values a moment ago.
    fn check<'a>(&'a self, _request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(self.decide(request))
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            let read = self.read_object(request.config, request.state, request.context).await?;
            Ok(read.map_or(Observed::Absent, |state| Observed::Present(Box::new(state))))
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(self.find_interrupted(request))
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(self.change(request))
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(self.remove(request))
    }

    fn moves_from(&self, _type_name: &str) -> bool {
        self.moves
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(self.upgrade(request))
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        Box::pin(self.find_by_id(request))
    }
}

/// Errors of a judgement as a failure.
fn refused(judged: Diagnostics) -> Result<Diagnostics, Failure> {
    if judged.has_errors() { Err(failure(judged, FailureClass::Invalid)) } else { Ok(judged) }
}

fn is_nothing(value: Option<&Value>) -> bool {
    let Some(value) = value else { return true };
    let empty = value.as_str().is_some_and(str::is_empty)
        || value.as_bool() == Some(false)
        || value.as_number().is_some_and(|number| number.as_i64() == Some(0))
        || value.as_items().is_some_and(<[Value]>::is_empty)
        || value.as_entries().is_some_and(trueup_core::Entries::is_empty);
    value.is_null() || empty
}
