//! Ephemeral resources of a Terraform provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{BoxFuture, DataRequest, EphemeralHandler, HeldOpen, Opened, ValidateRequest};

use crate::answers::{diagnostics, mistake, refuse_deferred, unreadable, unsendable, warnings};
use crate::client::Client;
use crate::instance::{CAPABILITIES, Effect, Instance};
use crate::pool::Pool;
use crate::protocol::{self, CloseEphemeralRequest, OpenEphemeralRequest, RenewEphemeralRequest, Timestamp};
use crate::provider::Shared;
use crate::schema::TypeSchema;

pub(crate) struct TerraformEphemeral {
    shared: Arc<Shared>,
    type_name: SmolStr,
    schema: Arc<TypeSchema>,
}

impl TerraformEphemeral {
    pub(crate) fn new(shared: Arc<Shared>, type_name: &str, schema: Arc<TypeSchema>) -> Self {
        TerraformEphemeral { shared, type_name: type_name.into(), schema }
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
            .call("validate an ephemeral resource", Effect::Looks, None, message, Client::validate_ephemeral)
            .await?;
        Ok(diagnostics(&answer.diagnostics))
    }
}

impl EphemeralHandler for TerraformEphemeral {
    fn schema(&self) -> &Block {
        &self.schema.block
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let judged = self.judge(request).await;
            judged.unwrap_or_else(|failure| Diagnostic::error(failure.message).into())
        })
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        Box::pin(async move {
            let provider = self.shared.name();
            let judged =
                self.judge(ValidateRequest { config: Some(request.config), inputs: request.inputs }).await?;
            if judged.has_errors() {
                return Err(crate::answers::failure(judged, FailureClass::Invalid));
            }
            let inputs = &request.inputs.effective;
            let message = OpenEphemeralRequest {
                type_name: self.type_name.to_string(),
                config: Some(self.config(inputs)?),
                client_capabilities: Some(CAPABILITIES),
            };
            let instance = self.shared.configured(request.config)?;
            let answer = instance
                .call(
                    "open an ephemeral resource",
                    Effect::Changes,
                    Some(&request.context.cancellation),
                    message,
                    Client::open_ephemeral,
                )
                .await?;
            request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
            refuse_deferred(provider, answer.deferred.as_ref())?;
            // From here on there is something to close, whatever is wrong with the answer.
            let held = Held(Some(Ticket {
                provider: provider.into(),
                type_name: self.type_name.clone(),
                pool: self.shared.options.pool.clone(),
                instance,
                private: answer.private,
            }));
            let outputs = self.schema.decode(answer.result.as_ref());
            let outputs = outputs.map_err(|error| unreadable(provider, "an ephemeral resource", &error))?;
            if outputs.is_null() || !outputs.is_wholly_known() {
                return Err(mistake(provider, "it opened an ephemeral resource that is not known"));
            }
            Ok(Opened {
                outputs: self.schema.marked(&outputs, [inputs]),
                renew_at: time_of(answer.renew_at),
                held: Box::new(held),
            })
        })
    }
}

/// By what an ephemeral resource is renewed and closed.
pub(crate) struct Ticket {
    provider: SmolStr,
    type_name: SmolStr,
    pool: Arc<Pool>,
    instance: Arc<Instance>,
    private: Option<prost::bytes::Bytes>,
}

impl Ticket {
    pub(crate) async fn close(self) -> Result<(), Failure> {
        let request = CloseEphemeralRequest { type_name: self.type_name.to_string(), private: self.private };
        let closed = self
            .instance
            .call("close an ephemeral resource", Effect::Changes, None, request, Client::close_ephemeral)
            .await?;
        for warning in warnings(&closed.diagnostics, FailureClass::Fatal)? {
            tracing::warn!(provider = %self.provider, "{}", warning.summary);
        }
        Ok(())
    }
}

/// An ephemeral resource that is open; what is dropped unclosed is closed when the pool is shut down.
struct Held(Option<Ticket>);

impl HeldOpen for Held {
    fn renew(&mut self) -> BoxFuture<'_, Result<Option<SystemTime>, Failure>> {
        Box::pin(async move {
            let Some(ticket) = &mut self.0 else { return Ok(None) };
            let (type_name, private) = (ticket.type_name.to_string(), ticket.private.clone());
            let request = RenewEphemeralRequest { type_name, private };
            let renewed = ticket
                .instance
                .call("renew an ephemeral resource", Effect::Changes, None, request, Client::renew_ephemeral)
                .await?;
            warnings(&renewed.diagnostics, FailureClass::Fatal)?;
            ticket.private = renewed.private;
            Ok(time_of(renewed.renew_at))
        })
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, Result<(), Failure>> {
        let ticket = self.0.take();
        Box::pin(async move {
            match ticket {
                Some(ticket) => ticket.close().await,
                None => Ok(()),
            }
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(ticket) = self.0.take() {
            ticket.pool.clone().note_left_open(ticket);
        }
    }
}

fn time_of(sent: Option<Timestamp>) -> Option<SystemTime> {
    let Timestamp { seconds, nanos } = sent?;
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).unwrap_or_default());
    SystemTime::UNIX_EPOCH.checked_add(since)
}
