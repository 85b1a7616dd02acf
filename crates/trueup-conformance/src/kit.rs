//! What a type's author tells the kit.

use std::future::Future;
use std::sync::{Arc, Mutex};

use trueup_core::{Diagnostics, Value};
use trueup_provider::{
    BoxFuture, CallContext, Clock, InputValues, ProgressSink, Provider, State, StubInputs,
};

use crate::checks::{self, Check};
use crate::driver::Driver;
use crate::interrupt::StepCount;
use crate::outcome::{CheckReport, Outcome};

/// Counts objects.
pub(crate) type Census = Box<dyn Fn() -> BoxFuture<'static, usize> + Send + Sync>;

/// The id of an object, by which a person would name it.
type Id = Box<dyn Fn(&State) -> String + Send + Sync>;

type Hook<A> = Box<dyn Fn(A) -> BoxFuture<'static, ()> + Send + Sync>;

/// A resource type under test. Built up with what the author knows, then run.
pub struct Kit {
    pub(crate) driver: Driver,
    pub(crate) base: Value,
    pub(crate) updated: Option<Value>,
    pub(crate) replaced: Option<Value>,
    pub(crate) tamper: Option<Hook<State>>,
    pub(crate) remove: Option<Hook<State>>,
    pub(crate) foreign: Option<Hook<(CallContext, InputValues)>>,
    pub(crate) marked: bool,
    pub(crate) id: Option<Id>,
    pub(crate) census: Option<Census>,
    pub(crate) settle: Option<Hook<()>>,
    pub(crate) steps: Option<StepCount>,
    pub(crate) stride: usize,
    pub(crate) canary: Option<String>,
    pub(crate) kept_in_state: bool,
    pub(crate) progress: Arc<Mutex<Vec<String>>>,
}

impl Kit {
    /// Tests the type of this name, beginning with these inputs.
    pub async fn new(
        provider: impl Provider + 'static,
        type_name: &str,
        inputs: Value,
    ) -> Result<Kit, Diagnostics> {
        Self::configured(provider, &Value::object::<&str>([]), type_name, inputs).await
    }

    /// The same for a provider that needs a configuration.
    pub async fn configured(
        provider: impl Provider + 'static,
        config: &Value,
        type_name: &str,
        inputs: Value,
    ) -> Result<Kit, Diagnostics> {
        let mut driver = Driver::new(provider, type_name, config).await?;
        let progress = Arc::new(Mutex::new(Vec::new()));
        let heard = progress.clone();
        driver.context.progress = ProgressSink::new(move |doing| {
            if let Ok(mut heard) = heard.lock() {
                heard.push(doing.to_owned());
            }
        });
        Ok(Kit {
            driver,
            base: inputs,
            updated: None,
            replaced: None,
            tamper: None,
            remove: None,
            foreign: None,
            marked: false,
            id: None,
            census: None,
            settle: None,
            steps: None,
            stride: 1,
            canary: None,
            kept_in_state: false,
            progress,
        })
    }

    /// Inputs that differ from the first in a way that can be brought about in place.
    #[must_use]
    pub fn updated(mut self, inputs: Value) -> Self {
        self.updated = Some(inputs);
        self
    }

    /// Inputs that differ from the first in a way that takes a new object.
    #[must_use]
    pub fn replaced(mut self, inputs: Value) -> Self {
        self.replaced = Some(inputs);
        self
    }

    /// How to change an object behind the provider's back.
    #[must_use]
    pub fn tampered_by<F: Future<Output = ()> + Send + 'static>(
        mut self,
        tamper: impl Fn(State) -> F + Send + Sync + 'static,
    ) -> Self {
        self.tamper = Some(Box::new(move |state| Box::pin(tamper(state))));
        self
    }

    /// How to remove an object behind the provider's back.
    #[must_use]
    pub fn removed_by<F: Future<Output = ()> + Send + 'static>(
        mut self,
        remove: impl Fn(State) -> F + Send + Sync + 'static,
    ) -> Self {
        self.remove = Some(Box::new(move |state| Box::pin(remove(state))));
        self
    }

    /// How to make an object of the same identity that belongs to someone else.
    #[must_use]
    pub fn taken_by<F: Future<Output = ()> + Send + 'static>(
        mut self,
        foreign: impl Fn(CallContext, InputValues) -> F + Send + Sync + 'static,
    ) -> Self {
        self.foreign = Some(Box::new(move |(context, inputs)| Box::pin(foreign(context, inputs))));
        self
    }

    /// Says that objects bear a mark of whose they are, so that one that is taken over is recognised from then on.
    #[must_use]
    pub fn marked(mut self) -> Self {
        self.marked = true;
        self
    }

    /// The id by which an object is imported. Without it that is not checked.
    #[must_use]
    pub fn imported_as(mut self, id: impl Fn(&State) -> String + Send + Sync + 'static) -> Self {
        self.id = Some(Box::new(id));
        self
    }

    /// How to count the objects that really exist: the only proof that none was leaked or doubled. Without it the
    /// checks that claim so are skipped.
    #[must_use]
    pub fn counted_by<F: Future<Output = usize> + Send + 'static>(
        mut self,
        census: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.census = Some(Box::new(move || Box::pin(census())));
        self
    }

    /// The stack that the resource is of: names are made of it, so where others have objects too, a census can tell them
    /// apart. `conformance` if it is not said.
    #[must_use]
    pub fn of_stack(mut self, stack: &str) -> Self {
        self.driver.context.owner.stack = stack.into();
        self
    }

    /// Tries again what the engine would retry: a service that is far away and shared throttles, and does not know
    /// everywhere at once what was made. Without it every failure counts, as it should where nothing disturbs.
    #[must_use]
    pub fn patient(mut self) -> Self {
        self.driver.patient = true;
        self
    }

    /// Another clock than the runtime's: what waits for an emulator need not wait as long as for the real thing.
    #[must_use]
    pub fn timed_by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.driver.context.clock = clock;
        self
    }

    /// What counts as a step: calls are cut off after each, when they next wait. Without it each wait is a step, which for
    /// a type that talks to a server is several for each request, all alike.
    #[must_use]
    pub fn steps_counted_by(mut self, count: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        self.steps = Some(Box::new(count));
        self
    }

    /// Cuts calls off after every so many steps instead of each, where trying all of them takes too long.
    #[must_use]
    pub fn cut_off_every(mut self, steps: usize) -> Self {
        self.stride = steps.max(1);
        self
    }

    /// How to wait until all that was sent to the other side has been carried out. A call that is cut off may go on over
    /// there: what recovers from it must not run before that, or it would see nothing of what is about to happen.
    #[must_use]
    pub fn settled_by<F: Future<Output = ()> + Send + 'static>(
        mut self,
        settle: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.settle = Some(Box::new(move |()| Box::pin(settle())));
        self
    }

    /// A text that the inputs hold in secret fields only: it must not appear anywhere in the clear, be it in a plan, in
    /// what was made, looked up or reported, or in a failure. Nor must the secrets in the provider's configuration.
    #[must_use]
    pub fn secret(mut self, canary: impl Into<String>) -> Self {
        self.canary = Some(canary.into());
        self
    }

    /// Says that objects of this type exist in state alone, such as random values: a deleted one cannot be seen to be
    /// gone.
    #[must_use]
    pub fn kept_in_state(mut self) -> Self {
        self.kept_in_state = true;
        self
    }

    /// Runs all checks, one after another.
    pub async fn run(self) -> CheckReport {
        let mut report = CheckReport::default();
        let of_stubs = if self.makes_stubs() { checks::OF_STUBS } else { &[] };
        for Check { name, run } in checks::ALL.iter().chain(of_stubs) {
            let before = self.count().await;
            let mut outcome = run(&self).await;
            let after = self.count().await;
            if outcome == Outcome::Passed && before != after {
                outcome = Outcome::Failed(format!("{before:?} objects existed before, {after:?} after"));
            }
            report.checks.push((name, outcome));
        }
        report
    }

    /// Whether a stub can be made of the first inputs.
    fn makes_stubs(&self) -> bool {
        let stub = |desired: &InputValues| self.driver.handler().stub_inputs(desired);
        let desired = self.driver.inputs(&self.base);
        desired.is_ok_and(|desired| !matches!(stub(&desired), StubInputs::Impossible))
    }

    /// Waits until what was cut off has come to its end on the other side.
    pub(crate) async fn settled(&self) {
        if let Some(settle) = &self.settle {
            settle(()).await;
        }
    }

    /// How many objects exist, if the author said how to tell.
    pub(crate) async fn count(&self) -> Option<usize> {
        match &self.census {
            Some(census) => Some(census().await),
            None => None,
        }
    }
}
