//! The guard around a data source.

use std::sync::Arc;

use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, Value};

use super::Guard;
use super::schema::mismatch;
use crate::clock::BoxFuture;
use crate::handler::{DataHandler, DataRequest, ValidateRequest};

/// A data source that shows no secret.
pub(super) struct GuardedData {
    pub(super) handler: Arc<dyn DataHandler>,
    pub(super) guard: Guard,
}

impl GuardedData {
    fn accept(&self, outputs: Value) -> Result<Value, Failure> {
        match self.guard.is_typed {
            true => Ok(outputs),
            false => mismatch(self.outputs(), &outputs).map_or(Ok(outputs), Err),
        }
    }
}

impl DataHandler for GuardedData {
    fn inputs(&self) -> &Block {
        self.handler.inputs()
    }

    fn outputs(&self) -> &Block {
        self.handler.outputs()
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            given.cleaned(self.handler.validate(request).await)
        })
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            let read = self.handler.read(DataRequest { context: &context, ..request }).await;
            given.cleaned(read.and_then(|outputs| self.accept(outputs)))
        })
    }
}
