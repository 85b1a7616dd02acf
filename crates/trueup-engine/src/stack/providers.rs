//! How providers are configured, and which resources use which configuration.

use std::any::type_name;
use std::panic::Location;

use smol_str::{SmolStr, format_smolstr};
use trueup_core::is_identifier;
use trueup_program::ProviderDeclaration;
use trueup_provider::Args;

use super::Stack;

/// A further configuration of a provider: see [`Stack::configure_as`].
#[derive(Clone, Debug)]
pub struct ProviderConfiguration {
    provider: SmolStr,
    name: SmolStr,
}

impl Stack<'_> {
    /// Configures the provider that has these settings. Without it, a provider gets an empty configuration.
    #[track_caller]
    pub fn configure<A: Args>(&mut self, settings: A) {
        let location = Location::caller();
        if let Some(name) = self.configured_provider::<A>(location) {
            self.declare_configuration(name, settings, location);
        }
    }

    /// Configures the provider that has these settings once more, under another name. Resources that are added within
    /// [`Stack::using`] have this configuration.
    #[track_caller]
    pub fn configure_as<A: Args>(&mut self, alias: &str, settings: A) -> ProviderConfiguration {
        let location = Location::caller();
        let provider = self.configured_provider::<A>(location).unwrap_or_else(|| "unregistered".into());
        if !is_identifier(alias) {
            let summary = format!("`{alias}` is not the name of a configuration");
            self.mistake(summary, "give it a name like `west`", location);
        }
        let name = format_smolstr!("{provider}.{alias}");
        self.declare_configuration(name.clone(), settings, location);
        ProviderConfiguration { provider, name }
    }

    /// Adds resources and data sources with another configuration of their provider. Those of other providers are not
    /// affected.
    pub fn using<R>(
        &mut self,
        configuration: &ProviderConfiguration,
        declare: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let ProviderConfiguration { provider, name } = configuration.clone();
        let outside = self.configurations.clone();
        self.configurations.insert(provider, name);
        let outputs = declare(self);
        self.configurations = outside;
        outputs
    }

    /// The configuration of a type's provider, if it is not the default one.
    pub(super) fn configuration_of(&self, type_name: &str) -> Option<SmolStr> {
        if self.configurations.is_empty() {
            return None;
        }
        let provider = self.registry.provider_of(type_name)?;
        self.configurations.get(provider.name()).cloned()
    }

    fn declare_configuration<A: Args>(
        &mut self,
        name: SmolStr,
        settings: A,
        location: &'static Location<'static>,
    ) {
        if self.program.providers.iter().any(|declared| declared.name == name) {
            let hint = "give one of them another name, with `configure_as`";
            self.mistake(format!("the provider `{name}` is configured twice"), hint, location);
        }
        let config = settings.into_expression().placed_in(&mut self.program.sources);
        self.program.providers.push(ProviderDeclaration { name, config });
    }

    /// The name of the one provider with these settings; a mistake if there is none, or several.
    fn configured_provider<A: Args>(&mut self, location: &'static Location<'static>) -> Option<SmolStr> {
        let found = self.registry.configured_by::<A::Of>();
        if let [one] = found.as_slice() {
            return Some(one.clone());
        }
        let settings = type_name::<A::Of>();
        let (summary, hint) = match found.is_empty() {
            true => {
                (format!("no registered provider has the settings `{settings}`"), "add it to the registry")
            }
            false => {
                let names = found.join("`, `");
                let summary = format!("several providers have the settings `{settings}`: `{names}`");
                (summary, "give each a struct of its own")
            }
        };
        self.mistake(summary, hint, location);
        None
    }
}
