//! Providers: families of resource types with one configuration.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::{SmolStr, format_smolstr};
use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, Value, is_identifier};

use crate::clock::{BoxFuture, Clock};
use crate::context::NoConfig;
use crate::contract::{Converge, Crud, DataSource, Inputs, NothingInjected};
use crate::error::Result;
use crate::handler::{DataHandler, EphemeralHandler, ResourceHandler};
use crate::native::{ConvergeHandler, CrudHandler, DataSourceHandler};

/// A family of resource types, as the engine sees it.
pub trait Provider: Send + Sync {
    /// The name, which begins the names of all its types.
    fn name(&self) -> &str;

    /// The version of its code, by which a plan is told from one that another version would have made. Empty where the
    /// program that it is part of has one.
    fn version(&self) -> &str {
        ""
    }

    /// What its configuration takes.
    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>>;

    /// What modules may tell it of themselves (`provider_meta`), if it takes that.
    fn meta_schema(&self) -> BoxFuture<'_, Result<Option<Arc<Block>>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    /// Judges a configuration beyond what the schema can say, at plan: values may be unknown.
    fn validate_config<'a>(&'a self, _config: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { Diagnostics::new() })
    }

    /// Makes it ready to be called with this configuration, checked and with defaults.
    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>>;

    /// Waits until nothing is under way any more that a killed run began on this machine, such as a command. The engine
    /// calls it before it judges an interrupted create (CRASH-9). Returns whether it had to wait; fails if that takes too
    /// long.
    fn wait_for_orphans(&self, _clock: Arc<dyn Clock>) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(async { Ok(false) })
    }

    /// The resource type of this name.
    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>>;

    /// The data source of this name.
    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>>;

    /// The names of all resource types.
    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>>;

    /// The names of all data sources.
    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>>;

    /// The type of ephemeral resources of this name.
    fn ephemeral<'a>(
        &'a self,
        _type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    /// The names of all types of ephemeral resources.
    fn ephemeral_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The function of this name that it offers to programs.
    fn function<'a>(
        &'a self,
        _name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    /// The names of all functions.
    fn function_names(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The name under which a Rust type of inputs is registered here, for programs that are written in Rust.
    fn type_of(&self, _inputs: TypeId) -> Option<SmolStr> {
        None
    }

    /// The name under which a Rust type of inputs is registered here as a data source.
    fn data_source_type_of(&self, _inputs: TypeId) -> Option<SmolStr> {
        None
    }

    /// Whether this Rust type holds its settings, for programs that are written in Rust.
    fn has_settings(&self, _settings: TypeId) -> bool {
        false
    }

    /// Whether its types are typed Rust, so that their answers match their schemas. What others answer is checked.
    fn is_typed(&self) -> bool {
        false
    }
}

/// A function that a provider offers to programs. It is pure: it looks at nothing but its arguments.
pub trait ProviderFunction: Send + Sync {
    /// Calls it with known values without marks, as the program wrote them.
    fn call<'a>(&'a self, arguments: &'a [Value]) -> BoxFuture<'a, Result<Value, Failure>>;
}

/// A provider's configuration, ready for use: a client, or the settings themselves. A clone shares it, and is small:
/// each resource has one.
#[derive(Clone)]
pub struct Configured(Arc<Configuration>);

struct Configuration {
    provider: SmolStr,
    content: Arc<dyn Any + Send + Sync>,
    given: Value,
    value: Value,
}

impl Configured {
    /// Wraps what the provider's types expect.
    pub fn new(provider: impl Into<SmolStr>, content: Arc<dyn Any + Send + Sync>) -> Self {
        let (provider, given, value) = (provider.into(), Value::NULL, Value::NULL);
        Configured(Arc::new(Configuration { provider, content, given, value }))
    }

    /// The same, with what the program says of it; the engine notes it.
    #[must_use]
    pub fn with_value(self, value: Value) -> Self {
        let Configuration { provider, content, given, .. } = &*self.0;
        let (provider, content, given) = (provider.clone(), content.clone(), given.clone());
        Configured(Arc::new(Configuration { provider, content, given, value }))
    }

    /// The same, with all that the provider was given; the guard notes it.
    #[must_use]
    pub(crate) fn with_given(self, given: Value) -> Self {
        let Configuration { provider, content, value, .. } = &*self.0;
        let (provider, content, value) = (provider.clone(), content.clone(), value.clone());
        Configured(Arc::new(Configuration { provider, content, given, value }))
    }

    /// The name of the provider.
    pub fn provider(&self) -> &str {
        &self.0.provider
    }

    /// What the program says of it: what is recorded.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// All that the provider was given, presets included.
    pub(crate) fn given(&self) -> &Value {
        &self.0.given
    }

    /// The content, if it is of this type.
    pub fn get<C: 'static>(&self) -> Option<&C> {
        self.0.content.downcast_ref()
    }

    /// The content to keep, if it is of this type.
    pub fn shared<C: Send + Sync + 'static>(&self) -> Option<Arc<C>> {
        self.0.content.clone().downcast().ok()
    }
}

impl fmt::Debug for Configured {
    /// Only whose it is: it may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "configuration of `{}`", self.0.provider)
    }
}

type WaitForOrphans = dyn Fn(Arc<dyn Clock>) -> BoxFuture<'static, Result<bool>> + Send + Sync;

type Configure<C> = dyn Fn(&Value) -> BoxFuture<'static, Result<Arc<C>>> + Send + Sync;

/// A provider whose types are written in Rust.
pub struct NativeProvider<C = NoConfig> {
    name: SmolStr,
    version: SmolStr,
    config_schema: Arc<Block>,
    configure: Box<Configure<C>>,
    wait_for_orphans: Option<Box<WaitForOrphans>>,
    resources: IndexMap<SmolStr, Arc<dyn ResourceHandler>>,
    data_sources: IndexMap<SmolStr, Arc<dyn DataHandler>>,
    types: IndexMap<TypeId, SmolStr>,
    data_source_types: IndexMap<TypeId, SmolStr>,
    settings: Option<TypeId>,
}

impl NativeProvider<NoConfig> {
    /// A provider without configuration.
    ///
    /// # Panics
    /// If the name is not one, such as `std`.
    pub fn new(name: &str) -> Self {
        Self::with_configuration(
            name,
            Block::default(),
            Box::new(|_| Box::pin(async { Ok(Arc::new(NoConfig)) })),
        )
    }
}

impl<C: Send + Sync + 'static> NativeProvider<C> {
    /// A provider whose types share what this function makes of its configuration, such as a client.
    ///
    /// # Panics
    /// If the name is not one, such as `std`.
    pub fn configured<S, F>(name: &str, configure: impl Fn(S) -> F + Send + Sync + 'static) -> Self
    where
        S: Inputs<Injected = ()>,
        F: Future<Output = Result<C>> + Send + 'static,
    {
        let configure = move |config: &Value| -> BoxFuture<'static, Result<Arc<C>>> {
            match S::decode(config, ()) {
                Ok(settings) => {
                    let configured = configure(settings);
                    Box::pin(async { configured.await.map(Arc::new) })
                }
                Err(error) => Box::pin(async { Err(error.into()) }),
            }
        };
        let provider = Self::with_configuration(name, S::block(), Box::new(configure));
        NativeProvider { settings: Some(TypeId::of::<S>()), ..provider }
    }

    fn with_configuration(name: &str, config_schema: Block, configure: Box<Configure<C>>) -> Self {
        assert!(is_identifier(name), "`{name}` is not a provider's name");
        NativeProvider {
            name: name.into(),
            version: SmolStr::default(),
            config_schema: Arc::new(config_schema),
            configure,
            wait_for_orphans: None,
            resources: IndexMap::new(),
            data_sources: IndexMap::new(),
            types: IndexMap::new(),
            data_source_types: IndexMap::new(),
            settings: None,
        }
    }

    /// Says of which version it is: `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub fn versioned(mut self, version: &str) -> Self {
        self.version = version.into();
        self
    }

    /// Says how to wait for what a killed run left under way: see [`Provider::wait_for_orphans`].
    #[must_use]
    pub fn waiting_for_orphans<F>(
        mut self,
        wait: impl Fn(Arc<dyn Clock>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<bool>> + Send + 'static,
    {
        self.wait_for_orphans = Some(Box::new(move |clock| Box::pin(wait(clock))));
        self
    }

    /// Adds a resource type of the CRUD contract; `file` in the provider `std` becomes `std_file`.
    #[must_use]
    pub fn crud<T: Crud<Config = C>>(self, name: &str) -> Self
    where
        T::Injected: NothingInjected,
    {
        self.crud_with::<T>(name, T::Injected::nothing)
    }

    /// The same, with what the type's injected field holds: made anew for each call.
    #[must_use]
    pub fn crud_with<T: Crud<Config = C>>(
        self,
        name: &str,
        construct: impl Fn() -> T::Injected + Send + Sync + 'static,
    ) -> Self {
        let type_name = self.type_name(name);
        self.resource_handler::<T>(CrudHandler::<T>::new(type_name.clone(), Box::new(construct)), type_name)
    }

    /// Adds a resource type of the convergent contract.
    #[must_use]
    pub fn converge<T: Converge<Config = C>>(self, name: &str) -> Self
    where
        T::Injected: NothingInjected,
    {
        self.converge_with::<T>(name, T::Injected::nothing)
    }

    /// The same, with what the type's injected field holds: made anew for each call.
    #[must_use]
    pub fn converge_with<T: Converge<Config = C>>(
        self,
        name: &str,
        construct: impl Fn() -> T::Injected + Send + Sync + 'static,
    ) -> Self {
        let type_name = self.type_name(name);
        self.resource_handler::<T>(
            ConvergeHandler::<T>::new(type_name.clone(), Box::new(construct)),
            type_name,
        )
    }

    /// Adds a data source.
    #[must_use]
    pub fn data<T: DataSource<Config = C>>(self, name: &str) -> Self
    where
        T::Injected: NothingInjected,
    {
        self.data_with::<T>(name, T::Injected::nothing)
    }

    /// The same, with what the type's injected field holds: made anew for each call.
    #[must_use]
    pub fn data_with<T: DataSource<Config = C>>(
        mut self,
        name: &str,
        construct: impl Fn() -> T::Injected + Send + Sync + 'static,
    ) -> Self {
        let type_name = self.type_name(name);
        assert!(
            !self.data_sources.contains_key(&type_name),
            "the data source `{type_name}` is registered twice"
        );
        self.data_source_types.insert(TypeId::of::<T>(), type_name.clone());
        self.data_sources.insert(type_name, Arc::new(DataSourceHandler::<T>::new(Box::new(construct))));
        self
    }

    fn resource_handler<T: 'static>(
        mut self,
        handler: impl ResourceHandler + 'static,
        type_name: SmolStr,
    ) -> Self {
        assert!(
            !self.resources.contains_key(&type_name),
            "the resource type `{type_name}` is registered twice"
        );
        self.types.insert(TypeId::of::<T>(), type_name.clone());
        self.resources.insert(type_name, Arc::new(handler));
        self
    }

    fn type_name(&self, name: &str) -> SmolStr {
        let type_name = format_smolstr!("{}_{name}", self.name);
        assert!(is_identifier(&type_name), "`{type_name}` is not the name of a type");
        type_name
    }
}

impl<C: Send + Sync + 'static> Provider for NativeProvider<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        Box::pin(async { Ok(self.config_schema.clone()) })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move {
            let content = (self.configure)(config).await.map_err(|error| error.into_parts().0)?;
            Ok(Configured::new(self.name.clone(), content))
        })
    }

    fn wait_for_orphans(&self, clock: Arc<dyn Clock>) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(async move {
            match &self.wait_for_orphans {
                Some(wait) => wait(clock).await.map_err(|error| error.into_parts().0),
                None => Ok(false),
            }
        })
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        Box::pin(async { Ok(self.resources.get(type_name).cloned()) })
    }

    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        Box::pin(async { Ok(self.data_sources.get(type_name).cloned()) })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.resources.keys().cloned().collect()) })
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.data_sources.keys().cloned().collect()) })
    }

    fn type_of(&self, inputs: TypeId) -> Option<SmolStr> {
        self.types.get(&inputs).cloned()
    }

    fn data_source_type_of(&self, inputs: TypeId) -> Option<SmolStr> {
        self.data_source_types.get(&inputs).cloned()
    }

    fn has_settings(&self, settings: TypeId) -> bool {
        self.settings == Some(settings)
    }

    fn is_typed(&self) -> bool {
        true
    }
}
