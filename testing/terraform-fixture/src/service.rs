//! The calls of both versions of the protocol, which are one set of calls under two sets of names.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, RwLock};

use prost::Message;
use prost::bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tonic::{Request, Response, Status};
use trueup_core::Value;
use trueup_terraform::protocol::plugin::grpc_controller_server::GrpcController;
use trueup_terraform::protocol::tfplugin5::provider_server::Provider as Provider5;
use trueup_terraform::protocol::tfplugin6::provider_server::Provider as Provider6;
use trueup_terraform::protocol::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CallFunctionResponse, CloseEphemeralRequest,
    ConfigureRequest, Diagnostic, DiagnosticsResponse, DynamicValue, Empty, IdentitySchemasResponse,
    ImportRequest, ImportResponse, ListEvent, ListRequest, MoveRequest, MoveResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanRequest, PlanResponse, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, RenewEphemeralRequest, RenewEphemeralResponse, SchemaResponse, ServerCapabilities,
    StopResponse, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeStateRequest, UpgradeStateResponse,
    ValidateProviderRequest, ValidateProviderResponse, ValidateRequest,
};
use trueup_terraform::{TypeSchema, Version};

use crate::objects::Objects;
use crate::schemas;
use crate::trouble;

/// The provider.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) version: Version,
    pub(crate) resources: BTreeMap<String, TypeSchema>,
    pub(crate) data: BTreeMap<String, TypeSchema>,
    pub(crate) ephemeral: BTreeMap<String, TypeSchema>,
    provider: TypeSchema,
    meta: TypeSchema,
    objects: RwLock<Option<Objects>>,
    /// Raised when whatever is under way should end.
    pub(crate) stopped: watch::Sender<bool>,
}

impl Service {
    pub(crate) fn new(version: Version) -> Self {
        let read = |schemas: BTreeMap<String, _>| -> BTreeMap<String, TypeSchema> {
            let read = |schema| TypeSchema::from_message(schema).expect("the schemas here are sound");
            schemas.into_iter().map(|(name, schema)| (name, read(schema))).collect()
        };
        let provider = TypeSchema::from_message(schemas::provider()).expect("the schemas here are sound");
        let inner = Inner {
            version,
            resources: read(schemas::resources(version)),
            data: read(schemas::data(version)),
            ephemeral: read(schemas::ephemeral(version)),
            provider,
            meta: TypeSchema::from_message(schemas::meta()).expect("the schemas here are sound"),
            objects: RwLock::new(None),
            stopped: watch::channel(false).0,
        };
        Service { inner: Arc::new(inner) }
    }
}

impl Inner {
    /// The objects; a provider that was not configured has none.
    pub(crate) fn objects(&self) -> Result<Objects, Status> {
        let objects = self.objects.read().map_err(|_| Status::internal("poisoned"))?;
        objects.clone().ok_or_else(|| Status::failed_precondition("the provider is not configured"))
    }

    /// Notes what a module tells of itself, for tests to look at.
    pub(crate) fn note_meta(&self, call: &str, sent: Option<&DynamicValue>) -> Result<(), Status> {
        let Some(sent) = sent else { return Ok(()) };
        let meta = decode(&self.meta, Some(sent))?;
        let name = meta.get("module_name").and_then(Value::as_str);
        name.map_or(Ok(()), |name| {
            self.objects()?.log("meta.log", &format!("{call} {name}"));
            Ok(())
        })
    }

    /// The part of a type's name behind the provider's.
    pub(crate) fn kind<'a>(&self, type_name: &'a str) -> &'a str {
        type_name.split_once('_').map_or(type_name, |(_, kind)| kind)
    }

    pub(crate) fn resource(&self, type_name: &str) -> Result<&TypeSchema, Status> {
        let known = self.resources.get(type_name);
        known.ok_or_else(|| Status::invalid_argument(format!("no resource type {type_name}")))
    }

    fn schema(&self) -> SchemaResponse {
        let all = |schemas: BTreeMap<String, _>| -> BTreeMap<String, Bytes> {
            let message = |schema| schemas::message(self.version, schema).into();
            schemas.iter().map(|(name, schema)| (name.clone(), message(schema))).collect()
        };
        let functions = schemas::functions();
        SchemaResponse {
            provider: schemas::message(self.version, &schemas::provider()).into(),
            provider_meta: schemas::message(self.version, &schemas::meta()).into(),
            resource_schemas: all(schemas::resources(self.version)),
            data_source_schemas: all(schemas::data(self.version)),
            ephemeral_resource_schemas: all(schemas::ephemeral(self.version)),
            functions: functions.iter().map(|(name, it)| (name.clone(), it.encode_to_vec().into())).collect(),
            server_capabilities: Some(ServerCapabilities {
                plan_destroy: true,
                get_provider_schema_optional: true,
                move_resource_state: true,
            }),
            ..SchemaResponse::default()
        }
    }

    fn identity_schemas(&self) -> IdentitySchemasResponse {
        let schemas = schemas::identities(self.version);
        IdentitySchemasResponse {
            identity_schemas: schemas
                .iter()
                .map(|(name, schema)| (name.clone(), schema.encode_to_vec().into()))
                .collect(),
            diagnostics: Vec::new(),
        }
    }

    fn validate_provider(
        &self,
        request: &ValidateProviderRequest,
    ) -> Result<ValidateProviderResponse, Status> {
        let config = decode(&self.provider, request.config.as_ref())?;
        let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
        trouble::repeat(text("token"));
        let wrong = if text("prefix").contains('/') {
            Some(trouble::error("Invalid prefix", "A prefix has no slashes.", &["prefix"]))
        } else if text("trouble") == "judge-once" && self.objects().is_ok() {
            Some(trouble::error("Asked again", "It was configured already.", &["trouble"]))
        } else {
            None
        };
        Ok(ValidateProviderResponse { diagnostics: wrong.into_iter().collect() })
    }

    fn configure(&self, request: &ConfigureRequest) -> Result<DiagnosticsResponse, Status> {
        let config = decode(&self.provider, request.config.as_ref())?;
        let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        trouble::repeat(&text("token"));
        let mut diagnostics = Vec::new();
        match text("trouble").as_str() {
            "warn" => {
                diagnostics.push(trouble::warning("configured with a warning"));
                trouble::print("configured");
            }
            "fail" => return Ok(told(trouble::error("Cannot configure", "As was asked for.", &["trouble"]))),
            "crash" => trouble::crash("in configure"),
            _ => {}
        }
        let objects = Objects::new(text("folder"), text("prefix"));
        *self.objects.write().map_err(|_| Status::internal("poisoned"))? = Some(objects);
        Ok(DiagnosticsResponse { diagnostics })
    }

    fn validate_resource(&self, request: &ValidateRequest) -> Result<DiagnosticsResponse, Status> {
        let config = decode(self.resource(&request.type_name)?, request.config.as_ref())?;
        match config.get("name").and_then(Value::as_str) {
            Some(name) if name.is_empty() || name.contains('/') => {
                Ok(told(trouble::error("Invalid name", "A name is not empty and has no slashes.", &["name"])))
            }
            _ => Ok(DiagnosticsResponse::default()),
        }
    }

    fn stop(&self) -> StopResponse {
        self.stopped.send_replace(true);
        StopResponse::default()
    }
}

/// An answer that says one thing.
pub(crate) fn told(diagnostic: Diagnostic) -> DiagnosticsResponse {
    DiagnosticsResponse { diagnostics: vec![diagnostic] }
}

/// A value as it came.
pub(crate) fn decode(schema: &TypeSchema, sent: Option<&DynamicValue>) -> Result<Value, Status> {
    schema.decode(sent).map_err(|error| Status::invalid_argument(error.to_string()))
}

/// A value to send.
pub(crate) fn encode(schema: &TypeSchema, value: &Value) -> Result<Option<DynamicValue>, Status> {
    schema.encode(value).map(Some).map_err(|error| Status::internal(error.to_string()))
}

/// Ends the process in good order.
pub(crate) struct Controller {
    pub(crate) end: mpsc::Sender<()>,
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        let _ = self.end.try_send(());
        Ok(Response::new(Empty {}))
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<ListEvent, Status>> + Send>>;

macro_rules! provider {
    ($version:ident: $schema:ident, $validate_provider:ident, $validate_resource:ident, $validate_data:ident,
     $configure:ident, $stop:ident) => {
        #[tonic::async_trait]
        impl $version for Service {
            type ListResourceStream = Events;

            async fn $schema(&self, _: Request<Empty>) -> Result<Response<SchemaResponse>, Status> {
                Ok(Response::new(self.inner.schema()))
            }

            async fn get_resource_identity_schemas(
                &self,
                _: Request<Empty>,
            ) -> Result<Response<IdentitySchemasResponse>, Status> {
                Ok(Response::new(self.inner.identity_schemas()))
            }

            async fn $validate_provider(
                &self,
                request: Request<ValidateProviderRequest>,
            ) -> Result<Response<ValidateProviderResponse>, Status> {
                self.inner.validate_provider(request.get_ref()).map(Response::new)
            }

            async fn $validate_resource(
                &self,
                request: Request<ValidateRequest>,
            ) -> Result<Response<DiagnosticsResponse>, Status> {
                self.inner.validate_resource(request.get_ref()).map(Response::new)
            }

            async fn $validate_data(
                &self,
                _: Request<ValidateRequest>,
            ) -> Result<Response<DiagnosticsResponse>, Status> {
                Ok(Response::new(DiagnosticsResponse::default()))
            }

            async fn upgrade_resource_state(
                &self,
                request: Request<UpgradeStateRequest>,
            ) -> Result<Response<UpgradeStateResponse>, Status> {
                self.inner.upgrade(request.get_ref()).map(Response::new)
            }

            async fn upgrade_resource_identity(
                &self,
                _: Request<UpgradeIdentityRequest>,
            ) -> Result<Response<UpgradeIdentityResponse>, Status> {
                Err(Status::unimplemented("there is one version of identities"))
            }

            async fn $configure(
                &self,
                request: Request<ConfigureRequest>,
            ) -> Result<Response<DiagnosticsResponse>, Status> {
                self.inner.configure(request.get_ref()).map(Response::new)
            }

            async fn read_resource(
                &self,
                request: Request<ReadRequest>,
            ) -> Result<Response<ReadResponse>, Status> {
                self.inner.read(request.get_ref()).await.map(Response::new)
            }

            async fn plan_resource_change(
                &self,
                request: Request<PlanRequest>,
            ) -> Result<Response<PlanResponse>, Status> {
                self.inner.plan(request.get_ref()).await.map(Response::new)
            }

            async fn apply_resource_change(
                &self,
                request: Request<ApplyRequest>,
            ) -> Result<Response<ApplyResponse>, Status> {
                self.inner.apply(request.into_inner()).await.map(Response::new)
            }

            async fn import_resource_state(
                &self,
                request: Request<ImportRequest>,
            ) -> Result<Response<ImportResponse>, Status> {
                self.inner.import(request.into_inner()).map(Response::new)
            }

            async fn move_resource_state(
                &self,
                request: Request<MoveRequest>,
            ) -> Result<Response<MoveResponse>, Status> {
                self.inner.move_state(request.into_inner()).map(Response::new)
            }

            async fn read_data_source(
                &self,
                request: Request<ReadDataRequest>,
            ) -> Result<Response<ReadDataResponse>, Status> {
                self.inner.read_data(request.get_ref()).map(Response::new)
            }

            async fn validate_ephemeral_resource_config(
                &self,
                _: Request<ValidateRequest>,
            ) -> Result<Response<DiagnosticsResponse>, Status> {
                Ok(Response::new(DiagnosticsResponse::default()))
            }

            async fn open_ephemeral_resource(
                &self,
                request: Request<OpenEphemeralRequest>,
            ) -> Result<Response<OpenEphemeralResponse>, Status> {
                self.inner.open(request.get_ref()).await.map(Response::new)
            }

            async fn renew_ephemeral_resource(
                &self,
                request: Request<RenewEphemeralRequest>,
            ) -> Result<Response<RenewEphemeralResponse>, Status> {
                self.inner.renew(request.into_inner()).map(Response::new)
            }

            async fn close_ephemeral_resource(
                &self,
                request: Request<CloseEphemeralRequest>,
            ) -> Result<Response<DiagnosticsResponse>, Status> {
                self.inner.close(request.get_ref()).map(Response::new)
            }

            async fn list_resource(
                &self,
                _: Request<ListRequest>,
            ) -> Result<Response<Self::ListResourceStream>, Status> {
                Err(Status::unimplemented("nothing can be listed here"))
            }

            async fn call_function(
                &self,
                request: Request<CallFunctionRequest>,
            ) -> Result<Response<CallFunctionResponse>, Status> {
                self.inner.call_function(request.get_ref()).await.map(Response::new)
            }

            async fn $stop(&self, _: Request<Empty>) -> Result<Response<StopResponse>, Status> {
                Ok(Response::new(self.inner.stop()))
            }
        }
    };
}

provider!(Provider5: get_schema, prepare_provider_config, validate_resource_type_config,
    validate_data_source_config, configure, stop);
provider!(Provider6: get_provider_schema, validate_provider_config, validate_resource_config,
    validate_data_resource_config, configure_provider, stop_provider);
