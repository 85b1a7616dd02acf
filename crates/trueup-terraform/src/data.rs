//! A data source of a Terraform provider.

use std::sync::Arc;

use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{BoxFuture, DataHandler, DataRequest, ValidateRequest};

use crate::answers::{refuse_deferred, warnings};
use crate::client::Client;
use crate::described::Described;
use crate::instance::{CAPABILITIES, Effect};
use crate::protocol::ReadDataRequest;
use crate::provider::Shared;
use crate::schema::TypeSchema;

pub(crate) struct TerraformData(Described);

impl TerraformData {
    pub(crate) fn new(shared: Arc<Shared>, type_name: &str, schema: Arc<TypeSchema>) -> Self {
        let (type_name, noun) = (type_name.into(), "a data source");
        TerraformData(Described { shared, type_name, schema, noun, validate: Client::validate_data })
    }
}

impl DataHandler for TerraformData {
    fn inputs(&self) -> &Block {
        &self.0.schema.block
    }

    fn outputs(&self) -> &Block {
        &self.0.schema.block
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        self.0.validated(request)
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let shared = &self.0.shared;
            let message = ReadDataRequest {
                type_name: self.0.type_name.to_string(),
                config: Some(self.0.judged_config(&request).await?),
                provider_meta: shared.meta(request.context).await?,
                client_capabilities: Some(CAPABILITIES),
            };
            let cancellation = Some(&request.context.cancellation);
            let answer = shared
                .configured(request.config)?
                .call("read a data source", Effect::Looks, cancellation, message, Client::read_data)
                .await?;
            request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
            refuse_deferred(shared.name(), answer.deferred.as_ref())?;
            self.0.answered(answer.state.as_ref(), &request.inputs.effective)
        })
    }
}
