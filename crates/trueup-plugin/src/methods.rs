//! Dispatch of the protocol's methods, by path.

use prost::Message;
use prost::bytes::Bytes;
use trueup_terraform::protocol::DynamicValue;
use trueup_terraform::{Code, Status, Version};

use crate::service::Service;

/// The health check, and its answer: `SERVING`.
const HEALTH: &str = "/grpc.health.v1.Health/Check";
const HEALTHY: &[u8] = &[0x08, 0x01];

/// Answers an encoded request.
pub(crate) async fn answer(service: &Service, path: &str, message: Bytes) -> Result<Bytes, Status> {
    if path == HEALTH {
        return Ok(Bytes::from_static(HEALTHY));
    }
    let own = match service.version {
        Version::V5 => "/tfplugin5.Provider/",
        Version::V6 => "/tfplugin6.Provider/",
    };
    let unknown = || Status::new(Code::Unimplemented, format!("there is no method {path}"));
    match path.strip_prefix(own).ok_or_else(unknown)? {
        "GetSchema" | "GetProviderSchema" => Ok(service.schemas()),
        "GetResourceIdentitySchemas" => Ok(service.identity_schemas().encode_to_vec().into()),
        "PrepareProviderConfig" => {
            // Version 5 returns the configuration.
            let request: trueup_terraform::protocol::ValidateProviderRequest = decoded(message)?;
            let prepared = request.config.clone();
            let diagnostics = service.validate_provider(request).await.diagnostics;
            Ok(PreparedConfiguration { config: prepared, diagnostics }.encode_to_vec().into())
        }
        "ValidateProviderConfig" => respond(message, |it| service.validate_provider(it)).await,
        "ValidateResourceTypeConfig" | "ValidateResourceConfig" => {
            respond(message, |it| service.validate_resource(it)).await
        }
        "ValidateDataSourceConfig" | "ValidateDataResourceConfig" => {
            respond(message, |it| service.validate_data(it)).await
        }
        "Configure" | "ConfigureProvider" => respond(message, |it| service.configure(it)).await,
        "UpgradeResourceState" => respond(message, |it| service.upgrade(it)).await,
        "ReadResource" => respond(message, |it| service.read(it)).await,
        "PlanResourceChange" => respond(message, |it| service.plan(it)).await,
        "ApplyResourceChange" => respond(message, |it| service.apply(it)).await,
        "ImportResourceState" => respond(message, |it| service.import(it)).await,
        "MoveResourceState" => respond(message, |it| service.move_state(it)).await,
        "ReadDataSource" => respond(message, |it| service.read_data(it)).await,
        "Stop" | "StopProvider" => Ok(service.stop().encode_to_vec().into()),
        _ => Err(unknown()),
    }
}

/// The response of version 5 to `PrepareProviderConfig`.
#[derive(Clone, PartialEq, Message)]
struct PreparedConfiguration {
    #[prost(message, optional, tag = "1")]
    config: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    diagnostics: Vec<trueup_terraform::protocol::Diagnostic>,
}

async fn respond<I, O, F>(message: Bytes, call: impl FnOnce(I) -> F) -> Result<Bytes, Status>
where
    I: Message + Default,
    O: Message,
    F: Future<Output = O>,
{
    Ok(call(decoded(message)?).await.encode_to_vec().into())
}

fn decoded<I: Message + Default>(message: Bytes) -> Result<I, Status> {
    I::decode(message)
        .map_err(|error| Status::new(Code::InvalidArgument, format!("unreadable request: {error}")))
}
