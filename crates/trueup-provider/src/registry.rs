//! The providers that a program can use.

use std::any::TypeId;
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Failure, nearest};

use crate::handler::{DataHandler, Guarded, GuardedData, ResourceHandler};
use crate::preset::{Preset, PresetProvider};
use crate::provider::Provider;

/// The providers that a program can use.
#[derive(Clone, Default)]
pub struct Registry {
    providers: IndexMap<SmolStr, Arc<dyn Provider>>,
    presets: IndexMap<SmolStr, Preset>,
}

impl Registry {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider.
    ///
    /// # Panics
    /// If one of that name is there already.
    #[must_use]
    pub fn with(self, provider: impl Provider + 'static) -> Self {
        self.with_shared(Arc::new(provider))
    }

    /// Adds a provider that others use too.
    ///
    /// # Panics
    /// If one of that name is there already.
    #[must_use]
    pub fn with_shared(mut self, provider: Arc<dyn Provider>) -> Self {
        let name = SmolStr::new(provider.name());
        let provider = match self.presets.get(&name) {
            Some(preset) => Arc::new(PresetProvider::new(provider, preset.clone())),
            None => provider,
        };
        let before = self.providers.insert(name.clone(), provider);
        assert!(before.is_none(), "the provider `{name}` is registered twice");
        self
    }

    /// Says what the configuration of a provider is where the program says nothing. It may be added later.
    #[must_use]
    pub fn preset(mut self, provider: impl Into<SmolStr>, preset: Preset) -> Self {
        let name = provider.into();
        if let Some(provider) = self.providers.get_mut(&name) {
            *provider = Arc::new(PresetProvider::new(provider.clone(), preset.clone()));
        }
        self.presets.insert(name, preset);
        self
    }

    /// The names of all providers.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.providers.keys().map(SmolStr::as_str)
    }

    /// All providers, in the order in which they were added.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.providers.values()
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.providers.get(name)
    }

    /// The name under which a Rust type of inputs is registered.
    pub fn type_of<T: 'static>(&self) -> Option<SmolStr> {
        self.providers.values().find_map(|provider| provider.type_of(TypeId::of::<T>()))
    }

    /// The provider whose name begins a type's name; of several, the longest.
    pub fn provider_of(&self, type_name: &str) -> Option<&Arc<dyn Provider>> {
        let begins = |name: &str| {
            type_name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let matching = self.providers.iter().filter(|(name, _)| begins(name));
        matching.max_by_key(|(name, _)| name.len()).map(|(_, provider)| provider)
    }

    /// The resource type of this name, or what to tell the user (PLAN-11).
    pub async fn resource(&self, type_name: &str) -> Result<Arc<dyn ResourceHandler>, Diagnostic> {
        let provider = self.provider_for(type_name, "resource type")?;
        match provider.resource(type_name).await {
            Ok(Some(handler)) if provider.is_typed() => Ok(handler),
            Ok(Some(handler)) => Ok(Arc::new(Guarded(handler))),
            Ok(None) => {
                Err(unknown_type(&**provider, type_name, "resource type", provider.resource_types().await))
            }
            Err(failure) => Err(unloadable(type_name, &failure)),
        }
    }

    /// The data source of this name, or what to tell the user.
    pub async fn data_source(&self, type_name: &str) -> Result<Arc<dyn DataHandler>, Diagnostic> {
        let provider = self.provider_for(type_name, "data source")?;
        match provider.data_source(type_name).await {
            Ok(Some(handler)) if provider.is_typed() => Ok(handler),
            Ok(Some(handler)) => Ok(Arc::new(GuardedData(handler))),
            Ok(None) => {
                Err(unknown_type(&**provider, type_name, "data source", provider.data_source_types().await))
            }
            Err(failure) => Err(unloadable(type_name, &failure)),
        }
    }

    fn provider_for(&self, type_name: &str, kind: &str) -> Result<&Arc<dyn Provider>, Diagnostic> {
        self.provider_of(type_name).ok_or_else(|| {
            let known: Vec<&str> = self.providers.keys().map(SmolStr::as_str).collect();
            Diagnostic::error(format!("no provider has the {kind} `{type_name}`"))
                .hint(format!("the providers here are `{}`", known.join("`, `")))
        })
    }
}

fn unloadable(type_name: &str, failure: &Failure) -> Diagnostic {
    Diagnostic::error(format!("cannot load `{type_name}`: {}", failure.message))
}

fn unknown_type(
    provider: &dyn Provider,
    type_name: &str,
    kind: &str,
    types: Result<Vec<SmolStr>, Failure>,
) -> Diagnostic {
    let types = match types {
        Ok(types) => types,
        Err(failure) => return unloadable(type_name, &failure),
    };
    let summary = format!("the provider `{}` has no {kind} `{type_name}`", provider.name());
    let hint = match nearest(type_name, types.iter().map(SmolStr::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if types.is_empty() => "it has none".to_owned(),
        None => format!("it has `{}`", types.join("`, `")),
    };
    Diagnostic::error(summary).hint(hint)
}
