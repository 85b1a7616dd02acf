//! Data sources.

use trueup_provider::{ApplyFailure, CallContext, DataRequest, Traits};
use trueup_terraform::protocol::{ReadDataRequest, ReadDataResponse};

use super::{Data, Service, decoded, encoded};
use crate::calls::guarded;
use crate::diagnostics::{self, Messages};
use crate::record::fresh_name;

impl Service {
    pub(super) fn data(&self, type_name: &str) -> Result<&Data, Messages> {
        self.data.get(type_name).ok_or_else(|| {
            diagnostics::error(
                "Unknown data source",
                format!("The provider has no data source `{type_name}`."),
            )
        })
    }

    pub(crate) async fn read_data(&self, request: ReadDataRequest) -> ReadDataResponse {
        match guarded(self.data_read(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => ReadDataResponse { diagnostics, ..ReadDataResponse::default() },
        }
    }

    async fn data_read(&self, request: &ReadDataRequest) -> Result<ReadDataResponse, Messages> {
        let Data { handler, surface } = self.data(&request.type_name)?;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let (inputs, wrong) = surface.desired(&config);
        if wrong.has_errors() {
            return Err(diagnostics::diagnostics(&wrong, &surface.schema.block));
        }
        let configured = self.ready()?;
        let session = self.session(&surface.type_name, &fresh_name())?;
        let (config, desired) = (&configured, &inputs);
        let read = |context: CallContext| async move {
            let request = DataRequest { config, inputs: desired, context: &context };
            handler.read(request).await.map_err(ApplyFailure::from)
        };
        let outputs = self.calls.repeated(&session, &Traits::default(), read).await;
        let outputs = outputs.map_err(|failed| surface.failed("cannot read", &failed.failure))?;
        Ok(ReadDataResponse {
            state: encoded(&surface.schema, &surface.state(Some(&inputs), &outputs))?,
            diagnostics: surface.warned(&session.warnings()),
            ..ReadDataResponse::default()
        })
    }
}
