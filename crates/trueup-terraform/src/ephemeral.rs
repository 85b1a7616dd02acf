//! Ephemeral resources of a Terraform provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, FailureClass};
use trueup_provider::{BoxFuture, DataRequest, EphemeralHandler, HeldOpen, Opened, ValidateRequest};

use crate::answers::{refuse_deferred, warnings};
use crate::client::Client;
use crate::described::Described;
use crate::instance::{CAPABILITIES, Effect, Instance};
use crate::pool::Pool;
use crate::protocol::{CloseEphemeralRequest, OpenEphemeralRequest, RenewEphemeralRequest, Timestamp};
use crate::provider::Shared;
use crate::schema::TypeSchema;

pub(crate) struct TerraformEphemeral(Described);

impl TerraformEphemeral {
    pub(crate) fn new(shared: Arc<Shared>, type_name: &str, schema: Arc<TypeSchema>) -> Self {
        let (type_name, noun) = (type_name.into(), "an ephemeral resource");
        TerraformEphemeral(Described {
            shared,
            type_name,
            schema,
            noun,
            validate: Client::validate_ephemeral,
        })
    }
}

impl EphemeralHandler for TerraformEphemeral {
    fn schema(&self) -> &Block {
        &self.0.schema.block
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        self.0.validated(request)
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        Box::pin(async move {
            let Described { shared, type_name, .. } = &self.0;
            let message = OpenEphemeralRequest {
                type_name: type_name.to_string(),
                config: Some(self.0.judged_config(&request).await?),
                client_capabilities: Some(CAPABILITIES),
            };
            let instance = shared.configured(request.config)?;
            let cancellation = Some(&request.context.cancellation);
            let method = "open an ephemeral resource";
            let answer =
                instance.call(method, Effect::Changes, cancellation, message, Client::open_ephemeral).await?;
            request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
            refuse_deferred(shared.name(), answer.deferred.as_ref())?;
            // From here on there is something to close, whatever is wrong with the answer.
            let held = Held(Some(Ticket {
                type_name: type_name.clone(),
                pool: shared.options.pool.clone(),
                instance,
                private: answer.private,
            }));
            Ok(Opened {
                outputs: self.0.answered(answer.result.as_ref(), &request.inputs.effective)?,
                renew_at: time_of(answer.renew_at),
                held: Box::new(held),
            })
        })
    }
}

/// By what an ephemeral resource is renewed and closed.
pub(crate) struct Ticket {
    type_name: SmolStr,
    pool: Arc<Pool>,
    instance: Arc<Instance>,
    private: Option<prost::bytes::Bytes>,
}

impl Ticket {
    /// Closes it for nobody in particular: what goes wrong is logged.
    pub(crate) async fn close_or_log(self) {
        let instance = self.instance.clone();
        if let Err(failure) = self.close().await {
            instance.log_warning(&format!("an ephemeral resource stays open: {failure}"));
        }
    }

    async fn close(self) -> Result<(), Failure> {
        let request = CloseEphemeralRequest { type_name: self.type_name.to_string(), private: self.private };
        let closed = self
            .instance
            .call("close an ephemeral resource", Effect::Changes, None, request, Client::close_ephemeral)
            .await?;
        for warning in warnings(&closed.diagnostics, FailureClass::Fatal)? {
            self.instance.log_warning(&warning.summary);
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
