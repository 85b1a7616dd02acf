//! A provider that cannot be had: whatever is asked of it, it says why.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Failure, FailureClass, Value};
use trueup_provider::{
    BoxFuture, Configured, DataHandler, EphemeralHandler, Provider, ProviderFunction, ResourceHandler,
};
use trueup_terraform_find::Problem;

pub(super) struct MissingProvider {
    name: SmolStr,
    why: Failure,
}

impl MissingProvider {
    pub(super) fn new(name: &str, problem: &Problem) -> Self {
        let told = Diagnostic::from(problem);
        let mut message = told.summary;
        if let Some(detail) = told.detail {
            message = format!("{message}\n{detail}");
        }
        let why = told.hints.into_iter().fold(Failure::new(FailureClass::Invalid, message), Failure::hint);
        MissingProvider { name: name.into(), why }
    }

    fn refuse<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T, Failure>> {
        Box::pin(async { Err(self.why.clone()) })
    }
}

impl Provider for MissingProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        self.refuse()
    }

    fn configure<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        self.refuse()
    }

    fn resource<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        self.refuse()
    }

    fn data_source<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        self.refuse()
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.refuse()
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.refuse()
    }

    fn ephemeral<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        self.refuse()
    }

    fn function<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        self.refuse()
    }
}
