//! The guard around a provider: the one way by which the engine reaches it.

use std::any::TypeId;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, KnownSecrets, Value};

use super::Guard;
use super::data::GuardedData;
use super::ephemeral::GuardedEphemeral;
use super::resource::GuardedResource;
use crate::clock::{BoxFuture, Clock};
use crate::handler::{DataHandler, EphemeralHandler, ResourceHandler};
use crate::provider::{Configured, Provider, ProviderFunction};

/// A provider that, with all its types, shows none of the secrets that it was given.
pub(crate) struct GuardedProvider {
    provider: Arc<dyn Provider>,
    guard: Guard,
}

impl GuardedProvider {
    /// Guards a provider in a run with these secrets.
    pub(crate) fn new(provider: Arc<dyn Provider>, secrets: KnownSecrets) -> Self {
        let is_typed = provider.is_typed();
        GuardedProvider { provider, guard: Guard { is_typed, secrets } }
    }
}

impl Provider for GuardedProvider {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn version(&self) -> &str {
        self.provider.version()
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        self.provider.config_schema()
    }

    fn meta_schema(&self) -> BoxFuture<'_, Result<Option<Arc<Block>>, Failure>> {
        self.provider.meta_schema()
    }

    fn validate_config<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let given = self.guard.given(config);
            given.cleaned(self.provider.validate_config(config).await)
        })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(config);
            let configured = given.cleaned(self.provider.configure(config).await)?;
            Ok(configured.with_given(config.clone()))
        })
    }

    fn wait_for_orphans(&self, clock: Arc<dyn Clock>) -> BoxFuture<'_, Result<bool, Failure>> {
        self.provider.wait_for_orphans(clock)
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        Box::pin(async move {
            let handler = self.provider.resource(type_name).await?;
            Ok(handler.map(|handler| {
                let guarded =
                    GuardedResource { type_name: type_name.into(), handler, guard: self.guard.clone() };
                Arc::new(guarded) as Arc<dyn ResourceHandler>
            }))
        })
    }

    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        Box::pin(async move {
            let handler = self.provider.data_source(type_name).await?;
            Ok(handler.map(|handler| {
                let guarded = GuardedData { handler, guard: self.guard.clone() };
                Arc::new(guarded) as Arc<dyn DataHandler>
            }))
        })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.provider.resource_types()
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.provider.data_source_types()
    }

    fn ephemeral<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        Box::pin(async move {
            let handler = self.provider.ephemeral(type_name).await?;
            Ok(handler.map(|handler| {
                let guarded = GuardedEphemeral { handler, guard: self.guard.clone() };
                Arc::new(guarded) as Arc<dyn EphemeralHandler>
            }))
        })
    }

    fn ephemeral_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.provider.ephemeral_types()
    }

    /// Functions are handed on as they are: they know no configuration, and whoever evaluates a program shows no reason
    /// where an argument is secret.
    fn function<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        self.provider.function(name)
    }

    fn function_names(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.provider.function_names()
    }

    fn type_of(&self, inputs: TypeId) -> Option<SmolStr> {
        self.provider.type_of(inputs)
    }

    fn data_source_type_of(&self, inputs: TypeId) -> Option<SmolStr> {
        self.provider.data_source_type_of(inputs)
    }

    fn has_settings(&self, settings: TypeId) -> bool {
        self.provider.has_settings(settings)
    }

    fn is_typed(&self) -> bool {
        self.guard.is_typed
    }
}
