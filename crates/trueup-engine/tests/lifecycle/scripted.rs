//! A provider whose every call can be scripted: to hang, to panic or to fail.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, ResourceSchema};
use trueup_core::{Change, Diagnostics, Failure, Number, Path, Type, Value, value};
use trueup_engine::Cancellation;
use trueup_provider::{
    ApplyFailure, ApplyRequest, BoxFuture, CallContext, CheckRequest, Clock, Configured, DataHandler,
    DataRequest, DeleteEnd, DeleteRequest, EphemeralHandler, HeldOpen, ImportRequest, Imported, InputValues,
    LookupRequest, MigrateRequest, Observed, Opened, Ownership, PlanAnswer, PlanRequest, PrecreateRequest,
    PrivateBytes, Provider, ProviderFunction, ReadRequest, Recovery, Registry, ResourceHandler, Sighting,
    State, StubInputs, Traits, ValidateRequest, Verdict,
};

use crate::lifecycle::world::Bench;

/// A bench with a scripted provider, and its script.
pub(crate) fn bench() -> (Bench, Script) {
    let mut bench = Bench::new();
    let script = Script::new(bench.clock.clone());
    bench.others = Registry::new().with(ScriptedProvider(script.clone()));
    (bench, script)
}

/// How long calls may take on an impatient bench.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The same, where calls end with the timeout.
pub(crate) fn impatient_bench() -> (Bench, Script) {
    let (mut bench, script) = bench();
    bench.options.plan.timeout = TIMEOUT;
    (bench, script)
}

/// Longer than any test's timeout.
const HANGING: Duration = Duration::from_secs(1_000_000);

/// What a call does instead of what it is for.
#[derive(Clone)]
pub(crate) enum Mishap {
    /// None: it goes well.
    Pass,
    Hang,
    /// It hangs, and somebody stops the run.
    Stop(Cancellation),
    /// It goes well, and somebody stops the run meanwhile.
    Finish(Cancellation),
    /// It goes well, after this time.
    Wait(Duration),
    Panic,
    Fail(Failure),
}

/// What the provider does, and what was asked of it. Clones share it.
#[derive(Clone)]
pub(crate) struct Script(Arc<Mutex<Plot>>, Arc<dyn Clock>);

#[derive(Default)]
struct Plot {
    mishaps: BTreeMap<String, VecDeque<Mishap>>,
    calls: Vec<String>,
    /// What calls were told that an earlier attempt left, by their names.
    pending: Vec<(String, Value)>,
    things: BTreeMap<String, State>,
    by_token: bool,
    cannot_look: bool,
    window: Duration,
    makes_stubs: bool,
    renewed_after: Option<Duration>,
    /// What the next failed delete leaves of its object.
    left: Option<State>,
    /// The objects that deletes were asked for.
    deleted: Vec<State>,
    /// For which number, slot and origin inputs were checked.
    checked: Vec<(u64, u64, String)>,
}

impl Script {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Script(Arc::default(), clock)
    }

    fn plot(&self) -> MutexGuard<'_, Plot> {
        self.0.lock().expect("nobody panics with it")
    }

    /// Lets the next call of this name go wrong so.
    pub(crate) fn mishap(&self, call: &str, mishap: Mishap) {
        self.plot().mishaps.entry(call.to_owned()).or_default().push_back(mishap);
    }

    /// Lets objects be found by the tokens of their creates instead of by looking.
    pub(crate) fn find_by_token(&self) {
        self.plot().by_token = true;
    }

    /// Lets nobody look for objects, though new ones would come into sight only after this time.
    pub(crate) fn hide_for(&self, window: Duration) {
        let mut plot = self.plot();
        (plot.cannot_look, plot.window) = (true, window);
    }

    /// Lets a stub be made of every thing, whatever is known of its inputs.
    pub(crate) fn make_stubs(&self) {
        self.plot().makes_stubs = true;
    }

    /// Lets ephemeral resources ask to be renewed after this time.
    pub(crate) fn renew_after(&self, time: Duration) {
        self.plot().renewed_after = Some(time);
    }

    /// Lets the next delete that fails say that this is left of the object.
    pub(crate) fn leave(&self, outputs: Value) {
        let (inputs, private, identity) = (None, Vec::new(), None);
        self.plot().left = Some(State { inputs, outputs, private, schema_version: 0, identity });
    }

    /// The outputs of the objects that deletes were asked for.
    pub(crate) fn deleted(&self) -> Vec<Value> {
        self.plot().deleted.iter().map(|state| state.outputs.clone()).collect()
    }

    /// For which number, slot and origin inputs were checked since this was last asked.
    pub(crate) fn checked(&self) -> Vec<(u64, u64, String)> {
        std::mem::take(&mut self.plot().checked)
    }

    /// How often a call was made.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.plot().calls.iter().filter(|it| *it == call).count()
    }

    /// What calls of this name were told that an earlier attempt left.
    pub(crate) fn told(&self, call: &str) -> Vec<Value> {
        let plot = self.plot();
        plot.pending.iter().filter(|(it, _)| it == call).map(|(_, pending)| pending.clone()).collect()
    }

    /// A call that is answered at once: it can only panic.
    fn call_now(&self, call: &str) {
        let mishap = self.plot().mishaps.get_mut(call).and_then(VecDeque::pop_front);
        assert!(!matches!(mishap, Some(Mishap::Panic)), "scripted");
    }

    /// Forgets all things, as if someone had deleted them.
    pub(crate) fn lose_things(&self) {
        self.plot().things.clear();
    }

    async fn call(&self, call: &str, context: Option<&CallContext>) -> Result<(), Failure> {
        let mishap = {
            let mut plot = self.plot();
            plot.calls.push(call.to_owned());
            if let Some(pending) = context.and_then(|context| context.pending.clone()) {
                plot.pending.push((call.to_owned(), pending));
            }
            plot.mishaps.get_mut(call).and_then(VecDeque::pop_front)
        };
        match mishap {
            Some(Mishap::Hang) => {
                self.1.sleep(HANGING).await;
                Ok(())
            }
            Some(Mishap::Stop(run)) => {
                run.cancel();
                self.1.sleep(HANGING).await;
                Ok(())
            }
            Some(Mishap::Finish(run)) => {
                run.finish();
                Ok(())
            }
            Some(Mishap::Wait(time)) => {
                self.1.sleep(time).await;
                Ok(())
            }
            Some(Mishap::Panic) => panic!("scripted"),
            Some(Mishap::Fail(failure)) => Err(failure),
            Some(Mishap::Pass) | None => Ok(()),
        }
    }
}

/// The provider `h` with the types `h_thing`, `h_data` and `h_open`.
pub(crate) struct ScriptedProvider(pub(crate) Script);

impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        "h"
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        Box::pin(async {
            self.0.call("config_schema", None).await?;
            Ok(Arc::new(block([("region", Attribute::optional(Type::String))])))
        })
    }

    fn configure<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async {
            self.0.call("configure", None).await?;
            Ok(Configured::new("h", Arc::new(())))
        })
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        let mut colour = Attribute::optional(Type::String);
        colour.replace = true;
        let inputs = block([("size", Attribute::optional(Type::Number)), ("colour", colour)]);
        let outputs = block([("shown", Attribute::computed(Type::String))]);
        let schema = ResourceSchema { inputs, outputs, ..ResourceSchema::default() };
        let traits = Traits { importable: true, ..Traits::default() };
        Box::pin(async move {
            self.0.call("resource", None).await?;
            let thing: Arc<dyn ResourceHandler> = Arc::new(Thing { schema, traits, script: self.0.clone() });
            Ok((type_name == "h_thing").then_some(thing))
        })
    }

    fn data_source<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        let data: Arc<dyn DataHandler> = Arc::new(Source { block: Block::default(), script: self.0.clone() });
        Box::pin(async move { Ok((type_name == "h_data").then_some(data)) })
    }

    fn ephemeral<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        let key = block([("key", Attribute::computed(Type::String))]);
        let open: Arc<dyn EphemeralHandler> = Arc::new(Source { block: key, script: self.0.clone() });
        Box::pin(async move { Ok((type_name == "h_open").then_some(open)) })
    }

    fn function<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        let next: Arc<dyn ProviderFunction> = Arc::new(Next(self.0.clone()));
        Box::pin(async move { Ok((name == "next").then_some(next)) })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(vec!["h_thing".into()]) })
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(vec!["h_data".into()]) })
    }
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}

struct Thing {
    schema: ResourceSchema,
    traits: Traits,
    script: Script,
}

impl Thing {
    fn named(context: &CallContext) -> String {
        let slot = context.slot.map_or_else(|| "none".to_owned(), |slot| slot.to_string());
        format!("{}-{slot}", context.owner.origin.name())
    }

    fn state(desired: &InputValues, name: &str) -> State {
        let outputs = value!({ shown: name });
        let identity = Some(value!({ name: name }));
        State { inputs: Some(desired.clone()), outputs, private: Vec::new(), schema_version: 0, identity }
    }

    fn verdict(&self, request: &PlanRequest<'_>, changes: &[Change]) -> Verdict {
        let is_forcing = |change: &Change| change.path.first_key() == Some("colour");
        match request.prior {
            None => Verdict::Create,
            Some(_) if changes.iter().any(is_forcing) => Verdict::Replace,
            Some(_) if changes.is_empty() => Verdict::NoOp,
            Some(_) => Verdict::Update,
        }
    }
}

impl ResourceHandler for Thing {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn traits(&self) -> &Traits {
        &self.traits
    }

    fn recovery(&self, _: &Value) -> Recovery {
        self.script.call_now("recovery");
        if self.script.plot().by_token { Recovery::Token } else { Recovery::Lookup }
    }

    fn consistency_window(&self, _: &Value) -> Duration {
        self.script.call_now("consistency_window");
        self.script.plot().window
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        trueup_core::diff(&prior.effective, &current.effective)
    }

    fn delete_end(&self, _: &Value) -> DeleteEnd {
        self.script.call_now("delete_end");
        DeleteEnd::default()
    }

    fn keep_ignored(&self, desired: &InputValues, _: &State, _: Option<&State>, _: &[Path]) -> InputValues {
        self.script.call_now("keep_ignored");
        desired.clone()
    }

    fn drift(&self, _: &State, _: &State) -> Vec<Change> {
        self.script.call_now("drift");
        Vec::new()
    }

    fn validate<'a>(&'a self, _: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async {
            // It can only hang or panic: what it finds wrong is no failure.
            drop(self.script.call("validate", None).await);
            Diagnostics::new()
        })
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        let CallContext { generation, slot, owner, .. } = request.context;
        self.script.plot().checked.push((generation.0, slot.unwrap().0, owner.origin.to_string()));
        Box::pin(async move { self.script.call("check", Some(request.context)).await })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(async move {
            self.script.call("plan", Some(request.context)).await?;
            let before = request.prior.and_then(|prior| prior.inputs.as_ref());
            let changes = before.map_or(Vec::new(), |before| self.input_changes(before, request.desired));
            let outputs = match (changes.is_empty(), request.prior) {
                (true, Some(prior)) => prior.outputs.clone(),
                _ => Value::unknown(self.schema.outputs.implied_type()),
            };
            Ok(PlanAnswer {
                verdict: self.verdict(&request, &changes),
                outputs,
                replace_paths: Vec::new(),
                changes,
                drift: Vec::new(),
                delete_first: false,
                private: PrivateBytes::default(),
                diagnostics: Diagnostics::new(),
            })
        })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            self.script.call("read", Some(request.context)).await?;
            let known = self.script.plot().things.get(&Self::named(request.context)).cloned();
            Ok(known.map_or(Observed::Absent, |state| Observed::Present(Box::new(state))))
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async move {
            if self.script.plot().by_token || self.script.plot().cannot_look {
                return Ok(None);
            }
            self.script.call("lookup", Some(request.context)).await?;
            let found = self.script.plot().things.get(&Self::named(request.context)).cloned();
            let ownership = Ownership::Owned { generation: None };
            Ok(Some(found.into_iter().map(|state| Sighting { state, ownership }).collect()))
        })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let call = if request.prior.is_none() { "create" } else { "update" };
            request.context.report_progress("on it");
            self.script.call(call, Some(request.context)).await?;
            let name = Self::named(request.context);
            let state = Self::state(request.desired, &name);
            self.script.plot().things.insert(name, state.clone());
            Ok(state)
        })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(async move {
            self.script.plot().deleted.push(request.state.clone());
            if let Err(failure) = self.script.call("delete", Some(request.context)).await {
                let left = self.script.plot().left.take();
                return Err(ApplyFailure { failure, partial: left.map(Box::new) });
            }
            self.script.plot().things.remove(&Self::named(request.context));
            Ok(())
        })
    }

    fn stub_inputs(&self, _: &InputValues) -> StubInputs {
        self.script.call_now("stub_inputs");
        match self.script.plot().makes_stubs {
            true => StubInputs::Sufficient(InputValues { written: value!({}), effective: value!({}) }),
            false => StubInputs::Impossible,
        }
    }

    fn precreate<'a>(&'a self, request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            self.script.call("precreate", Some(request.context)).await?;
            let name = Self::named(request.context);
            let state = Self::state(request.desired, &name);
            self.script.plot().things.insert(name, state.clone());
            Ok(state)
        })
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(async move {
            self.script.call("migrate", Some(request.context)).await?;
            Ok(request.state)
        })
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        Box::pin(async move {
            self.script.call("import", Some(request.context)).await?;
            let inputs = InputValues { written: value!({ size: 1 }), effective: value!({ size: 1 }) };
            let state = Self::state(&inputs, request.id);
            self.script.plot().things.insert(Self::named(request.context), state.clone());
            Ok(vec![Imported { type_name: "h_thing".into(), state }])
        })
    }
}

/// A data source, or a type of ephemeral resources.
struct Source {
    block: Block,
    script: Script,
}

impl DataHandler for Source {
    fn inputs(&self) -> &Block {
        &self.block
    }

    fn outputs(&self) -> &Block {
        &self.block
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            self.script.call("data", Some(request.context)).await?;
            Ok(value!({}))
        })
    }
}

impl EphemeralHandler for Source {
    fn schema(&self) -> &Block {
        &self.block
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        Box::pin(async move {
            self.script.call("open", Some(request.context)).await?;
            let held = Box::new(OpenKey(self.script.clone()));
            let renew_at = self.script.plot().renewed_after.map(|after| self.script.1.now() + after);
            Ok(Opened { outputs: value!({ key: "key" }), renew_at, held })
        })
    }
}

/// A function: the number after its argument.
struct Next(Script);

impl ProviderFunction for Next {
    fn call<'a>(&'a self, arguments: &'a [Value]) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async {
            self.0.call("function", None).await?;
            let number = arguments.first().and_then(Value::as_number).and_then(Number::as_u64);
            Ok(Value::from(number.expect("it is called with a number") + 1))
        })
    }
}

struct OpenKey(Script);

impl HeldOpen for OpenKey {
    fn renew(&mut self) -> BoxFuture<'_, Result<Option<SystemTime>, Failure>> {
        Box::pin(async {
            self.0.call("renew", None).await?;
            Ok(None)
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(async move { self.0.call("close", None).await })
    }
}
