//! A provider that repeats all it was given in whatever it says, called in every way there is.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, ResourceSchema};
use trueup_core::{
    Address, Change, Diagnostic, Diagnostics, Failure, FailureClass, Path, Step, Type, Value, value,
};

use crate::*;

/// The secrets, one for each way by which something secret reaches a provider.
const CONFIGURED: &str = "c4n4ry-config";
const PRESET: &str = "c4n4ry-preset";
const INPUT: &str = "c4n4ry-input";
const RECORDED: &str = "c4n4ry-recorded";
const OBSERVED: &str = "c4n4ry-observed";
const BOUND: &str = "c4n4ry-bound";
const PENDING: &str = "c4n4ry-pending";
const OPENED: &str = "c4n4ry-opened";

/// All that anyone could repeat.
fn everything() -> String {
    [CONFIGURED, PRESET, INPUT, RECORDED, OBSERVED, BOUND, PENDING].join(" ")
}

fn failure() -> Failure {
    let mut failure = Failure::new(FailureClass::Fatal, format!("refused: {}", everything()));
    failure.hints.push(format!("do not say {}", everything()));
    failure.diagnostics = diagnostics();
    failure
}

fn diagnostics() -> Diagnostics {
    Diagnostic::error(everything()).detail(everything()).hint(everything()).label(everything()).into()
}

fn talk(context: &CallContext) {
    context.report_progress(&everything());
    context.report_warnings(diagnostics());
}

fn block(names: &[&str]) -> Block {
    let attributes = names.iter().map(|name| (SmolStr::new(name), Attribute::optional(Type::String)));
    Block { attributes: attributes.collect(), ..Block::default() }
}

struct Telltale {
    schema: ResourceSchema,
    traits: Traits,
}

/// What of [`Telltale`] is called for one type.
#[derive(Clone)]
struct TelltaleType(Arc<Telltale>);

fn telltale() -> Telltale {
    let schema =
        ResourceSchema { inputs: block(&["key"]), outputs: block(&["key"]), ..ResourceSchema::default() };
    Telltale { schema, traits: Traits::default() }
}

impl Provider for TelltaleType {
    fn name(&self) -> &str {
        "t"
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        Box::pin(async { Ok(Arc::new(block(&["key", "preset", "fails"]))) })
    }

    fn validate_config<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { diagnostics() })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async {
            match config.get("fails").is_some_and(|fails| !fails.is_null()) {
                true => Err(failure()),
                false => Ok(Configured::new("t", Arc::new(NoConfig))),
            }
        })
    }

    fn resource<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        Box::pin(async { Ok(Some(Arc::new(self.clone()) as Arc<dyn ResourceHandler>)) })
    }

    fn data_source<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        Box::pin(async { Ok(Some(Arc::new(self.clone()) as Arc<dyn DataHandler>)) })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn ephemeral<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        Box::pin(async { Ok(Some(Arc::new(self.clone()) as Arc<dyn EphemeralHandler>)) })
    }
}

impl ResourceHandler for TelltaleType {
    fn schema(&self) -> &ResourceSchema {
        &self.0.schema
    }

    fn traits(&self) -> &Traits {
        &self.0.traits
    }

    fn recovery(&self, _: &Value) -> Recovery {
        Recovery::Blind
    }

    fn input_changes(&self, _: &InputValues, _: &InputValues) -> Vec<Change> {
        Vec::new()
    }

    fn drift(&self, _: &State, _: &State) -> Vec<Change> {
        Vec::new()
    }

    fn validate<'a>(&'a self, _: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { diagnostics() })
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        talk(request.context);
        let answer = PlanAnswer {
            verdict: Verdict::Update,
            outputs: value!({}),
            changes: Vec::new(),
            drift: Vec::new(),
            replace_paths: vec![Path::ROOT.join(Step::Key("tags".into())).join(Step::Key(INPUT.into()))],
            delete_first: false,
            private: PrivateBytes::default(),
            diagnostics: diagnostics(),
        };
        // Both ways: a plan with something to say, and none at all.
        Box::pin(async move { if request.prior.is_some() { Ok(answer) } else { Err(failure()) } })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        talk(request.context);
        Box::pin(async { Err(failure().into()) })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        talk(request.context);
        Box::pin(async { Err(failure().into()) })
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }

    fn precreate<'a>(&'a self, request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        talk(request.context);
        Box::pin(async { Err(failure().into()) })
    }
}

impl DataHandler for TelltaleType {
    fn inputs(&self) -> &Block {
        &self.0.schema.inputs
    }

    fn outputs(&self) -> &Block {
        &self.0.schema.outputs
    }

    fn validate<'a>(&'a self, _: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { diagnostics() })
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        talk(request.context);
        Box::pin(async { Err(failure()) })
    }
}

impl EphemeralHandler for TelltaleType {
    fn schema(&self) -> &Block {
        &self.0.schema.outputs
    }

    fn validate<'a>(&'a self, _: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { diagnostics() })
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        talk(request.context);
        let opened = Opened { outputs: value!({ key: OPENED }), renew_at: None, held: Box::new(Held) };
        Box::pin(async move {
            match request.inputs.effective.get("refuse").is_some() {
                true => Err(failure()),
                false => Ok(opened),
            }
        })
    }
}

struct Held;

impl HeldOpen for Held {
    fn renew(&mut self) -> BoxFuture<'_, Result<Option<SystemTime>, Failure>> {
        Box::pin(async { Err(Failure::new(FailureClass::Fatal, format!("{} {OPENED}", everything()))) })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(async { Err(Failure::new(FailureClass::Fatal, format!("{} {OPENED}", everything()))) })
    }
}

/// Runs what waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

/// A bench on which the provider is registered, and all that it said.
struct Bench {
    registry: Registry,
    context: CallContext,
    told: Arc<Mutex<Vec<String>>>,
}

fn secret(text: &str) -> Value {
    Value::object([("key", Value::string(text).into_secret())])
}

fn state(text: &str) -> State {
    State { inputs: None, outputs: secret(text), private: Vec::new(), schema_version: 0, identity: None }
}

impl Bench {
    fn new() -> Self {
        let preset = Preset {
            values: Value::object([("preset", Value::string(PRESET).into_secret())]),
            from: "profile `t`".to_owned(),
        };
        let registry = Registry::new().with(TelltaleType(Arc::new(telltale()))).preset("t", preset);
        let told = Arc::new(Mutex::new(Vec::new()));
        let address = Address::resource("t_thing", "it").unwrap();
        let mut context = CallContext::new("s", "t", address);
        context.pending = Some(secret(PENDING));
        let (progress, warnings) = (told.clone(), told.clone());
        context.progress = ProgressSink::new(move |doing| progress.lock().unwrap().push(doing.to_owned()));
        context.warnings =
            WarningSink::new(move |warning| warnings.lock().unwrap().push(format!("{warning:?}")));
        Bench { registry, context, told }
    }

    /// The provider with its secret, which is ephemeral: such a one is secret too.
    async fn configured(&self) -> Configured {
        let key = Value::string(CONFIGURED).with_marks(trueup_core::Marks::EPHEMERAL);
        let config = Value::object([("key", key)]);
        let provider = self.registry.configured("t").unwrap();
        provider.configure(&config).await.unwrap().with_value(config)
    }

    fn tell(&self, answer: impl std::fmt::Debug) {
        self.told.lock().unwrap().push(format!("{answer:?}"));
    }

    /// Nothing that was said holds one of these secrets, and something was said.
    #[track_caller]
    fn assert_told_without(&self, secrets: &[&str]) {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        assert!(!told.is_empty());
        for text in told {
            for secret in secrets {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
    }
}

/// SECRET-1
#[test]
fn no_word_of_a_resource_type_holds_a_secret_of_its_call() {
    let bench = Bench::new();
    let desired = InputValues { written: secret(INPUT), effective: secret(INPUT) };
    let (prior, observed, bindings) =
        (state(RECORDED), state(OBSERVED), [Binding::new("b", Value::string(BOUND).into_secret())]);
    let private = PrivateBytes::default();
    at_once(async {
        let configured = bench.configured().await;
        let handler = bench.registry.resource("t_thing").await.unwrap();
        let (config, context) = (&configured, &bench.context);
        let always = [CONFIGURED, PRESET];

        bench.tell(handler.validate(ValidateRequest { config: Some(config), inputs: &desired }).await);
        bench.assert_told_without(&[&always[..], &[INPUT]].concat());
        bench.tell(handler.check(CheckRequest { config, desired: &desired, context }).await);
        bench.assert_told_without(&[&always[..], &[INPUT, PENDING]].concat());
        for prior in [None, Some(&prior)] {
            let request = PlanRequest {
                config: Some(config),
                desired: &desired,
                prior,
                attempted: None,
                observed: Some(&observed),
                bindings: &bindings,
                prior_bindings: &[],
                private: &private,
                replaces: false,
                context,
            };
            bench.tell(handler.plan(request).await);
            bench.assert_told_without(&[&always[..], &[INPUT, OBSERVED, BOUND, PENDING]].concat());
        }
        bench.tell(
            handler.read(ReadRequest { config, inputs: &desired.effective, state: &prior, context }).await,
        );
        bench.assert_told_without(&[&always[..], &[INPUT, RECORDED, PENDING]].concat());
        bench.tell(
            handler.lookup(LookupRequest { config, desired: &desired, interrupted: false, context }).await,
        );
        bench.assert_told_without(&[&always[..], &[INPUT, PENDING]].concat());
        let request = ApplyRequest {
            config,
            desired: &desired,
            planned: &Value::NULL,
            private: &private,
            prior: Some(&prior),
            observed: Some(&observed),
            bindings: &bindings,
            context,
        };
        bench.tell(handler.apply(request).await);
        bench.assert_told_without(&[CONFIGURED, PRESET, INPUT, RECORDED, OBSERVED, BOUND, PENDING]);
        bench.tell(
            handler
                .delete(DeleteRequest { config, inputs: &desired.effective, state: &prior, context })
                .await,
        );
        bench.assert_told_without(&[&always[..], &[INPUT, RECORDED, PENDING]].concat());
        let request = MigrateRequest { config: Some(config), state: prior.clone(), from_type: None, context };
        bench.tell(handler.migrate(request).await);
        bench.assert_told_without(&[&always[..], &[RECORDED, PENDING]].concat());
        let (identity, desired) = (secret(INPUT), &desired);
        let request = ImportRequest { config, id: "i", identity: Some(&identity), desired, context };
        bench.tell(handler.import(request).await);
        bench.assert_told_without(&[&always[..], &[INPUT, PENDING]].concat());
        bench.tell(handler.precreate(PrecreateRequest { config, desired, context }).await);
        bench.assert_told_without(&[&always[..], &[INPUT, PENDING]].concat());
    });
}

/// SECRET-1
#[test]
fn no_word_of_a_data_source_or_ephemeral_resource_holds_a_secret_of_its_call() {
    let bench = Bench::new();
    let inputs = InputValues { written: secret(INPUT), effective: secret(INPUT) };
    let refused = secret(INPUT).with_entry("refuse", value!("yes"));
    let refused = InputValues { written: refused.clone(), effective: refused };
    at_once(async {
        let configured = bench.configured().await;
        let (config, context) = (&configured, &bench.context);
        let data = bench.registry.data_source("t_thing").await.unwrap();
        bench.tell(data.validate(ValidateRequest { config: Some(config), inputs: &inputs }).await);
        bench.tell(data.read(DataRequest { config, inputs: &inputs, context }).await);
        let ephemeral = bench.registry.ephemeral_of("t", "t_thing").await.unwrap();
        bench.tell(ephemeral.validate(ValidateRequest { config: Some(config), inputs: &inputs }).await);
        bench.tell(ephemeral.open(DataRequest { config, inputs: &refused, context }).await.err());
        bench.assert_told_without(&[CONFIGURED, PRESET, INPUT]);
        let mut opened = ephemeral.open(DataRequest { config, inputs: &inputs, context }).await.unwrap();
        bench.tell(opened.held.renew().await);
        bench.tell(opened.held.close().await);
        bench.assert_told_without(&[CONFIGURED, PRESET, INPUT, PENDING, OPENED]);
    });
}

/// SECRET-1
#[test]
fn a_provider_that_refuses_its_configuration_tells_no_secret_of_it() {
    let bench = Bench::new();
    at_once(async {
        let provider = bench.registry.configured("t").unwrap();
        let config = secret(CONFIGURED).with_entry("fails", value!("yes"));
        bench.tell(provider.validate_config(&config).await);
        bench.tell(provider.configure(&config).await);
        bench.assert_told_without(&[CONFIGURED, PRESET]);
    });
}

/// SECRET-1: for what a plugin prints outside of any call.
#[test]
fn secrets_are_known_before_a_provider_is_called() {
    let registry = Registry::new().with(TelltaleType(Arc::new(telltale())));
    let known = registry.secrets().clone();
    at_once(async {
        let provider = registry.configured("t").unwrap();
        let config = provider.configure(&secret(CONFIGURED)).await.unwrap();
        assert_eq!(known.scrubbed(&format!("{CONFIGURED} {INPUT}")), format!("(secret) {INPUT}"));
        let inputs = InputValues { written: secret(INPUT), effective: secret(INPUT) };
        let data = registry.data_source("t_thing").await.unwrap();
        data.validate(ValidateRequest { config: Some(&config), inputs: &inputs }).await;
        assert_eq!(known.scrubbed(&format!("{CONFIGURED} {INPUT}")), "(secret) (secret)");
    });
}

/// SECRET-9: a password that a provider has just made, and the URL that contains it.
#[test]
fn an_answer_that_repeats_its_own_secret_is_marked() {
    let bench = Bench::new();
    let given = super::Given::new(Vec::new(), bench.registry.secrets().clone());
    let outputs = value!({ password: (value!("c4n4ry-fresh").into_secret()), url: "pg://ada:c4n4ry-fresh@db", port: 5432 });
    let made = State { outputs, ..state("c4n4ry-other") };
    let failure = Failure::new(FailureClass::Fatal, "c4n4ry-fresh was refused");
    let failed = given.cleaned(ApplyFailure { failure, partial: Some(Box::new(made)) });
    assert_eq!(failed.failure.message, "(secret) was refused");
    let kept = failed.partial.expect("it was given").outputs;
    assert_eq!(kept.to_string(), "{ password = (secret), port = 5432, url = (secret) }");
}
