//! The guard around a provider: the one way by which the engine reaches it.

use std::any::TypeId;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, Value};

use super::data::GuardedData;
use super::ephemeral::GuardedEphemeral;
use super::resource::GuardedResource;
use super::{Guard, KnownSecrets};
use crate::clock::BoxFuture;
use crate::handler::{DataHandler, EphemeralHandler, ResourceHandler};
use crate::provider::{Configured, Provider, ProviderFunction};

/// A provider whose words, and those of all its types, are told without the secrets that it was given.
pub(crate) struct GuardedProvider {
    provider: Arc<dyn Provider>,
    guard: Guard,
}

impl GuardedProvider {
    pub(crate) fn new(provider: Arc<dyn Provider>) -> Self {
        let (is_typed, known_secrets) = (provider.is_typed(), provider.known_secrets().cloned());
        GuardedProvider { provider, guard: Guard { is_typed, known_secrets } }
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

    fn validate_config<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let given = self.guard.given(vec![config.clone()]);
            given.concealed_in(self.provider.validate_config(config).await)
        })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(vec![config.clone()]);
            let configured = given.concealed_in(self.provider.configure(config).await)?;
            Ok(configured.with_given(config.clone()))
        })
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        Box::pin(async move {
            let handler = self.provider.resource(type_name).await?;
            Ok(handler.map(|handler| {
                let guarded = GuardedResource { handler, guard: self.guard.clone() };
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

    fn is_typed(&self) -> bool {
        self.guard.is_typed
    }

    fn known_secrets(&self) -> Option<&KnownSecrets> {
        self.guard.known_secrets.as_ref()
    }
}
