//! An AWS for one test: an emulator, a proxy before it, and the provider. Or the real one, where a test can do without
//! both and the environment says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use trueup_conformance::{Driver, Kit};
use trueup_core::{Value, value};
use trueup_provider::{BoxFuture, Clock, NativeProvider, RuntimeClock};
use trueup_provider_aws::{Aws, aws_provider};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

use crate::proxy::Proxy;

/// How long at most to wait for an emulator, which is ready long before the real thing would be.
const PATIENCE: Duration = Duration::from_millis(30);

/// What is waited for longer is no delay but a limit.
const DELAY_MAX: Duration = Duration::from_secs(10);

/// The runtime's clock, less patient.
#[derive(Default)]
struct EmulatorClock(RuntimeClock);

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

/// The region of the real AWS in which tests make their objects, with the credentials of whoever runs them.
const REAL_REGION: &str = "TRUEUP_TEST_AWS_REGION";

/// What the names of all objects begin with that tests make there.
const REAL_PREFIX: &str = "TRUEUP_TEST_AWS_PREFIX";

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) proxy: Proxy,
    /// `None` for the real AWS.
    emulator: Option<RunningEmulator>,
    /// What the names of all objects begin with.
    pub(crate) stack: String,
    config: Value,
    sdk: aws_config::SdkConfig,
}

impl World {
    /// `None` if the test command said to do without the emulator.
    pub(crate) async fn new() -> Option<Self> {
        Self::with_settings(tempfile::tempdir().unwrap(), &[("LOG_LEVEL", "ERROR")]).await
    }

    /// The same, with functions that are ready soon after each change: the emulator lets each wait for half a second.
    pub(crate) async fn with_quick_functions() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sitecustomize.py"), QUICK_FUNCTIONS).unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        Self::with_settings(folder, &[("LOG_LEVEL", "ERROR"), ("PYTHONPATH", &path)]).await
    }

    async fn with_settings(folder: tempfile::TempDir, settings: &[(&str, &str)]) -> Option<Self> {
        let emulator = Emulator::Ministack.start_with(settings)?;
        let proxy = Proxy::start(emulator.port()).await;
        let endpoint = format!("http://127.0.0.1:{}", proxy.port);
        let credentials = aws_sdk_sts::config::Credentials::new("test", "secret", None, None, "test");
        let sdk = aws_config::SdkConfig::builder()
            .behavior_version(aws_config::BehaviorVersion::latest())
            .region(aws_config::Region::new("eu-central-1"))
            .endpoint_url(&endpoint)
            .credentials_provider(aws_sdk_sts::config::SharedCredentialsProvider::new(credentials))
            .build();
        let secret = value!("secret").into_secret();
        let config =
            value!({ region: "eu-central-1", endpoint: endpoint, access_key: "test", secret_key: secret });
        Some(World { folder, proxy, emulator: Some(emulator), stack: "shop".to_owned(), config, sdk })
    }

    /// The real AWS, if the environment names a region of it; else an emulator with quick functions.
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides")]
    pub(crate) async fn real_or_quick() -> Option<Self> {
        let Ok(region) = std::env::var(REAL_REGION) else { return Self::with_quick_functions().await };
        let stack = std::env::var(REAL_PREFIX).unwrap_or_else(|_| "trueup-test".to_owned());
        let sdk = aws_config::defaults(aws_config::BehaviorVersion::latest());
        let sdk = sdk.region(aws_config::Region::new(region.clone())).load().await;
        let folder = tempfile::tempdir().unwrap();
        Some(World {
            folder,
            proxy: Proxy::start(0).await,
            emulator: None,
            stack,
            config: value!({ region: region }),
            sdk,
        })
    }

    /// The clock for whatever waits for this AWS.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        if self.is_emulated() { Arc::new(EmulatorClock::default()) } else { Arc::new(RuntimeClock::new()) }
    }

    pub(crate) fn is_emulated(&self) -> bool {
        self.emulator.is_some()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn provider(&self) -> NativeProvider<Aws> {
        aws_provider(self.folder())
    }

    /// The provider's configuration.
    pub(crate) fn config(&self) -> Value {
        self.config.clone()
    }

    pub(crate) async fn kit(&self, type_name: &str, inputs: Value) -> Kit {
        let (proxy, counting) = (self.proxy.clone(), self.proxy.clone());
        let kit = Kit::configured(self.provider(), &self.config(), type_name, inputs).await;
        let kit = kit.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        kit.timed_by(self.clock()).steps_counted_by(move || counting.heard("")).settled_by(move || {
            let proxy = proxy.clone();
            async move { proxy.idle().await }
        })
    }

    pub(crate) async fn driver(&self, type_name: &str) -> Driver {
        let mut driver = Driver::new(self.provider(), type_name, &self.config()).await.unwrap();
        driver.context.clock = self.clock();
        driver
    }

    /// The SDK's own configuration, to meddle with objects behind the provider's back.
    pub(crate) fn sdk(&self) -> aws_config::SdkConfig {
        self.sdk.clone()
    }

    pub(crate) fn s3(&self) -> aws_sdk_s3::Client {
        let path_style = self.sdk.endpoint_url().is_some();
        let config = aws_sdk_s3::config::Builder::from(&self.sdk).force_path_style(path_style).build();
        aws_sdk_s3::Client::from_conf(config)
    }

    /// Writes a function's code into a folder beside the stack.
    pub(crate) fn write_code(&self, folder: &str, code: &str) {
        let folder = self.folder().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.py"), code).unwrap();
    }

    /// How many objects of all types there are whose names begin with the stack's.
    pub(crate) async fn census(&self) -> usize {
        let sdk = self.sdk();
        let own = |name: Option<&str>| name.is_some_and(|name| name.starts_with(&self.stack));
        let queues =
            aws_sdk_sqs::Client::new(&sdk).list_queues().queue_name_prefix(&self.stack).send().await.unwrap();
        let buckets = self.s3().list_buckets().send().await.unwrap();
        let tables = aws_sdk_dynamodb::Client::new(&sdk).list_tables().send().await.unwrap();
        let iam = aws_sdk_iam::Client::new(&sdk);
        let roles = iam.list_roles().send().await.unwrap();
        let scope = aws_sdk_iam::types::PolicyScopeType::Local;
        let policies = iam.list_policies().scope(scope).send().await.unwrap();
        let logs = aws_sdk_cloudwatchlogs::Client::new(&sdk);
        let groups = logs.describe_log_groups().log_group_name_prefix(&self.stack).send().await.unwrap();
        queues.queue_urls().len()
            + buckets.buckets().iter().filter(|bucket| own(bucket.name())).count()
            + tables.table_names().iter().filter(|name| own(Some(name))).count()
            + roles.roles().iter().filter(|role| own(Some(role.role_name()))).count()
            + policies.policies().iter().filter(|policy| own(policy.policy_name())).count()
            + groups.log_groups().len()
            + self.count_functions().await
            + self.count_apis().await
    }

    /// Functions and their aliases.
    async fn count_functions(&self) -> usize {
        let lambda = aws_sdk_lambda::Client::new(&self.sdk);
        let mut count = 0;
        for function in self.functions().await {
            let aliases = lambda.list_aliases().function_name(function.name).send().await.unwrap();
            count += 1 + aliases.aliases().len();
        }
        count
    }

    /// APIs and what they are made of.
    async fn count_apis(&self) -> usize {
        let gateway = aws_sdk_apigatewayv2::Client::new(&self.sdk);
        let apis = gateway.get_apis().send().await.unwrap().items.unwrap_or_default();
        let mut count = 0;
        for api in apis.iter().filter(|api| api.name().is_some_and(|name| name.starts_with(&self.stack))) {
            let id = api.api_id().unwrap();
            count += 1;
            count += gateway.get_integrations().api_id(id).send().await.unwrap().items().len();
            count += gateway.get_routes().api_id(id).send().await.unwrap().items().len();
            count += gateway.get_stages().api_id(id).send().await.unwrap().items().len();
        }
        count
    }

    /// All functions of the stack, as Lambda tells of them.
    pub(crate) async fn functions(&self) -> Vec<SeenFunction> {
        let lambda = aws_sdk_lambda::Client::new(&self.sdk);
        let listed = lambda.list_functions().send().await.unwrap().functions.unwrap_or_default();
        let own = listed
            .into_iter()
            .filter(|it| it.function_name().is_some_and(|name| name.starts_with(&self.stack)));
        let seen = own.map(|function| SeenFunction {
            name: function.function_name.unwrap(),
            timeout: function.timeout.unwrap(),
            environment: function
                .environment
                .and_then(|it| it.variables)
                .unwrap_or_default()
                .into_iter()
                .collect(),
        });
        seen.collect()
    }
}

pub(crate) struct SeenFunction {
    pub(crate) name: String,
    pub(crate) timeout: i32,
    pub(crate) environment: BTreeMap<String, String>,
}
