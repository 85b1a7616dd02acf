//! An AWS for one test: an emulator, a proxy before it, and the provider.

use std::collections::BTreeMap;
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

/// What is waited for longer is no delay but a limit.
const DELAY_MAX: Duration = Duration::from_secs(10);

/// The runtime's clock, less patient.
#[derive(Default)]
pub(crate) struct EmulatorClock(RuntimeClock);

impl Clock for EmulatorClock {
    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(if duration > DELAY_MAX { duration } else { duration.min(PATIENCE) })
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

    /// Writes a function's code into a folder beside the stack.
    pub(crate) fn write_code(&self, folder: &str, code: &str) {
        let folder = self.folder().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.py"), code).unwrap();
    }

    /// How many objects of all types there are.
    pub(crate) async fn census(&self) -> usize {
        let sdk = self.sdk();
        let sqs = aws_sdk_sqs::Client::new(&sdk).list_queues().send().await.unwrap().queue_urls().len();
        let s3 = self.s3().list_buckets().send().await.unwrap().buckets().len();
        let tables = aws_sdk_dynamodb::Client::new(&sdk).list_tables().send().await.unwrap().table_names().len();
        let iam = aws_sdk_iam::Client::new(&sdk);
        let roles = iam.list_roles().send().await.unwrap().roles().len();
        let scope = aws_sdk_iam::types::PolicyScopeType::Local;
        let policies = iam.list_policies().scope(scope).send().await.unwrap().policies().len();
        let logs = aws_sdk_cloudwatchlogs::Client::new(&sdk);
        let groups = logs.describe_log_groups().send().await.unwrap().log_groups().len();
        let lambda = aws_sdk_lambda::Client::new(&sdk);
        let functions = lambda.list_functions().send().await.unwrap().functions.unwrap_or_default();
        let mut aliases = 0;
        for function in &functions {
            let name = function.function_name().unwrap();
            aliases += lambda.list_aliases().function_name(name).send().await.unwrap().aliases().len();
        }
        let gateway = aws_sdk_apigatewayv2::Client::new(&sdk);
        let apis = gateway.get_apis().send().await.unwrap().items.unwrap_or_default();
        let mut parts = 0;
        for api in &apis {
            let id = api.api_id().unwrap();
            parts += gateway.get_integrations().api_id(id).send().await.unwrap().items().len();
            parts += gateway.get_routes().api_id(id).send().await.unwrap().items().len();
            parts += gateway.get_stages().api_id(id).send().await.unwrap().items().len();
        }
        sqs + s3 + tables + roles + policies + groups + functions.len() + aliases + apis.len() + parts
    }

    /// All functions, as Lambda tells of them.
    pub(crate) async fn functions(&self) -> Vec<SeenFunction> {
        let lambda = aws_sdk_lambda::Client::new(&self.sdk());
        let listed = lambda.list_functions().send().await.unwrap().functions.unwrap_or_default();
        let seen = listed.into_iter().map(|function| SeenFunction {
            name: function.function_name.unwrap(),
            timeout: function.timeout.unwrap(),
            environment: function.environment.and_then(|it| it.variables).unwrap_or_default().into_iter().collect(),
        });
        seen.collect()
    }
}

pub(crate) struct SeenFunction {
    pub(crate) name: String,
    pub(crate) timeout: i32,
    pub(crate) environment: BTreeMap<String, String>,
}
