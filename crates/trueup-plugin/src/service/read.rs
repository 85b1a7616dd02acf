//! Refreshing objects.

use trueup_core::Value;
use trueup_provider::{ApplyFailure, CallContext, Observed, ReadRequest as TypeRequest, State};
use trueup_terraform::protocol::{Diagnostic, ReadRequest, ReadResponse};

use super::{Resource, Service, decoded, encoded};
use crate::calls::guarded;
use crate::diagnostics::{self, Messages};
use crate::record::{Record, fresh_name};

impl Service {
    pub(crate) async fn read(&self, request: ReadRequest) -> ReadResponse {
        match guarded(self.read_object(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => unchanged(&request, diagnostics),
        }
    }

    async fn read_object(&self, request: &ReadRequest) -> Result<ReadResponse, Messages> {
        let resource = self.resource(&request.type_name)?;
        let (surface, handler) = (&resource.surface, &resource.handler);
        let state = decoded(&surface.schema, "state", request.current_state.as_ref())?;
        if state.is_null() || handler.traits().in_records {
            return Ok(unchanged(request, Messages::new()));
        }
        let Some(configured) = self.configuration() else {
            return Ok(unchanged(request, vec![not_refreshed()]));
        };
        let session = self.session(&surface.type_name, &fresh_name())?;
        let record = resource.record(&session, &state, &request.private).await?;
        let session = self.session(&surface.type_name, &record.name)?;
        let inputs = &surface.known_inputs(record.inputs(), &record.state.outputs);
        let config = &configured;
        let recorded = &record.state;
        let read = |context: CallContext| async move {
            let request = TypeRequest { config, inputs, state: recorded, context: &context };
            handler.read(request).await.map_err(ApplyFailure::from)
        };
        let observed = self.calls.repeated(&session, handler.traits(), read).await;
        let observed = observed.map_err(|failed| surface.failed("cannot read", &failed.failure))?;
        let diagnostics = surface.warned(&session.warnings());
        match observed {
            Observed::Unreadable => Ok(unchanged(request, diagnostics)),
            Observed::Absent => Ok(ReadResponse {
                new_state: encoded(&surface.schema, &Value::NULL)?,
                diagnostics,
                ..ReadResponse::default()
            }),
            Observed::Present(seen) => {
                let (state, record) = resource.refreshed(&record, &seen);
                Ok(ReadResponse {
                    new_state: encoded(&surface.schema, &state)?,
                    private: record.to_bytes().into(),
                    diagnostics,
                    ..ReadResponse::default()
                })
            }
        }
    }
}

impl Resource {
    /// The refreshed state and record. The record takes over observed outputs unless they drifted.
    fn refreshed(&self, record: &Record, seen: &State) -> (Value, Record) {
        let recorded = &record.state;
        let state = self.surface.refreshed(&self.shown(recorded), &recorded.outputs, &seen.outputs);
        let drifted = !self.handler.drift(recorded, seen).is_empty();
        let outputs = if drifted { recorded.outputs.clone() } else { seen.outputs.clone() };
        let kept = State { outputs, ..recorded.clone() };
        (state, record.with_state(kept))
    }
}

fn unchanged(request: &ReadRequest, diagnostics: Messages) -> ReadResponse {
    ReadResponse {
        new_state: request.current_state.clone(),
        private: request.private.clone(),
        diagnostics,
        ..ReadResponse::default()
    }
}

fn not_refreshed() -> Diagnostic {
    let detail = "The configuration of its provider depends on values that are not known yet.";
    diagnostics::warning("A resource was not refreshed", detail)
}
