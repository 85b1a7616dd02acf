//! Speaking to a provider, whichever version of the protocol it has: the calls are the same, some by other names.

use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};
use trueup_provider::BoxFuture;

use crate::host::{TICKET_HEADER, Ticket};
use crate::protocol::plugin::grpc_controller_client::GrpcControllerClient;
use crate::protocol::tfplugin5::provider_client::ProviderClient as Client5;
use crate::protocol::tfplugin6::provider_client::ProviderClient as Client6;
use crate::protocol::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CallFunctionResponse, CloseEphemeralRequest,
    ConfigureRequest, DiagnosticsResponse, Empty, IdentitySchemasResponse, ImportRequest, ImportResponse,
    ListEvent, ListRequest, MoveRequest, MoveResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    PlanRequest, PlanResponse, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    RenewEphemeralRequest, RenewEphemeralResponse, SchemaResponse, StopResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeStateRequest, UpgradeStateResponse, ValidateProviderRequest,
    ValidateProviderResponse, ValidateRequest,
};

/// The largest message that is taken: the schemas of the largest providers have a quarter of that.
const MESSAGE_SIZE_MAX: usize = 64 << 20;

/// A version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Without nested attribute types.
    V5,
    /// With them.
    V6,
}

/// A connection to a provider. A clone shares it.
#[derive(Clone)]
pub struct Client {
    channel: Channel,
    provider: Provider,
}

#[derive(Clone)]
enum Provider {
    V5(Client5<Channel>),
    V6(Client6<Channel>),
}

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $v5:ident | $v6:ident ($request:ty) -> $response:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, request: $request) -> BoxFuture<'static, Result<$response, Status>> {
            let provider = self.provider.clone();
            Box::pin(async move {
                let answered = match provider {
                    Provider::V5(mut client) => client.$v5(request).await,
                    Provider::V6(mut client) => client.$v6(request).await,
                };
                answered.map(Response::into_inner)
            })
        }
    )*};
}

impl Client {
    pub(crate) fn new(version: Version, channel: Channel) -> Self {
        let provider = match version {
            Version::V5 => Provider::V5(
                Client5::new(channel.clone())
                    .max_decoding_message_size(MESSAGE_SIZE_MAX)
                    .max_encoding_message_size(MESSAGE_SIZE_MAX),
            ),
            Version::V6 => Provider::V6(
                Client6::new(channel.clone())
                    .max_decoding_message_size(MESSAGE_SIZE_MAX)
                    .max_encoding_message_size(MESSAGE_SIZE_MAX),
            ),
        };
        Client { channel, provider }
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The version that is spoken.
    pub fn version(&self) -> Version {
        match self.provider {
            Provider::V5(_) => Version::V5,
            Provider::V6(_) => Version::V6,
        }
    }

    calls! {
        /// All schemas and functions, each still to be decoded.
        schema = get_schema | get_provider_schema(Empty) -> SchemaResponse;
        /// What identifies objects, by resource type.
        identity_schemas = get_resource_identity_schemas | get_resource_identity_schemas(Empty) -> IdentitySchemasResponse;
        /// Judges a configuration of the provider.
        validate_provider = prepare_provider_config | validate_provider_config(ValidateProviderRequest) -> ValidateProviderResponse;
        /// Judges a configuration of a resource.
        validate_resource = validate_resource_type_config | validate_resource_config(ValidateRequest) -> DiagnosticsResponse;
        /// Judges a configuration of a data source.
        validate_data = validate_data_source_config | validate_data_resource_config(ValidateRequest) -> DiagnosticsResponse;
        /// Brings a state to the current schema.
        upgrade_state = upgrade_resource_state | upgrade_resource_state(UpgradeStateRequest) -> UpgradeStateResponse;
        /// Brings an identity to the current schema.
        upgrade_identity = upgrade_resource_identity | upgrade_resource_identity(UpgradeIdentityRequest) -> UpgradeIdentityResponse;
        /// Makes the provider ready; once for each process.
        configure = configure | configure_provider(ConfigureRequest) -> DiagnosticsResponse;
        /// Looks at an object.
        read = read_resource | read_resource(ReadRequest) -> ReadResponse;
        /// Says what would become of an object.
        plan = plan_resource_change | plan_resource_change(PlanRequest) -> PlanResponse;
        /// Creates, changes or removes an object.
        apply = apply_resource_change | apply_resource_change(ApplyRequest) -> ApplyResponse;
        /// Finds objects by an id or an identity.
        import = import_resource_state | import_resource_state(ImportRequest) -> ImportResponse;
        /// Makes the state of one type into that of another.
        move_state = move_resource_state | move_resource_state(MoveRequest) -> MoveResponse;
        /// Reads a data source.
        read_data = read_data_source | read_data_source(ReadDataRequest) -> ReadDataResponse;
        /// Judges a configuration of an ephemeral resource.
        validate_ephemeral = validate_ephemeral_resource_config | validate_ephemeral_resource_config(ValidateRequest) -> DiagnosticsResponse;
        /// Opens an ephemeral resource.
        open_ephemeral = open_ephemeral_resource | open_ephemeral_resource(OpenEphemeralRequest) -> OpenEphemeralResponse;
        /// Keeps an ephemeral resource open.
        renew_ephemeral = renew_ephemeral_resource | renew_ephemeral_resource(RenewEphemeralRequest) -> RenewEphemeralResponse;
        /// Closes an ephemeral resource.
        close_ephemeral = close_ephemeral_resource | close_ephemeral_resource(CloseEphemeralRequest) -> DiagnosticsResponse;
        /// Lists objects.
        list = list_resource | list_resource(ListRequest) -> Streaming<ListEvent>;
        /// Calls a function.
        call_function = call_function | call_function(CallFunctionRequest) -> CallFunctionResponse;
        /// Asks that whatever is under way come to an end.
        stop = stop | stop_provider(Empty) -> StopResponse;
    }

    /// As [`apply`](Self::apply); a host keeps the answer under the ticket.
    pub(crate) fn apply_kept(
        &self,
        (ticket, message): (Ticket, ApplyRequest),
    ) -> BoxFuture<'static, Result<ApplyResponse, Status>> {
        let provider = self.provider.clone();
        Box::pin(async move {
            let mut request = tonic::Request::new(message);
            let ticket = ticket.0.to_string().parse().map_err(|_| Status::internal("a ticket is no text"))?;
            request.metadata_mut().insert(TICKET_HEADER, ticket);
            let answered = match provider {
                Provider::V5(mut client) => client.apply_resource_change(request).await,
                Provider::V6(mut client) => client.apply_resource_change(request).await,
            };
            answered.map(Response::into_inner)
        })
    }

    /// Asks the process to end. Whether it answers or just ends is the same.
    pub async fn shut_down(&self) {
        let _ = GrpcControllerClient::new(self.channel.clone()).shutdown(Empty {}).await;
    }
}
