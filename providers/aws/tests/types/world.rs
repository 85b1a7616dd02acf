//! An AWS for one test: an emulator, a proxy before it, and the provider. Or the real one, where a test can do without
//! both and the environment says so.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use trueup_conformance::{CheckReport, Driver, Kit};
use trueup_core::{Value, value};
use trueup_provider::{BoxFuture, Clock, NativeProvider, RuntimeClock};
use trueup_provider_aws::{Aws, aws_provider};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::environment::text_variable;
use trueup_test_servers::sized;

use crate::account::Account;
use crate::proxy::Proxy;
use crate::raw::Raw;

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
try:
    import ministack.services.lambda_svc as functions
    functions._LAMBDA_STATE_TRANSITION_DELAY = 0.02
except ImportError:
    pass
";

/// The region of the real AWS in which tests make their objects, with the credentials of whoever runs them.
const REAL_REGION: &str = "TRUEUP_TEST_AWS_REGION";

/// What the names of all objects begin with that tests make there.
const REAL_PREFIX: &str = "TRUEUP_TEST_AWS_PREFIX";

pub(crate) struct World {
    folder: tempfile::TempDir,
    /// `None` for the real AWS.
    emulated: Option<Emulated>,
    /// What the names of all objects begin with.
    pub(crate) stack: String,
    config: Value,
    raw: Raw,
}

struct Emulated {
    proxy: Proxy,
    _emulator: RunningEmulator,
}

impl World {
    /// The real AWS, if the environment names a region of it; else an emulator. `None` if the test command said to do
    /// without the emulator.
    ///
    /// Names begin with that of the test, so that tests that run side by side do not count each other's objects. What an
    /// earlier run left there is deleted.
    pub(crate) async fn of(test: &str) -> Option<Self> {
        let Some(region) = text_variable(REAL_REGION) else { return Self::emulated().await };
        let prefix = text_variable(REAL_PREFIX).unwrap_or_else(|| "trueup-test".to_owned());
        let raw = Raw::real(&region).await;
        let folder = tempfile::tempdir().unwrap();
        let (stack, config) = (format!("{prefix}-{test}"), value!({ region: region }));
        let world = World { folder, emulated: None, stack, config, raw };
        world.account().sweep().await;
        Some(world)
    }

    /// An emulator, with a proxy before it.
    pub(crate) async fn emulated() -> Option<Self> {
        Self::emulated_by(Emulator::Ministack).await
    }

    /// The same with this emulator. Functions are ready soon after each change: it would let each wait for half a second.
    pub(crate) async fn emulated_by(emulator: Emulator) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sitecustomize.py"), QUICK_FUNCTIONS).unwrap();
        let path = folder.path().to_str().unwrap();
        let emulator = emulator.start_with(&[("LOG_LEVEL", "ERROR"), ("PYTHONPATH", path)])?;
        let proxy = Proxy::start(emulator.port()).await;
        let endpoint = format!("http://127.0.0.1:{}", proxy.port);
        let raw = Raw::emulated(&endpoint, "eu-central-1");
        // No word of any input.
        let secret = value!("emulated-key-17").into_secret();
        let config =
            value!({ region: "eu-central-1", endpoint: endpoint, access_key: "test", secret_key: secret });
        let emulated = Some(Emulated { proxy, _emulator: emulator });
        Some(World { folder, emulated, stack: "shop".to_owned(), config, raw })
    }

    /// What stands before the emulator.
    pub(crate) fn proxy(&self) -> &Proxy {
        &self.emulated.as_ref().expect("nothing stands before the real AWS").proxy
    }

    pub(crate) fn region(&self) -> String {
        self.raw.region.clone()
    }

    /// The clock for whatever waits for this AWS.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        if self.is_emulated() { Arc::new(EmulatorClock::default()) } else { Arc::new(RuntimeClock::new()) }
    }

    pub(crate) fn is_emulated(&self) -> bool {
        self.emulated.is_some()
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
        let kit = Kit::configured(self.provider(), &self.config(), type_name, inputs).await;
        let kit = kit.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        let kit = kit.of_stack(&self.stack).timed_by(self.clock());
        let Some(Emulated { proxy, .. }) = &self.emulated else {
            // Nobody counts requests there: calls are cut off before the first, and then no more.
            return kit.patient().steps_counted_by(|| 0);
        };
        let (proxy, counting) = (proxy.clone(), proxy.clone());
        let kit = kit.cut_off_every(sized(3, 1));
        kit.steps_counted_by(move || counting.heard("")).settled_by(move || {
            let proxy = proxy.clone();
            async move { proxy.idle().await }
        })
    }

    /// Says what a kit found, and leaves nothing behind.
    #[expect(clippy::print_stdout, reason = "seen where a test fails")]
    pub(crate) async fn concluded(&self, report: &CheckReport) {
        println!("{report}");
        if !self.is_emulated() {
            self.account().sweep().await;
        }
        report.assert_passed();
    }

    pub(crate) async fn driver(&self, type_name: &str) -> Driver {
        let mut driver = Driver::new(self.provider(), type_name, &self.config()).await.unwrap();
        driver.context.clock = self.clock();
        driver.context.owner.stack = self.stack.as_str().into();
        driver.patient = !self.is_emulated();
        driver
    }

    /// All that there is of this stack.
    pub(crate) fn account(&self) -> Account {
        Account::new(&self.stack, self.raw())
    }

    /// Requests that go past the provider, to meddle with objects behind its back.
    pub(crate) fn raw(&self) -> Raw {
        self.raw.clone()
    }

    /// Writes a function's code into a folder beside the stack.
    pub(crate) fn write_code(&self, folder: &str, code: &str) {
        let folder = self.folder().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.py"), code).unwrap();
    }
}
