//! Messages that no client sends.

use proptest::prelude::*;
use prost::bytes::Bytes;
use trueup_plugin::Server;
use trueup_terraform::Version;

use crate::thing::{World, provider};

const METHODS: [&str; 11] = [
    "GetProviderSchema",
    "ValidateProviderConfig",
    "ValidateResourceConfig",
    "ValidateDataResourceConfig",
    "ConfigureProvider",
    "UpgradeResourceState",
    "ReadResource",
    "PlanResourceChange",
    "ApplyResourceChange",
    "ImportResourceState",
    "MoveResourceState",
];

proptest! {
    /// SERVE-8.
    #[test]
    fn any_bytes_are_answered_or_refused(
        method in prop::sample::select(METHODS.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::new(provider(&World::default()), Version::V6).await.unwrap();
            let _ = server.call(&format!("/tfplugin6.Provider/{method}"), Bytes::from(bytes)).await;
        });
    }
}

#[test]
fn unknown_methods_are_unimplemented() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::new(provider(&World::default()), Version::V6).await.unwrap();
        for path in ["/tfplugin6.Provider/ListResource", "/tfplugin5.Provider/GetSchema", "/", ""] {
            let refused = server.call(path, Bytes::new()).await.unwrap_err();
            assert_eq!(refused.code(), trueup_terraform::Code::Unimplemented, "{path}");
        }
        let healthy = server.call("/grpc.health.v1.Health/Check", Bytes::new()).await.unwrap();
        assert_eq!(healthy, Bytes::from_static(&[8, 1]));
    });
}
