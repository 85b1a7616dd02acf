//! A provider behind the protocol's methods, in this process.

use prost::bytes::Bytes;
use trueup_provider::{NativeProvider, Provider, Registry};
use trueup_terraform::{Status, Version};

use crate::methods;
use crate::service::{Service, UnservableProvider};

/// Answers protocol calls in this process, for tests of providers.
pub struct Server(Service);

impl Server {
    /// Serves a provider with this protocol version.
    pub async fn new<C: Send + Sync + 'static>(
        provider: NativeProvider<C>,
        version: Version,
    ) -> Result<Self, UnservableProvider> {
        let name = provider.name().to_owned();
        Service::new(&Registry::new().with(provider), &name, version).await.map(Server)
    }

    /// Answers an encoded request to a method, such as `/tfplugin6.Provider/ReadResource`.
    pub async fn call(&self, path: &str, message: Bytes) -> Result<Bytes, Status> {
        methods::answer(&self.0, path, message).await
    }
}
