//! An AWS for one test: an emulator, a proxy before it, and the provider.

use std::path::Path;

use trueup_conformance::{Driver, Kit};
use trueup_core::{Value, value};
use trueup_provider::NativeProvider;
use trueup_provider_aws::{Aws, aws_provider};
use trueup_test_servers::{Emulator, RunningEmulator};

use crate::proxy::Proxy;

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) proxy: Proxy,
    pub(crate) emulator: RunningEmulator,
}

impl World {
    pub(crate) async fn new() -> Self {
        let emulator = Emulator::Ministack.start(&[("LOG_LEVEL", "ERROR")]).unwrap_or_else(|none| panic!("{none}"));
        let proxy = Proxy::start(emulator.port()).await;
        World { folder: tempfile::tempdir().unwrap(), proxy, emulator }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn provider(&self) -> NativeProvider<Aws> {
        aws_provider(self.folder())
    }

    /// The provider's configuration.
    pub(crate) fn config(&self) -> Value {
        let endpoint = format!("http://127.0.0.1:{}", self.proxy.port);
        let secret = value!("secret").into_secret();
        value!({ region: "eu-central-1", endpoint: endpoint, access_key: "test", secret_key: secret })
    }

    pub(crate) async fn kit(&self, type_name: &str, inputs: Value) -> Kit {
        let (proxy, counting) = (self.proxy.clone(), self.proxy.clone());
        let kit = Kit::configured(self.provider(), &self.config(), type_name, inputs).await;
        let kit = kit.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        kit.steps_counted_by(move || counting.heard("")).settled_by(move || {
            let proxy = proxy.clone();
            async move { proxy.idle().await }
        })
    }

    pub(crate) async fn driver(&self, type_name: &str) -> Driver {
        Driver::new(self.provider(), type_name, &self.config()).await.unwrap()
    }

    /// The SDK's own configuration, to meddle with objects behind the provider's back.
    pub(crate) fn sdk(&self) -> aws_config::SdkConfig {
        aws_config::SdkConfig::builder()
            .behavior_version(aws_config::BehaviorVersion::latest())
            .region(aws_config::Region::new("eu-central-1"))
            .endpoint_url(format!("http://127.0.0.1:{}", self.proxy.port))
            .credentials_provider(aws_sdk_sts::config::SharedCredentialsProvider::new(
                aws_sdk_sts::config::Credentials::new("test", "secret", None, None, "test"),
            ))
            .build()
    }

    pub(crate) fn s3(&self) -> aws_sdk_s3::Client {
        let config = aws_sdk_s3::config::Builder::from(&self.sdk()).force_path_style(true).build();
        aws_sdk_s3::Client::from_conf(config)
    }
}
