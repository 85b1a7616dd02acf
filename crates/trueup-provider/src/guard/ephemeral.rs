//! The guard around ephemeral resources, also while they are open.

use std::sync::Arc;
use std::time::SystemTime;

use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure};

use super::schema::mismatch;
use super::{Given, Guard};
use crate::clock::BoxFuture;
use crate::handler::{DataRequest, EphemeralHandler, HeldOpen, Opened, ValidateRequest};

/// A type of ephemeral resources that shows no secret.
pub(super) struct GuardedEphemeral {
    pub(super) handler: Arc<dyn EphemeralHandler>,
    pub(super) guard: Guard,
}

/// An open one. Whatever it gave is ephemeral, so none of it may be told.
struct GuardedHold {
    held: Box<dyn HeldOpen>,
    given: Given,
}

impl GuardedEphemeral {
    fn accept(&self, opened: Opened, given: &Given) -> Result<Opened, Failure> {
        let Opened { outputs, renew_at, held } = opened;
        if !self.guard.is_typed
            && let Some(failure) = mismatch(self.schema(), &outputs)
        {
            return Err(failure);
        }
        let given = given.and(outputs.clone().into_secret());
        Ok(Opened { outputs, renew_at, held: Box::new(GuardedHold { held, given }) })
    }
}

impl EphemeralHandler for GuardedEphemeral {
    fn schema(&self) -> &Block {
        self.handler.schema()
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            given.cleaned(self.handler.validate(request).await)
        })
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            let opened = self.handler.open(DataRequest { context: &context, ..request }).await;
            given.cleaned(opened.and_then(|opened| self.accept(opened, &given)))
        })
    }
}

impl HeldOpen for GuardedHold {
    fn renew(&mut self) -> BoxFuture<'_, Result<Option<SystemTime>, Failure>> {
        Box::pin(async move { self.given.cleaned(self.held.renew().await) })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Failure>> {
        let GuardedHold { held, given } = *self;
        Box::pin(async move { given.cleaned(held.close().await) })
    }
}
