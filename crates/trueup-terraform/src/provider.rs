//! A Terraform provider as the engine sees it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use smol_str::SmolStr;
use tokio::sync::OnceCell;
use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, KnownSecrets, Value};
use trueup_provider::{
    BoxFuture, CallContext, Configured, DataHandler, EphemeralHandler, Provider, ProviderFunction,
    ResourceHandler,
};

use crate::answers::{bad_schema, diagnostics, unsendable};
use crate::calling::Called;
use crate::catalogue::{self, Catalogue, Section};
use crate::client::{Client, Version};
use crate::data::TerraformData;
use crate::ephemeral::TerraformEphemeral;
use crate::grpc::{Code, Status};
use crate::instance::{Effect, Instance};
use crate::pool::Pool;
use crate::process::{Launch, PluginLog};
use crate::protocol::{
    DynamicValue, Empty, IdentitySchemasResponse, SchemaResponse, ValidateProviderRequest,
};
use crate::resource::TerraformResource;
use crate::schema::{Identities, TypeSchema};

/// How to have a provider.
#[derive(Clone)]
pub struct ProviderOptions {
    /// The name by which programs know it, such as `aws`; the names of its types begin with it.
    pub name: SmolStr,
    /// Its full address, such as `registry.terraform.io/hashicorp/aws`.
    pub address: String,
    /// Its version; empty if it has none.
    pub version: SmolStr,
    /// How to start it.
    pub launch: Launch,
    /// Where schemas are kept from run to run; nowhere if there is no such folder.
    pub cache: Option<PathBuf>,
    /// Bounds the processes of this provider and of all others that share it.
    pub pool: Arc<Pool>,
    /// The secrets of the run: its processes print what they like, whenever they like.
    pub secrets: KnownSecrets,
}

/// A Terraform provider. Nothing is started before something is asked that only the provider knows.
pub struct TerraformProvider {
    shared: Arc<Shared>,
    /// The types that were asked for: each resource asks, and there may be many of one type.
    resources: Mutex<BTreeMap<SmolStr, Arc<dyn ResourceHandler>>>,
}

/// What all types of a provider share.
pub(crate) struct Shared {
    pub(crate) options: ProviderOptions,
    catalogue: OnceCell<Catalogue>,
    schemas: Mutex<BTreeMap<(Section, SmolStr), Arc<TypeSchema>>>,
    /// Answers what needs no configuration.
    bare: OnceCell<Arc<Instance>>,
}

impl TerraformProvider {
    /// The provider that these options describe.
    pub fn new(options: ProviderOptions) -> Self {
        let (catalogue, schemas, bare) = (OnceCell::new(), Mutex::default(), OnceCell::new());
        let shared = Arc::new(Shared { options, catalogue, schemas, bare });
        TerraformProvider { shared, resources: Mutex::default() }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Shared {
    pub(crate) fn name(&self) -> &str {
        &self.options.name
    }

    /// The schemas, from the disk or from the provider.
    pub(crate) async fn catalogue(&self) -> Result<&Catalogue, Failure> {
        self.catalogue.get_or_try_init(|| self.find_catalogue()).await
    }

    async fn find_catalogue(&self) -> Result<Catalogue, Failure> {
        let place = self.place().await;
        if let Some(kept) = place.as_deref().and_then(Catalogue::load) {
            return Ok(kept);
        }
        let name = self.name();
        // Schemas are asked for once, so nothing has to be told before.
        let log = PluginLog::new(name);
        let asked = Instance::new(log, self.options.launch.clone(), self.options.pool.clone(), None, false);
        let told = asked.call("tell its schemas", Effect::Looks, None, Empty {}, tell_schemas);
        // As long again as it may take to begin.
        let limit = self.options.launch.start_timeout * 2;
        let told = tokio::time::timeout(limit, told).await.unwrap_or_else(|_| {
            let message =
                format!("the provider {name} did not tell its schemas within {} s", limit.as_secs());
            Err(Failure::new(FailureClass::Fatal, message))
        });
        let (version, schemas, identities) = told?;
        crate::answers::warnings(&schemas.diagnostics, FailureClass::Fatal)?;
        let catalogue = Catalogue::told(version, schemas, identities);
        if let Some(place) = place
            && let Err(error) = catalogue.store(&place)
        {
            tracing::warn!(provider = name, "cannot keep its schemas in {}: {error}", place.display());
        }
        Ok(catalogue)
    }

    /// Where the schemas of this provider, as this very binary, are kept.
    async fn place(&self) -> Option<PathBuf> {
        let folder = self.options.cache.clone()?;
        let Launch { program, arguments, .. } = self.options.launch.clone();
        let address = self.options.address.clone();
        let place = move || catalogue::place(&folder, &address, &program, &arguments);
        tokio::task::spawn_blocking(place).await.ok()?.ok()
    }

    pub(crate) async fn message(&self, section: Section, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.catalogue().await?.message(section, name).map_err(|error| {
            let message = format!("cannot read the kept schemas of the provider {}: {error}", self.name());
            Failure::new(FailureClass::Fatal, message)
        })
    }

    /// The schema of this name, if there is one.
    pub(crate) async fn schema(
        &self,
        section: Section,
        name: &str,
    ) -> Result<Option<Arc<TypeSchema>>, Failure> {
        let key = (section, SmolStr::new(name));
        let known = self.schemas.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let Some(message) = self.message(section, name).await? else { return Ok(None) };
        let version = self.catalogue().await?.version();
        let what = if name.is_empty() { "its configuration" } else { name };
        let schema =
            TypeSchema::read(version, &message).map_err(|error| bad_schema(self.name(), what, &error))?;
        let schema = Arc::new(schema);
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner).insert(key, schema.clone());
        Ok(Some(schema))
    }

    pub(crate) async fn identities(&self, type_name: &str) -> Result<Option<Identities>, Failure> {
        let Some(message) = self.message(Section::Identities, type_name).await? else { return Ok(None) };
        let what = format!("identities of {type_name}");
        Identities::read(&message).map(Some).map_err(|error| bad_schema(self.name(), &what, &error))
    }

    /// Logs what nobody else is told: a provider said it, so it may hold a secret.
    pub(crate) fn log_detail(&self, type_name: &str, detail: &str) {
        tracing::debug!(provider = self.name(), type_name, "{}", self.options.secrets.scrubbed(detail));
    }

    /// What a module tells of itself, to be sent along with a call.
    pub(crate) async fn meta(&self, context: &CallContext) -> Result<Option<DynamicValue>, Failure> {
        let Some(told) = context.metas.as_ref().and_then(|metas| metas.get(self.name())) else {
            return Ok(None);
        };
        let Some(schema) = self.schema(Section::Meta, "").await? else { return Ok(None) };
        let encoded = schema.encode(&schema.complete(told));
        encoded.map(Some).map_err(|error| unsendable(self.name(), "`provider_meta`", &error))
    }

    pub(crate) async fn config_schema(&self) -> Result<Arc<TypeSchema>, Failure> {
        Ok(self.schema(Section::Provider, "").await?.unwrap_or_default())
    }

    async fn instance(&self, config: Option<&Value>) -> Result<Instance, Failure> {
        let schema = self.config_schema().await?;
        let encode = |config: &Value| {
            let encoded = schema.encode(&schema.complete(config));
            encoded.map_err(|error| unsendable(self.name(), "the configuration", &error))
        };
        let config = config.map(encode).transpose()?;
        let tells_schema = !self.catalogue().await?.abilities().works_untold;
        let ProviderOptions { launch, pool, .. } = &self.options;
        let log = PluginLog { name: self.name().to_owned(), secrets: self.options.secrets.clone() };
        Ok(Instance::new(log, launch.clone(), pool.clone(), config, tells_schema))
    }

    /// An instance without configuration, for what needs none.
    pub(crate) async fn bare(&self) -> Result<Arc<Instance>, Failure> {
        let made = self.bare.get_or_try_init(|| async { self.instance(None).await.map(Arc::new) });
        made.await.cloned()
    }

    /// The instance with this configuration; the one without, while it is unknown.
    pub(crate) async fn instance_of(&self, config: Option<&Configured>) -> Result<Arc<Instance>, Failure> {
        match config {
            Some(config) => self.configured(config),
            None => self.bare().await,
        }
    }

    pub(crate) fn configured(&self, config: &Configured) -> Result<Arc<Instance>, Failure> {
        config.shared::<Instance>().ok_or_else(|| {
            let message = format!("the provider {} was handed a foreign {config:?}", self.name());
            Failure::new(FailureClass::Fatal, message)
        })
    }
}

impl Provider for TerraformProvider {
    fn name(&self) -> &str {
        self.shared.name()
    }

    fn version(&self) -> &str {
        &self.shared.options.version
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        Box::pin(async { Ok(self.shared.config_schema().await?.block.clone()) })
    }

    fn meta_schema(&self) -> BoxFuture<'_, Result<Option<Arc<Block>>, Failure>> {
        Box::pin(async {
            let schema = self.shared.schema(Section::Meta, "").await?;
            Ok(schema.map(|schema| schema.block.clone()))
        })
    }

    fn validate_config<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let judged = async {
                let schema = self.shared.config_schema().await?;
                let config = schema
                    .encode(&schema.complete(config))
                    .map_err(|error| unsendable(self.name(), "the configuration", &error))?;
                let request = ValidateProviderRequest { config: Some(config) };
                let bare = self.shared.bare().await?;
                bare.call(
                    "validate its configuration",
                    Effect::Looks,
                    None,
                    request,
                    Client::validate_provider,
                )
                .await
            };
            match judged.await {
                Ok(answer) => diagnostics(&answer.diagnostics),
                Err(failure) => Diagnostic::error(failure.message).into(),
            }
        })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move {
            let instance = self.shared.instance(Some(config)).await?;
            instance.ensure_started().await?;
            Ok(Configured::new(self.name(), Arc::new(instance)))
        })
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        Box::pin(async move {
            let known = || self.resources.lock().unwrap_or_else(PoisonError::into_inner);
            let found = known().get(type_name).cloned();
            if found.is_some() {
                return Ok(found);
            }
            let Some(handler) = TerraformResource::find(&self.shared, type_name).await? else {
                return Ok(None);
            };
            let handler: Arc<dyn ResourceHandler> = Arc::new(handler);
            known().insert(type_name.into(), handler.clone());
            Ok(Some(handler))
        })
    }

    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        Box::pin(async move {
            let schema = self.shared.schema(Section::Data, type_name).await?;
            Ok(schema.map(|schema| {
                Arc::new(TerraformData::new(self.shared.clone(), type_name, schema)) as Arc<dyn DataHandler>
            }))
        })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.shared.catalogue().await?.names(Section::Resources)) })
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.shared.catalogue().await?.names(Section::Data)) })
    }

    fn ephemeral<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        Box::pin(async move {
            let schema = self.shared.schema(Section::Ephemeral, type_name).await?;
            Ok(schema.map(|schema| {
                let handler = TerraformEphemeral::new(self.shared.clone(), type_name, schema);
                Arc::new(handler) as Arc<dyn EphemeralHandler>
            }))
        })
    }

    fn ephemeral_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.shared.catalogue().await?.names(Section::Ephemeral)) })
    }

    fn function<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        Box::pin(async move {
            let described = self.described_function(name).await?;
            Ok(described.map(|described| {
                Arc::new(Called::new(self.shared.clone(), name, described)) as Arc<dyn ProviderFunction>
            }))
        })
    }

    fn function_names(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(self.shared.catalogue().await?.names(Section::Functions)) })
    }
}

/// All that a provider says of its types.
type Told = (Version, SchemaResponse, Option<IdentitySchemasResponse>);

fn tell_schemas(client: &Client, request: Empty) -> BoxFuture<'static, Result<Told, Status>> {
    let client = client.clone();
    Box::pin(async move {
        let schemas = client.schema(request).await?;
        let identities = match client.identity_schemas(request).await {
            Ok(identities) => Some(identities),
            // Older ones have none.
            Err(status) if status.code() == Code::Unimplemented => None,
            Err(status) => return Err(status),
        };
        Ok((client.version(), schemas, identities))
    })
}
