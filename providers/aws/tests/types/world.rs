//! An AWS for one test: an emulator, a proxy before it, and the provider.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use trueup_conformance::{Driver, Kit};
use trueup_core::{Value, value};
use trueup_provider::{BoxFuture, Clock, NativeProvider, RuntimeClock};
use trueup_provider_aws::{Aws, aws_provider};
use trueup_test_servers::{Emulator, RunningEmulator};

use crate::proxy::Proxy;

/// How long at most to wait for an emulator, which is ready long before the real thing would be.
const PATIENCE: Duration = Duration::from_millis(30);

/// The runtime's clock, less patient.
#[derive(Default)]
pub(crate) struct EmulatorClock(RuntimeClock);

impl Clock for EmulatorClock {
    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration.min(PATIENCE))
    }
}

/// What Python runs before the emulator.
const QUICK_FUNCTIONS: &str = "
import ministack.services.lambda_svc as functions
functions._LAMBDA_STATE_TRANSITION_DELAY = 0.02
";

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) proxy: Proxy,
    pub(crate) emulator: RunningEmulator,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_settings(tempfile::tempdir().unwrap(), &[("LOG_LEVEL", "ERROR")]).await
    }

    /// The same, with functions that are ready soon after each change: the emulator lets each wait for half a second.
    pub(crate) async fn with_quick_functions() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sitecustomize.py"), QUICK_FUNCTIONS).unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        Self::with_settings(folder, &[("LOG_LEVEL", "ERROR"), ("PYTHONPATH", &path)]).await
    }

    async fn with_settings(folder: tempfile::TempDir, settings: &[(&str, &str)]) -> Self {
        let emulator = Emulator::Ministack.start(settings).unwrap_or_else(|none| panic!("{none}"));
        let proxy = Proxy::start(emulator.port()).await;
        World { folder, proxy, emulator }
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
        kit.timed_by(Arc::new(EmulatorClock::default())).steps_counted_by(move || counting.heard("")).settled_by(move || {
            let proxy = proxy.clone();
            async move { proxy.idle().await }
        })
    }

    pub(crate) async fn driver(&self, type_name: &str) -> Driver {
        let mut driver = Driver::new(self.provider(), type_name, &self.config()).await.unwrap();
        driver.context.clock = Arc::new(EmulatorClock::default());
        driver
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
