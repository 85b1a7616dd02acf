//! The providers that a program can use: those that are registered, and those that a source finds by their names.

use std::any::TypeId;
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Failure, FailureClass, KnownSecrets, Value, nearest};
use trueup_program::FunctionCall;

use crate::clock::BoxFuture;
use crate::error::Result;
use crate::guard::GuardedProvider;
use crate::handler::{DataHandler, EphemeralHandler, ResourceHandler};
use crate::preset::{Preset, PresetProvider};
use crate::provider::Provider;
use crate::provider_address::provider_named;

/// Where providers come from that are not registered: by their names alone.
pub trait ProviderSource: Send + Sync {
    /// The provider of this name; `None` if nothing of that name could be one. One that cannot be had tells so when it
    /// is called.
    fn provider(&self, name: &str) -> Option<Arc<dyn Provider>>;

    /// All that its providers answered in a run is recorded: none of it has to be kept for a later one.
    fn acknowledge(&self) {}

    /// Ends what its providers started, in good order; they are not called any more.
    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// The providers that a program can use. Each is guarded: it and its types show none of the run's secrets.
#[derive(Clone, Default)]
pub struct Registry {
    providers: IndexMap<SmolStr, Arc<dyn Provider>>,
    left_out: IndexMap<SmolStr, Arc<dyn Provider>>,
    source: Option<Arc<dyn ProviderSource>>,
    presets: IndexMap<SmolStr, Preset>,
    secrets: KnownSecrets,
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
        let before = self
            .providers
            .insert(name.clone(), Arc::new(GuardedProvider::new(provider, self.secrets.clone())));
        assert!(before.is_none(), "the provider `{name}` is registered twice");
        self
    }

    /// Adds a provider that this build leaves out: whoever asks for it learns so, and no source is asked.
    #[must_use]
    pub fn with_left_out(mut self, provider: impl Provider + 'static) -> Self {
        self.left_out.insert(SmolStr::new(provider.name()), Arc::new(provider));
        self
    }

    /// Whether this build leaves out the provider of this name.
    pub fn leaves_out(&self, name: &str) -> bool {
        self.left_out.contains_key(name)
    }

    /// Adds where all others come from.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn ProviderSource>) -> Self {
        self.source = Some(source);
        self
    }

    /// Says what the configuration of a provider is where the program says nothing, wherever the provider comes from.
    #[must_use]
    pub fn preset(mut self, provider: impl Into<SmolStr>, preset: Preset) -> Self {
        self.presets.insert(provider.into(), preset);
        self
    }

    /// The secrets of the run, which all guards share. Whoever makes texts of secrets reports them here.
    pub fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    /// The names of all that are registered.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.providers.keys().map(SmolStr::as_str)
    }

    /// All that are registered, in the order in which they were added.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.providers.values()
    }

    /// Whether a provider of this name is registered, so that no source is asked.
    pub fn has(&self, name: &str) -> bool {
        self.providers.contains_key(name)
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<Arc<dyn Provider>> {
        let registered = self.providers.get(name).or_else(|| self.left_out.get(name)).cloned();
        let provider = registered.or_else(|| {
            let found = self.source.as_ref()?.provider(name)?;
            Some(Arc::new(GuardedProvider::new(found, self.secrets.clone())))
        })?;
        // Around the guard, which has to know of secrets in a preset.
        match self.presets.get(name) {
            Some(preset) => Some(Arc::new(PresetProvider::new(provider, preset.clone()))),
            None => Some(provider),
        }
    }

    /// The provider whose configuration has this name.
    pub fn configured(&self, configuration: &str) -> Option<Arc<dyn Provider>> {
        self.provider(provider_named(configuration))
    }

    /// Tells providers of the source that all that they answered is recorded.
    pub fn acknowledge(&self) {
        if let Some(source) = &self.source {
            source.acknowledge();
        }
    }

    /// Ends what providers of the source started.
    pub async fn shut_down(&self) {
        if let Some(source) = &self.source {
            source.shut_down().await;
        }
    }

    /// The name under which a Rust type of inputs is registered.
    pub fn type_of<T: 'static>(&self) -> Option<SmolStr> {
        self.providers.values().find_map(|provider| provider.type_of(TypeId::of::<T>()))
    }

    /// The name under which a Rust type of inputs is registered as a data source.
    pub fn data_source_type_of<T: 'static>(&self) -> Option<SmolStr> {
        self.providers.values().find_map(|provider| provider.data_source_type_of(TypeId::of::<T>()))
    }

    /// The names of the registered providers whose settings this Rust type holds.
    pub fn configured_by<T: 'static>(&self) -> Vec<SmolStr> {
        let configured = self.providers.iter().filter(|(_, it)| it.has_settings(TypeId::of::<T>()));
        configured.map(|(name, _)| name.clone()).collect()
    }

    /// The provider whose name begins a type's name; of several that are registered, the longest.
    pub fn provider_of(&self, type_name: &str) -> Option<Arc<dyn Provider>> {
        let begins = |name: &str| {
            type_name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let matching = self.providers.iter().filter(|(name, _)| begins(name));
        let registered = matching.max_by_key(|(name, _)| name.len()).map(|(_, provider)| provider.clone());
        registered.or_else(|| self.provider(type_name.split('_').next()?))
    }

    /// Calls a function of a provider.
    pub async fn call_function(&self, call: &FunctionCall) -> Result<Value, Failure> {
        let invalid = |message: String| Failure::new(FailureClass::Invalid, message);
        let FunctionCall { provider: name, function, arguments } = call;
        let provider =
            self.provider(name).ok_or_else(|| invalid(format!("there is no provider `{name}`")))?;
        match provider.function(function).await? {
            Some(function) => function.call(arguments).await,
            None => {
                let known = provider.function_names().await.unwrap_or_default();
                let near = nearest(function, known.iter().map(SmolStr::as_str));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                Err(invalid(format!("the provider `{name}` has no function `{function}`{near}")))
            }
        }
    }

    /// The resource type of this name, or what to tell the user (PLAN-11).
    pub async fn resource(&self, type_name: &str) -> Result<Arc<dyn ResourceHandler>, Diagnostic> {
        self.resource_of("", type_name).await
    }

    /// The same, of the provider whose configuration has this name; of the one its name begins with, if it is empty.
    pub async fn resource_of(
        &self,
        configuration: &str,
        type_name: &str,
    ) -> Result<Arc<dyn ResourceHandler>, Diagnostic> {
        let provider = self.provider_for(configuration, type_name, "resource type")?;
        match provider.resource(type_name).await {
            Ok(Some(handler)) => Ok(handler),
            Ok(None) => {
                Err(unknown_type(&*provider, type_name, "resource type", provider.resource_types().await))
            }
            Err(failure) => Err(unloadable(type_name, &failure)),
        }
    }

    /// The data source of this name, or what to tell the user.
    pub async fn data_source(&self, type_name: &str) -> Result<Arc<dyn DataHandler>, Diagnostic> {
        self.data_source_of("", type_name).await
    }

    /// The same, of the provider whose configuration has this name; of the one its name begins with, if it is empty.
    pub async fn data_source_of(
        &self,
        configuration: &str,
        type_name: &str,
    ) -> Result<Arc<dyn DataHandler>, Diagnostic> {
        let provider = self.provider_for(configuration, type_name, "data source")?;
        match provider.data_source(type_name).await {
            Ok(Some(handler)) => Ok(handler),
            Ok(None) => {
                Err(unknown_type(&*provider, type_name, "data source", provider.data_source_types().await))
            }
            Err(failure) => Err(unloadable(type_name, &failure)),
        }
    }

    /// The type of ephemeral resources of this name, of the provider whose configuration has this name, or what to tell
    /// the user.
    pub async fn ephemeral_of(
        &self,
        configuration: &str,
        type_name: &str,
    ) -> Result<Arc<dyn EphemeralHandler>, Diagnostic> {
        let kind = "ephemeral resource";
        let provider = self.provider_for(configuration, type_name, kind)?;
        match provider.ephemeral(type_name).await {
            Ok(Some(handler)) => Ok(handler),
            Ok(None) => Err(unknown_type(&*provider, type_name, kind, provider.ephemeral_types().await)),
            Err(failure) => Err(unloadable(type_name, &failure)),
        }
    }

    fn provider_for(
        &self,
        configuration: &str,
        type_name: &str,
        kind: &str,
    ) -> Result<Arc<dyn Provider>, Diagnostic> {
        let found = match configuration {
            "" => self.provider_of(type_name),
            configuration => self.configured(configuration),
        };
        found.ok_or_else(|| {
            let known: Vec<&str> = self.providers.keys().map(SmolStr::as_str).collect();
            Diagnostic::error(format!("no provider has the {kind} `{type_name}`"))
                .hint(format!("the providers here are `{}`", known.join("`, `")))
        })
    }
}

fn unloadable(type_name: &str, failure: &Failure) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(format!("cannot load `{type_name}`: {}", failure.message));
    diagnostic.hints = failure.hints.clone();
    diagnostic
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
