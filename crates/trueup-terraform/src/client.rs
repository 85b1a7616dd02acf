//! Speaking to a provider, whichever version of the protocol it has: the calls are the same, some by other names.

use hyper::header::{HeaderMap, HeaderValue};
use prost::Message;
use prost::bytes::Bytes;
use trueup_provider::BoxFuture;

use crate::grpc::{Channel, Code, Status};
use crate::host::{TICKET_HEADER, Ticket};
use crate::protocol::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CallFunctionResponse, CloseEphemeralRequest,
    ConfigureRequest, DiagnosticsResponse, Empty, IdentitySchemasResponse, ImportRequest, ImportResponse,
    MoveRequest, MoveResponse, OpenEphemeralRequest, OpenEphemeralResponse, PlanRequest, PlanResponse,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewEphemeralRequest,
    RenewEphemeralResponse, SchemaResponse, StopResponse, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeStateRequest, UpgradeStateResponse, ValidateProviderRequest, ValidateProviderResponse,
    ValidateRequest,
};

/// The largest message that is sent or taken: the schemas of the largest providers have a quarter of that.
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
    version: Version,
}

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $v5:literal | $v6:literal ($request:ty) -> $response:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, request: $request) -> BoxFuture<'static, Result<$response, Status>> {
            let path = match self.version {
                Version::V5 => concat!("/tfplugin5.Provider/", $v5),
                Version::V6 => concat!("/tfplugin6.Provider/", $v6),
            };
            decoded(self.call(path, request.encode_to_vec(), None))
        }
    )*};
}

impl Client {
    pub(crate) fn new(version: Version, channel: Channel) -> Self {
        Client { channel, version }
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The version that is spoken.
    pub fn version(&self) -> Version {
        self.version
    }

    calls! {
        /// All schemas and functions, each still to be decoded.
        schema = "GetSchema" | "GetProviderSchema"(Empty) -> SchemaResponse;
        /// What identifies objects, by resource type.
        identity_schemas = "GetResourceIdentitySchemas" | "GetResourceIdentitySchemas"(Empty) -> IdentitySchemasResponse;
        /// Judges a configuration of the provider.
        validate_provider = "PrepareProviderConfig" | "ValidateProviderConfig"(ValidateProviderRequest) -> ValidateProviderResponse;
        /// Judges a configuration of a resource.
        validate_resource = "ValidateResourceTypeConfig" | "ValidateResourceConfig"(ValidateRequest) -> DiagnosticsResponse;
        /// Judges a configuration of a data source.
        validate_data = "ValidateDataSourceConfig" | "ValidateDataResourceConfig"(ValidateRequest) -> DiagnosticsResponse;
        /// Brings a state to the current schema.
        upgrade_state = "UpgradeResourceState" | "UpgradeResourceState"(UpgradeStateRequest) -> UpgradeStateResponse;
        /// Brings an identity to the current schema.
        upgrade_identity = "UpgradeResourceIdentity" | "UpgradeResourceIdentity"(UpgradeIdentityRequest) -> UpgradeIdentityResponse;
        /// Makes the provider ready; once for each process.
        configure = "Configure" | "ConfigureProvider"(ConfigureRequest) -> DiagnosticsResponse;
        /// Looks at an object.
        read = "ReadResource" | "ReadResource"(ReadRequest) -> ReadResponse;
        /// Says what would become of an object.
        plan = "PlanResourceChange" | "PlanResourceChange"(PlanRequest) -> PlanResponse;
        /// Creates, changes or removes an object.
        apply = "ApplyResourceChange" | "ApplyResourceChange"(ApplyRequest) -> ApplyResponse;
        /// Finds objects by an id or an identity.
        import = "ImportResourceState" | "ImportResourceState"(ImportRequest) -> ImportResponse;
        /// Makes the state of one type into that of another.
        move_state = "MoveResourceState" | "MoveResourceState"(MoveRequest) -> MoveResponse;
        /// Reads a data source.
        read_data = "ReadDataSource" | "ReadDataSource"(ReadDataRequest) -> ReadDataResponse;
        /// Judges a configuration of an ephemeral resource.
        validate_ephemeral = "ValidateEphemeralResourceConfig" | "ValidateEphemeralResourceConfig"(ValidateRequest) -> DiagnosticsResponse;
        /// Opens an ephemeral resource.
        open_ephemeral = "OpenEphemeralResource" | "OpenEphemeralResource"(OpenEphemeralRequest) -> OpenEphemeralResponse;
        /// Keeps an ephemeral resource open.
        renew_ephemeral = "RenewEphemeralResource" | "RenewEphemeralResource"(RenewEphemeralRequest) -> RenewEphemeralResponse;
        /// Closes an ephemeral resource.
        close_ephemeral = "CloseEphemeralResource" | "CloseEphemeralResource"(CloseEphemeralRequest) -> DiagnosticsResponse;
        /// Calls a function.
        call_function = "CallFunction" | "CallFunction"(CallFunctionRequest) -> CallFunctionResponse;
        /// Asks that whatever is under way come to an end.
        stop = "Stop" | "StopProvider"(Empty) -> StopResponse;
    }

    /// As [`apply`](Self::apply); a host keeps the answer under the ticket.
    pub(crate) fn apply_kept(
        &self,
        (ticket, message): (Ticket, ApplyRequest),
    ) -> BoxFuture<'static, Result<ApplyResponse, Status>> {
        let path = match self.version {
            Version::V5 => "/tfplugin5.Provider/ApplyResourceChange",
            Version::V6 => "/tfplugin6.Provider/ApplyResourceChange",
        };
        decoded(self.call(path, message.encode_to_vec(), Some(ticket)))
    }

    /// Asks the process to end. Whether it answers or just ends is the same.
    pub async fn shut_down(&self) {
        let _ = self.call("/plugin.GRPCController/Shutdown", Vec::new(), None).await;
    }

    /// Calls a method with an encoded message.
    fn call(
        &self,
        path: &'static str,
        message: Vec<u8>,
        ticket: Option<Ticket>,
    ) -> BoxFuture<'static, Result<Bytes, Status>> {
        let channel = self.channel.clone();
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            if let Some(ticket) = ticket {
                let text = HeaderValue::try_from(ticket.0.to_string());
                let text = text.map_err(|_| Status::new(Code::InvalidArgument, "a ticket is no text"))?;
                headers.insert(TICKET_HEADER, text);
            }
            channel.unary(path, headers, &message, MESSAGE_SIZE_MAX).await
        })
    }
}

/// Decodes the answer to a call.
fn decoded<M: Message + Default>(
    answer: BoxFuture<'static, Result<Bytes, Status>>,
) -> BoxFuture<'static, Result<M, Status>> {
    Box::pin(async move {
        let message = M::decode(answer.await?);
        message.map_err(|error| Status::new(Code::Internal, format!("cannot decode the answer: {error}")))
    })
}
