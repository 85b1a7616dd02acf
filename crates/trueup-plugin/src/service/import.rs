//! Importing objects by id.

use trueup_core::Value;
use trueup_provider::{ApplyFailure, CallContext, ImportRequest as TypeRequest, InputValues};
use trueup_terraform::protocol::import_response::Imported;
use trueup_terraform::protocol::{ImportRequest, ImportResponse};

use super::{Service, encoded};
use crate::calls::guarded;
use crate::diagnostics::{self, Messages};
use crate::record::{Record, fresh_name};

impl Service {
    pub(crate) async fn import(&self, request: ImportRequest) -> ImportResponse {
        match guarded(self.imported(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => ImportResponse { diagnostics, ..ImportResponse::default() },
        }
    }

    async fn imported(&self, request: &ImportRequest) -> Result<ImportResponse, Messages> {
        let resource = self.resource(&request.type_name)?;
        let (surface, handler) = (&resource.surface, &resource.handler);
        if !handler.traits().importable {
            let detail = format!("`{}` cannot be imported by id.", surface.type_name);
            return Err(diagnostics::error("Unsupported import", detail));
        }
        let configured = self.ready()?;
        let name = fresh_name();
        let session = self.session(&surface.type_name, &name)?;
        let config = &configured;
        let id = request.id.as_str();
        // Terraform asks before it knows the configuration of the resource.
        let unknown = surface.known_inputs(None, &Value::object::<&str>([]));
        let desired = &InputValues { written: unknown.clone(), effective: unknown };
        let import = |context: CallContext| async move {
            let request = TypeRequest { config, id, identity: None, desired, context: &context };
            handler.import(request).await.map_err(ApplyFailure::from)
        };
        let found = self.calls.repeated(&session, handler.traits(), import).await;
        let found = found.map_err(|failed| surface.failed("cannot import", &failed.failure))?;
        let mut imported_resources = Vec::new();
        for imported in found {
            let resource = self.resource(&imported.type_name)?;
            let state = resource.shown(&imported.state);
            imported_resources.push(Imported {
                type_name: imported.type_name.to_string(),
                state: encoded(&resource.surface.schema, &state)?,
                private: Record::new(imported.state, None, name.clone()).to_bytes().into(),
                identity: None,
            });
        }
        let diagnostics = surface.warned(&session.warnings());
        Ok(ImportResponse { imported_resources, diagnostics, deferred: None })
    }
}
