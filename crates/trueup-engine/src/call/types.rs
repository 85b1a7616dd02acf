//! Types of providers, asked for in time.

use std::sync::Arc;

use trueup_core::{Diagnostic, Failure};
use trueup_provider::{DataHandler, EphemeralHandler, ResourceHandler};

use super::Caller;
use crate::failures::describe_attempt;

impl Caller<'_> {
    /// A resource type of the provider whose configuration has this name, or what to tell the user (PLAN-11).
    pub(crate) async fn resource_type(
        &self,
        provider: &str,
        type_name: &str,
    ) -> Result<Arc<dyn ResourceHandler>, Diagnostic> {
        self.told(provider, type_name, self.registry.resource_of(provider, type_name)).await
    }

    /// A data source, likewise.
    pub(crate) async fn data_source(
        &self,
        provider: &str,
        type_name: &str,
    ) -> Result<Arc<dyn DataHandler>, Diagnostic> {
        self.told(provider, type_name, self.registry.data_source_of(provider, type_name)).await
    }

    /// A type of ephemeral resources, likewise.
    pub(crate) async fn ephemeral_type(
        &self,
        provider: &str,
        type_name: &str,
    ) -> Result<Arc<dyn EphemeralHandler>, Diagnostic> {
        self.told(provider, type_name, self.registry.ephemeral_of(provider, type_name)).await
    }

    async fn told<T>(
        &self,
        provider: &str,
        type_name: &str,
        asking: impl Future<Output = Result<T, Diagnostic>>,
    ) -> Result<T, Diagnostic> {
        let known = self.silent.lock().ok().and_then(|silent| silent.get(provider).cloned());
        if let Some(failure) = known {
            return Err(unloadable(type_name, failure));
        }
        match self.in_time(self.provider_call(provider), asking).await {
            Ok(told) => told,
            Err(failure) => {
                if let Ok(mut silent) = self.silent.lock() {
                    silent.insert(provider.into(), failure.clone());
                }
                Err(unloadable(type_name, failure))
            }
        }
    }
}

fn unloadable(type_name: &str, failure: Failure) -> Diagnostic {
    describe_attempt(&format!("load `{type_name}`"), failure)
}
