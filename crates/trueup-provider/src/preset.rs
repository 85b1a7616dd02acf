//! Configuration of providers that stands outside of programs: it counts where the program says nothing.

use std::any::TypeId;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::{Block, Presence};
use trueup_core::{Diagnostics, Failure, FailureClass, Severity, Value};

use crate::clock::{BoxFuture, Clock};
use crate::handler::{DataHandler, EphemeralHandler, ResourceHandler};
use crate::provider::{Configured, Provider, ProviderFunction};

/// What the configuration of a provider is where the program says nothing.
#[derive(Clone, Debug)]
pub struct Preset {
    /// An object with some of what the configuration takes.
    pub values: Value,
    /// Where it stands, for messages: "profile `prod`".
    pub from: String,
}

/// A provider whose configuration has a preset: no attribute of it has to be written any more, and each block of it
/// stands in for those that are not.
pub(crate) struct PresetProvider {
    provider: Arc<dyn Provider>,
    preset: Preset,
}

impl PresetProvider {
    pub(crate) fn new(provider: Arc<dyn Provider>, preset: Preset) -> Self {
        PresetProvider { provider, preset }
    }

    /// The provider's schema with nothing required of what is preset, and the preset's values as it takes them.
    async fn relaxed(&self) -> Result<(Block, Value), Failure> {
        let mut schema = Block::clone(&*self.provider.config_schema().await?);
        let named: Vec<SmolStr> = self
            .preset
            .values
            .as_entries()
            .into_iter()
            .flat_map(trueup_core::Entries::keys)
            .cloned()
            .collect();
        for name in &named {
            if let Some(attribute) = schema.attributes.get_mut(name) {
                attribute.presence = Presence::Optional;
            }
            if let Some(block) = schema.blocks.get_mut(name) {
                block.items_min = 0;
            }
        }
        let values = self.checked(&schema)?;
        for name in &named {
            if let (Some(attribute), Some(value)) = (schema.attributes.get_mut(name), values.get(name)) {
                attribute.default = Some(value.clone());
            }
        }
        Ok((schema, values))
    }

    /// The preset's values, judged apart from what the program has to add.
    fn checked(&self, schema: &Block) -> Result<Value, Failure> {
        let mut alone = schema.clone();
        alone.attributes.values_mut().filter(|it| it.presence == Presence::Required).for_each(|attribute| {
            attribute.presence = Presence::Optional;
        });
        alone.blocks.values_mut().for_each(|block| block.items_min = 0);
        alone.rules.clear();
        let subject = format!("{}, provider {}", self.preset.from, self.provider.name());
        let checked = alone.check(&self.preset.values, &subject);
        let Some(wrong) = checked.diagnostics.iter().find(|it| it.severity == Severity::Error) else {
            return Ok(checked.value);
        };
        let failure = Failure::new(FailureClass::Invalid, wrong.summary.clone());
        Err(wrong.hints.iter().fold(failure, |failure, hint| failure.hint(hint.clone())))
    }

    /// A configuration with the preset's blocks in place of those that are not written.
    async fn filled(&self, config: &Value) -> Result<Value, Failure> {
        let (schema, values) = self.relaxed().await?;
        let absent = |value: &Value| value.is_null() || value.as_items().is_some_and(<[Value]>::is_empty);
        let mut filled = config.clone();
        for name in schema.blocks.keys().chain(schema.attributes.keys()) {
            let written = config.get(name).filter(|value| !absent(value));
            if let (None, Some(value)) = (written, values.get(name).filter(|value| !absent(value))) {
                filled = filled.with_entry(name, value.clone());
            }
        }
        Ok(filled)
    }
}

impl Provider for PresetProvider {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn version(&self) -> &str {
        self.provider.version()
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        Box::pin(async { Ok(Arc::new(self.relaxed().await?.0)) })
    }

    fn meta_schema(&self) -> BoxFuture<'_, Result<Option<Arc<Block>>, Failure>> {
        self.provider.meta_schema()
    }

    fn validate_config<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            match self.filled(config).await {
                Ok(config) => self.provider.validate_config(&config).await,
                // It is told where the schema is asked for, which comes first.
                Err(_) => Diagnostics::new(),
            }
        })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move { self.provider.configure(&self.filled(config).await?).await })
    }

    fn wait_for_orphans(&self, clock: Arc<dyn Clock>) -> BoxFuture<'_, Result<bool, Failure>> {
        self.provider.wait_for_orphans(clock)
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        self.provider.resource(type_name)
    }

    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        self.provider.data_source(type_name)
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
        self.provider.ephemeral(type_name)
    }

    fn ephemeral_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.provider.ephemeral_types()
    }

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
        self.provider.is_typed()
    }
}
