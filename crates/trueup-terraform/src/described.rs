//! What data sources and ephemeral resources have in common: a configuration that the provider judges, and an answer that
//! must be known.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{BoxFuture, DataRequest, ValidateRequest};

use crate::answers::{diagnostics, failure, mistake, unreadable, unsendable};
use crate::instance::{Call, Effect};
use crate::protocol::{self, DiagnosticsResponse, DynamicValue};
use crate::provider::Shared;
use crate::schema::TypeSchema;

/// A type that is asked for something, rather than managed.
pub(crate) struct Described {
    pub(crate) shared: Arc<Shared>,
    pub(crate) type_name: SmolStr,
    pub(crate) schema: Arc<TypeSchema>,
    /// What it is to people, with its article.
    pub(crate) noun: &'static str,
    pub(crate) validate: Call<protocol::ValidateRequest, DiagnosticsResponse>,
}

impl Described {
    fn config(&self, inputs: &Value) -> Result<DynamicValue, Failure> {
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
        let method = format!("validate {}", self.noun);
        let answer = instance.call(&method, Effect::Looks, None, message, self.validate).await?;
        Ok(diagnostics(&answer.diagnostics))
    }

    /// What the provider has against a configuration.
    pub(crate) fn validated<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let judged = self.judge(request).await;
            judged.unwrap_or_else(|failure| Diagnostic::error(failure.message).into())
        })
    }

    /// The configuration as it is sent, if the provider has nothing against it.
    pub(crate) async fn judged_config(&self, request: &DataRequest<'_>) -> Result<DynamicValue, Failure> {
        let judged =
            self.judge(ValidateRequest { config: Some(request.config), inputs: request.inputs }).await?;
        if judged.has_errors() {
            return Err(failure(judged, FailureClass::Invalid));
        }
        self.config(&request.inputs.effective)
    }

    /// What the provider answered, which must be known; as secret as what it was given.
    pub(crate) fn answered(&self, answer: Option<&DynamicValue>, inputs: &Value) -> Result<Value, Failure> {
        let provider = self.shared.name();
        let what = format!("the answer of {}", self.noun);
        let told = self.schema.decode(answer).map_err(|error| unreadable(provider, &what, &error))?;
        if told.is_null() || !told.is_wholly_known() {
            return Err(mistake(provider, &format!("{what} is not known")));
        }
        Ok(self.schema.marked(&told, [inputs]))
    }
}
