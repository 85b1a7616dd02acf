//! The provider behind the calls of the protocol.
//!
//! [`Service`] holds the provider and its types. Each call has a file: what comes in is decoded, turned into a request of
//! ours, and the answer turned back. No call fails as such: what is wrong is told beside the answer.

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
use crate::record::Record;
use crate::surface::{Place, Purpose, Surface, Unservable};
use crate::told::{self, Told};

/// A provider that is served.
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

/// How far the provider is configured.
#[derive(Clone)]
enum Configuration {
    /// Not at all.
    Missing,
    /// Terraform does not know all of it yet.
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

/// Why a provider cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(transparent)]
    Unservable(#[from] Unservable),
    #[error("the provider does not tell its types: {0}")]
    Untold(Failure),
}

impl Service {
    /// Looks at all types of a provider.
    pub(crate) async fn new(registry: &Registry, name: &str, version: Version) -> Result<Self, BuildError> {
        let untold = BuildError::Untold;
        let missing = || untold(Failure::new(FailureClass::Fatal, format!("there is no provider `{name}`")));
        let provider = registry.provider(name).ok_or_else(missing)?;
        let place = |purpose| Place { purpose, version };
        let block = provider.config_schema().await.map_err(untold)?;
        let nothing = Block::default();
        let configuration = Surface::new(place(Purpose::Configuration), name, 0, &block, &nothing)?;
        let mut resources = BTreeMap::new();
        for type_name in provider.resource_types().await.map_err(untold)? {
            let Some(handler) = provider.resource(&type_name).await.map_err(untold)? else { continue };
            let schema = handler.schema();
            let (inputs, outputs) = (&schema.inputs, &schema.outputs);
            let surface =
                Surface::new(place(Purpose::Resource), &type_name, schema.version, inputs, outputs)?;
            resources.insert(type_name, Resource { handler, surface });
        }
        let mut data = BTreeMap::new();
        for type_name in provider.data_source_types().await.map_err(untold)? {
            let Some(handler) = provider.data_source(&type_name).await.map_err(untold)? else { continue };
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

    /// The schemas, encoded: they are the same each time.
    pub(crate) fn schemas(&self) -> Bytes {
        self.schemas.clone()
    }

    /// Types of ours are imported by an id alone, so no schema of an identity is told.
    pub(crate) fn identity_schemas(&self) -> IdentitySchemasResponse {
        IdentitySchemasResponse::default()
    }

    /// Brings everything that is under way to an end.
    pub(crate) fn stop(&self) -> StopResponse {
        self.calls.stop();
        StopResponse::default()
    }

    fn resource(&self, type_name: &str) -> Result<&Resource, Told> {
        self.resources.get(type_name).ok_or_else(|| {
            told::error("Unknown resource type", format!("The provider has no resource type `{type_name}`."))
        })
    }

    /// The configuration, if it is known by now.
    fn configuration(&self) -> Option<Configured> {
        match &*self.configured.read().unwrap_or_else(PoisonError::into_inner) {
            Configuration::Ready(configured) => Some(configured.clone()),
            Configuration::Missing | Configuration::Unknown => None,
        }
    }

    /// The configuration, for what cannot be done without it.
    fn ready(&self) -> Result<Configured, Told> {
        self.configuration().ok_or_else(|| {
            let detail = "Its configuration depends on values that are not known before other resources are applied. \
                          Apply those first, with -target.";
            told::error("The provider is not configured yet", detail)
        })
    }

    fn session(&self, type_name: &str, name: &str) -> Result<Session, Told> {
        self.calls.session(type_name, name).map_err(|failure| told::error("Internal error", failure.message))
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

/// A value as it came.
fn decoded(schema: &TypeSchema, what: &str, sent: Option<&DynamicValue>) -> Result<Value, Told> {
    schema.decode(sent).map_err(|error| {
        told::error(
            format!("Unreadable {what}"),
            format!("It does not match the schema of the provider: {error}."),
        )
    })
}

/// A value to send.
fn encoded(schema: &TypeSchema, value: &Value) -> Result<Option<DynamicValue>, Told> {
    schema.encode(value).map(Some).map_err(|error| {
        let detail = format!("{error}. This is a mistake in the provider: report it there.");
        told::error("The provider answered with something that its schema has no place for", detail)
    })
}

impl Resource {
    /// What is recorded of an object: by the private bytes beside its state, or by the state where there are none of ours.
    async fn record(&self, session: &Session, state: &Value, private: &[u8]) -> Result<Record, Told> {
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

    /// The state of Terraform's that a record stands for.
    fn shown(&self, state: &State) -> Value {
        self.surface.state(state.inputs.as_ref(), &state.outputs)
    }
}
