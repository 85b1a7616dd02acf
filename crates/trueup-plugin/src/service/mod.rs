//! The protocol's calls, on top of the erased provider contract.
//!
//! [`Service`] holds the provider and its types. Each call has a file, which decodes the request, calls the handler and
//! encodes its answer. Errors are diagnostics in the response; no call fails as such.

mod apply;
mod data;
mod import;
mod plan;
mod provider;
mod read;
mod upgrade;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use prost::Message;
use prost::bytes::Bytes;
use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{Configured, DataHandler, Provider, Registry, ResourceHandler, State};
use trueup_terraform::protocol::{
    DynamicValue, IdentitySchemasResponse, SchemaResponse, ServerCapabilities, StopResponse,
};
use trueup_terraform::{TypeSchema, Version};

use crate::calls::{Calls, Session};
use crate::diagnostics::{self, Messages};
use crate::record::Record;
use crate::surface::{Place, Purpose, Surface, UnservableType};

/// A served provider.
pub(crate) struct Service {
    provider: Arc<dyn Provider>,
    pub(crate) version: Version,
    configuration: Surface,
    resources: BTreeMap<SmolStr, Resource>,
    data: BTreeMap<SmolStr, Data>,
    schemas: Bytes,
    configured: RwLock<Configuration>,
    calls: Calls,
}

/// The provider's configuration.
#[derive(Clone)]
enum Configuration {
    /// Not configured yet.
    Missing,
    /// Holds unknown values.
    Unknown,
    /// Ready.
    Ready(Configured),
}

pub(crate) struct Resource {
    pub(crate) handler: Arc<dyn ResourceHandler>,
    pub(crate) surface: Surface,
}

pub(crate) struct Data {
    handler: Arc<dyn DataHandler>,
    surface: Surface,
}

/// A provider that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum UnservableProvider {
    /// Terraform cannot have one of its types.
    #[error(transparent)]
    Type(#[from] UnservableType),
    /// Its types cannot be listed.
    #[error("the provider cannot list its types: {0}")]
    Unlisted(Failure),
}

impl Service {
    /// Reads the schemas of all types.
    pub(crate) async fn new(
        registry: &Registry,
        name: &str,
        version: Version,
    ) -> Result<Self, UnservableProvider> {
        let unlisted = UnservableProvider::Unlisted;
        let missing =
            || unlisted(Failure::new(FailureClass::Fatal, format!("there is no provider `{name}`")));
        let provider = registry.provider(name).ok_or_else(missing)?;
        let place = |purpose| Place { purpose, version };
        let block = provider.config_schema().await.map_err(unlisted)?;
        let nothing = Block::default();
        let configuration = Surface::new(place(Purpose::Configuration), name, 0, &block, &nothing)?;
        let mut resources = BTreeMap::new();
        for type_name in provider.resource_types().await.map_err(unlisted)? {
            let Some(handler) = provider.resource(&type_name).await.map_err(unlisted)? else { continue };
            let schema = handler.schema();
            let (inputs, outputs) = (&schema.inputs, &schema.outputs);
            let surface =
                Surface::new(place(Purpose::Resource), &type_name, schema.version, inputs, outputs)?;
            resources.insert(type_name, Resource { handler, surface });
        }
        let mut data = BTreeMap::new();
        for type_name in provider.data_source_types().await.map_err(unlisted)? {
            let Some(handler) = provider.data_source(&type_name).await.map_err(unlisted)? else { continue };
            let (inputs, outputs) = (handler.inputs(), handler.outputs());
            let surface = Surface::new(place(Purpose::Data), &type_name, 0, inputs, outputs)?;
            data.insert(type_name, Data { handler, surface });
        }
        let schemas = schemas(version, &configuration, &resources, &data);
        Ok(Service {
            calls: Calls::new(name, registry.secrets().clone()),
            configured: RwLock::new(Configuration::Missing),
            provider,
            version,
            configuration,
            resources,
            data,
            schemas,
        })
    }

    /// The encoded response to `GetProviderSchema`, which never changes.
    pub(crate) fn schemas(&self) -> Bytes {
        self.schemas.clone()
    }

    /// No identities: native types are imported by id alone.
    pub(crate) fn identity_schemas(&self) -> IdentitySchemasResponse {
        IdentitySchemasResponse::default()
    }

    /// Cancels calls in flight.
    pub(crate) fn stop(&self) -> StopResponse {
        self.calls.stop();
        StopResponse::default()
    }

    fn resource(&self, type_name: &str) -> Result<&Resource, Messages> {
        self.resources.get(type_name).ok_or_else(|| {
            diagnostics::error(
                "Unknown resource type",
                format!("The provider has no resource type `{type_name}`."),
            )
        })
    }

    /// The configuration, once it is known.
    fn configuration(&self) -> Option<Configured> {
        match &*self.configured.read().unwrap_or_else(PoisonError::into_inner) {
            Configuration::Ready(configured) => Some(configured.clone()),
            Configuration::Missing | Configuration::Unknown => None,
        }
    }

    /// The configuration, or an error while it is unknown.
    fn ready(&self) -> Result<Configured, Messages> {
        self.configuration().ok_or_else(|| {
            let detail = "Its configuration depends on values that are not known before other resources are applied. \
                          Apply those first, with -target.";
            diagnostics::error("The provider is not configured yet", detail)
        })
    }

    fn session(&self, type_name: &str, name: &str) -> Result<Session, Messages> {
        self.calls
            .session(type_name, name)
            .map_err(|failure| diagnostics::error("Internal error", failure.message))
    }
}

fn schemas(
    version: Version,
    configuration: &Surface,
    resources: &BTreeMap<SmolStr, Resource>,
    data: &BTreeMap<SmolStr, Data>,
) -> Bytes {
    let message = |surface: &Surface| Bytes::from(surface.message(version));
    let response = SchemaResponse {
        provider: message(configuration),
        resource_schemas: resources
            .iter()
            .map(|(name, it)| (name.to_string(), message(&it.surface)))
            .collect(),
        data_source_schemas: data.iter().map(|(name, it)| (name.to_string(), message(&it.surface))).collect(),
        server_capabilities: Some(ServerCapabilities {
            plan_destroy: false,
            get_provider_schema_optional: true,
            move_resource_state: true,
        }),
        ..SchemaResponse::default()
    };
    response.encode_to_vec().into()
}

/// Decodes a value.
fn decoded(schema: &TypeSchema, what: &str, sent: Option<&DynamicValue>) -> Result<Value, Messages> {
    schema.decode(sent).map_err(|error| {
        diagnostics::error(
            format!("Unreadable {what}"),
            format!("It does not match the schema of the provider: {error}."),
        )
    })
}

/// Encodes a value.
fn encoded(schema: &TypeSchema, value: &Value) -> Result<Option<DynamicValue>, Messages> {
    schema.encode(value).map(Some).map_err(|error| {
        let detail = format!("{error}. This is a mistake in the provider: report it there.");
        diagnostics::error("The provider answered with something that its schema has no place for", detail)
    })
}

impl Resource {
    /// The record of an object: from its private bytes, or from its state if the bytes are not ours.
    async fn record(&self, session: &Session, state: &Value, private: &[u8]) -> Result<Record, Messages> {
        let Some(mut record) = Record::read(private) else {
            let (inputs, outputs) = self.surface.recovered(state);
            return Ok(Record::new(self.state(Some(inputs), outputs), None, crate::record::fresh_name()));
        };
        if record.state.schema_version != self.handler.schema().version {
            record.state = self.migrated(session, record.state, None).await?;
        }
        Ok(record)
    }

    fn state(&self, inputs: Option<trueup_provider::InputValues>, outputs: Value) -> State {
        let schema = self.handler.schema();
        let identity = schema.identity(inputs.as_ref().map(|inputs| &inputs.effective), &outputs);
        State { inputs, outputs, private: Vec::new(), schema_version: schema.version, identity }
    }

    /// The Terraform state of a recorded object.
    fn shown(&self, state: &State) -> Value {
        self.surface.state(state.inputs.as_ref(), &state.outputs)
    }
}
