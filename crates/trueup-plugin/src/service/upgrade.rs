//! State upgrades and moves.
//!
//! For an upgrade, Terraform sends the state as JSON without private bytes. The migration gets the whole object both as inputs
//! and as outputs; attributes that belong to the other side are dropped afterwards.

use trueup_core::schema::Block;
use trueup_core::{Failure, FailureClass, Value, convert};
use trueup_provider::{ApplyFailure, CallContext, InputValues, MigrateRequest, State};
use trueup_terraform::protocol::{
    MoveRequest, MoveResponse, RawState, UpgradeStateRequest, UpgradeStateResponse,
};

use super::{Resource, Service, encoded};
use crate::calls::{Session, guarded};
use crate::diagnostics::{self, Messages};
use crate::record::{Record, fresh_name};

impl Service {
    pub(crate) async fn upgrade(&self, request: UpgradeStateRequest) -> UpgradeStateResponse {
        match guarded(self.upgraded(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => UpgradeStateResponse { diagnostics, ..UpgradeStateResponse::default() },
        }
    }

    async fn upgraded(&self, request: &UpgradeStateRequest) -> Result<UpgradeStateResponse, Messages> {
        let resource = self.resource(&request.type_name)?;
        let schema = &resource.surface.schema;
        let text = text_of(request.raw_state.as_ref())?;
        let stored = u64::try_from(request.version).unwrap_or_default();
        let state = if stored == schema.version {
            resource.current(text)?
        } else {
            let session = self.session(&resource.surface.type_name, &fresh_name())?;
            let old = resource.old_state(text, stored)?;
            resource.shown(&resource.migrated(&session, old, None).await?)
        };
        Ok(UpgradeStateResponse { upgraded_state: encoded(schema, &state)?, diagnostics: Messages::new() })
    }

    pub(crate) async fn move_state(&self, request: MoveRequest) -> MoveResponse {
        match guarded(self.moved(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => MoveResponse { diagnostics, ..MoveResponse::default() },
        }
    }

    async fn moved(&self, request: &MoveRequest) -> Result<MoveResponse, Messages> {
        let resource = self.resource(&request.target_type_name)?;
        let source = request.source_type_name.as_str();
        let own = source == resource.surface.type_name;
        if !own && !resource.handler.moves_from(source) {
            let detail = format!(
                "`{source}` cannot become `{}`: the provider has no way there.",
                resource.surface.type_name
            );
            return Err(diagnostics::error("Unsupported move", detail));
        }
        let stored = u64::try_from(request.source_schema_version).unwrap_or_default();
        let record = Record::read(&request.source_private);
        let name = record.as_ref().map_or_else(fresh_name, |record| record.name.clone());
        let session = self.session(&resource.surface.type_name, &name)?;
        let from = (!own).then_some(source);
        let state = match record {
            Some(record) => resource.migrated(&session, record.state, from).await?,
            None => {
                let old = resource.old_state(text_of(request.source_state.as_ref())?, stored)?;
                let state = resource.migrated(&session, old, from).await?;
                let inputs = state.inputs.clone().map(|inputs| resource.surface.guessed(inputs));
                State { inputs, ..state }
            }
        };
        Ok(MoveResponse {
            target_state: encoded(&resource.surface.schema, &resource.shown(&state))?,
            target_private: Record::new(state, None, name).to_bytes().into(),
            ..MoveResponse::default()
        })
    }
}

impl Resource {
    /// A state of the current version, without unknown attributes.
    fn current(&self, text: &[u8]) -> Result<Value, Messages> {
        let state = plain(text)?;
        let block = &self.surface.schema.block;
        fitted(block, &state).map_err(|failure| self.surface.failed("cannot read the state of", &failure))
    }

    /// An old state, in which inputs and outputs can't be told apart.
    fn old_state(&self, text: &[u8], version: u64) -> Result<State, Messages> {
        let all = plain(text)?;
        let inputs = InputValues { written: all.clone(), effective: all.clone() };
        Ok(State {
            inputs: Some(inputs),
            outputs: all,
            private: Vec::new(),
            schema_version: version,
            identity: None,
        })
    }

    /// Migrates state to the current version of this type.
    pub(super) async fn migrated(
        &self,
        session: &Session,
        state: State,
        from_type: Option<&str>,
    ) -> Result<State, Messages> {
        let handler = &self.handler;
        let state = &state;
        let migrate = |context: CallContext| async move {
            let request = MigrateRequest { config: None, state: state.clone(), from_type, context: &context };
            handler.migrate(request).await.map_err(ApplyFailure::from)
        };
        let migrated = session.once(migrate).await;
        let migrated = migrated.map_err(|failed| self.surface.failed("cannot migrate", &failed.failure))?;
        let schema = handler.schema();
        let failed = |failure: Failure| self.surface.failed("cannot migrate", &failure);
        let inputs = migrated.inputs.map(|inputs| {
            let fit = |value: &Value| fitted(&schema.inputs, value);
            Ok::<_, Failure>(InputValues {
                written: fit(&inputs.written)?,
                effective: fit(&inputs.effective)?,
            })
        });
        let inputs = inputs.transpose().map_err(failed)?;
        let outputs = fitted(&schema.outputs, &migrated.outputs).map_err(failed)?;
        Ok(State { private: migrated.private, ..self.state(inputs, outputs) })
    }
}

/// The JSON text of a state.
fn text_of(raw: Option<&RawState>) -> Result<&[u8], Messages> {
    match raw {
        Some(raw) if !raw.json.is_empty() => Ok(&raw.json),
        Some(raw) if !raw.flatmap.is_empty() => Err(diagnostics::error(
            "The state is too old",
            "It was written by a version of Terraform before 0.12.",
        )),
        _ => Err(diagnostics::error("There is no state", "Terraform sent none.")),
    }
}

fn plain(text: &[u8]) -> Result<Value, Messages> {
    let unreadable = |why: String| diagnostics::error("Unreadable state", format!("It is no JSON: {why}."));
    let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    let value = Value::from_plain_json(text).map_err(|error| unreadable(error.to_string()))?;
    match value.as_entries() {
        Some(_) => Ok(value),
        None => Err(unreadable("it is no object".to_owned())),
    }
}

/// The attributes of a block, converted to their types: JSON distinguishes neither lists from sets nor maps from objects.
fn fitted(block: &Block, value: &Value) -> Result<Value, Failure> {
    let attributes = block.attributes.iter().map(|(name, attribute)| (name, attribute.shape.implied_type()));
    let blocks = block.blocks.iter().map(|(name, nested)| (name, nested.shape().implied_type()));
    let fit = |(name, ty): (&smol_str::SmolStr, trueup_core::Type)| {
        let item = value.get(name)?;
        let fitted = convert(item, &ty).map_err(|mismatches| {
            let messages: Vec<String> = mismatches.into_iter().map(|it| it.message).collect();
            Failure::new(FailureClass::Fatal, format!("`{name}`: {}", messages.join("; ")))
        });
        Some(fitted.map(|fitted| (name.clone(), fitted)))
    };
    let entries = attributes.chain(blocks).filter_map(fit).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::object(entries))
}
