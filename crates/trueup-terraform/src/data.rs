//! A data source of a Terraform provider.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{BoxFuture, DataHandler, DataRequest, ValidateRequest};

use crate::answers::{diagnostics, mistake, refuse_deferred, unreadable, unsendable, warnings};
use crate::client::Client;
use crate::instance::{CAPABILITIES, Effect};
use crate::protocol;
use crate::provider::Shared;
use crate::schema::TypeSchema;

pub(crate) struct TerraformData {
    shared: Arc<Shared>,
    type_name: SmolStr,
    schema: Arc<TypeSchema>,
}

impl TerraformData {
    pub(crate) fn new(shared: Arc<Shared>, type_name: &str, schema: Arc<TypeSchema>) -> Self {
        TerraformData { shared, type_name: type_name.into(), schema }
    }

    fn config(&self, inputs: &Value) -> Result<protocol::DynamicValue, Failure> {
        let encoded = self.schema.encode(&self.schema.complete(inputs));
        encoded.map_err(|error| unsendable(self.shared.name(), "the configuration", &error))
    }

    async fn judge(&self, request: ValidateRequest<'_>) -> Result<Diagnostics, Failure> {
        let message = protocol::ValidateRequest {
            type_name: self.type_name.to_string(),
            config: Some(self.config(&request.inputs.effective)?),
            client_capabilities: None,
        };
        let instance = self.shared.instance_of(request.config).await?;
        let answer = instance
            .call("validate a data source", Effect::Looks, None, message, Client::validate_data)
            .await?;
        Ok(diagnostics(&answer.diagnostics))
    }
}

impl DataHandler for TerraformData {
    fn inputs(&self) -> &Block {
        &self.schema.block
    }

    fn outputs(&self) -> &Block {
        &self.schema.block
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let judged = self.judge(request).await;
            judged.unwrap_or_else(|failure| Diagnostic::error(failure.message).into())
        })
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let provider = self.shared.name();
            let judged =
                self.judge(ValidateRequest { config: Some(request.config), inputs: request.inputs }).await?;
            if judged.has_errors() {
                return Err(crate::answers::failure(judged, FailureClass::Invalid));
            }
            let message = protocol::ReadDataRequest {
                type_name: self.type_name.to_string(),
                config: Some(self.config(&request.inputs.effective)?),
                provider_meta: None,
                client_capabilities: Some(CAPABILITIES),
            };
            let instance = self.shared.configured(request.config)?;
            let answer = instance
                .call(
                    "read a data source",
                    Effect::Looks,
                    Some(&request.context.cancellation),
                    message,
                    Client::read_data,
                )
                .await?;
            let told = warnings(&answer.diagnostics, FailureClass::Fatal)?;
            request.context.report_warnings(told);
            refuse_deferred(provider, answer.deferred.as_ref())?;
            let read = self.schema.decode(answer.state.as_ref());
            let read = read.map_err(|error| unreadable(provider, "the answer of a data source", &error))?;
            if read.is_null() || !read.is_wholly_known() {
                return Err(mistake(provider, "a data source answered with something that is not known"));
            }
            Ok(self.schema.marked(&read, [&request.inputs.effective]))
        })
    }
}
