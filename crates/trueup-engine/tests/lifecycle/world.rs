//! A small cloud in memory, types that manage things in it, and a bench on which programs are planned and deployed.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use trueup_core::{Address, Failure, Path, Value, value};
use trueup_engine::{
    AdmissionControl, Cancellation, DeployOptions, Deployed, EngineError, EventSink, Plan, Reconciler,
    RunKind, RunReport, SavedPlan, SeededRandom,
};
use trueup_program::{
    Expression, Node, OutputDeclaration, Program, Reference, ResourceDeclaration, Scope as _,
};
use trueup_provider::{
    CallContext, Clock, Context, Converge, Crud, Current, DataSource, Diff, Error, Found, GenerationNumber,
    Inputs, NativeProvider, NoConfig, Outputs, PlanHook, Prior, RawState, Recovery, Registry, Result,
    RuntimeClock, Sightings, Slot,
};
use trueup_state::{MemoryStore, Record, Scope, Store};

use crate::lifecycle::event_faults::EventFaults;

/// The cloud. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Cloud>>);

#[derive(Default)]
pub(crate) struct Cloud {
    /// The thing that every create is answered with, as by a server that has one for all.
    pub(crate) shared: Option<u64>,
    pub(crate) things: BTreeMap<u64, Thing>,
    /// What was called, in order: `create a`, `update a` …
    pub(crate) calls: Vec<String>,
    /// The resources whose inputs were validated, in order.
    pub(crate) validated: Vec<String>,
    /// What the next calls of that name fail with.
    script: BTreeMap<String, VecDeque<Failure>>,
    /// What happens at the next call of that name.
    meanwhile: BTreeMap<String, Box<dyn FnOnce() + Send>>,
    /// How many calls of that name pass before.
    passing: BTreeMap<String, usize>,
    tokens: BTreeMap<String, u64>,
    next: u64,
    /// What the addresses of jars end with.
    pub(crate) arn_end: &'static str,
    /// How many calls of an operation run now, and at most ran at a time.
    running: BTreeMap<&'static str, (usize, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) colour: String,
    pub(crate) tags: BTreeMap<String, String>,
}

impl Cloud {
    /// Lets so many calls of this name pass before what is scripted for it.
    pub(crate) fn let_pass(&mut self, call: &str, times: usize) {
        self.passing.insert(call.to_owned(), times);
    }

    /// Lets something happen when this is called for the first time.
    pub(crate) fn at_call(&mut self, call: &str, happens: impl FnOnce() + Send + 'static) {
        self.meanwhile.insert(call.to_owned(), Box::new(happens));
    }

    /// How many calls of this operation ran at a time, at most.
    pub(crate) fn peak(&self, operation: &str) -> usize {
        self.running.get(operation).map_or(0, |(_, peak)| *peak)
    }
}

impl World {
    pub(crate) fn cloud(&self) -> MutexGuard<'_, Cloud> {
        self.0.lock().expect("no test panics while it holds the cloud")
    }

    /// Makes the next call of this name fail so.
    pub(crate) fn fail(&self, call: &str, failure: Failure) {
        self.cloud().script.entry(call.to_owned()).or_default().push_back(failure);
    }

    /// Lets nothing fail any more.
    pub(crate) fn forget_failures(&self) {
        self.cloud().script.clear();
    }

    /// What was called since this was last asked.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.cloud().calls)
    }

    /// The names of the resources whose things exist, sorted, with their sizes.
    pub(crate) fn things(&self) -> Vec<String> {
        let cloud = self.cloud();
        let shown = |thing: &Thing| format!("{}={}", address_name(thing), thing.size);
        let mut names: Vec<String> = cloud.things.values().map(shown).collect();
        names.sort();
        names
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<u64> {
        self.cloud().things.iter().find(|(_, thing)| address_name(thing) == name).map(|(id, _)| *id)
    }

    pub(super) fn call(&self, operation: &str, context: &CallContext) -> Result<()> {
        let mut cloud = self.cloud();
        let call = format!("{operation} {}", context.address.name());
        // Not a call of its own, only a place where the script can step in.
        if !operation.starts_with("hang") {
            cloud.calls.push(call.clone());
        }
        let passes = cloud.passing.get_mut(&call).filter(|left| **left > 0).map(|left| *left -= 1).is_some();
        let scripted = cloud.script.get_mut(&call).filter(|_| !passes).and_then(VecDeque::pop_front);
        let meanwhile = cloud.meanwhile.remove(&call);
        // A panic must not poison the cloud.
        drop(cloud);
        if let Some(happens) = meanwhile {
            happens();
        }
        match scripted {
            Some(failure) if failure.message == "panic" => panic!("scripted"),
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }

    /// Counts a call of this operation for as long as something else takes.
    async fn during(&self, operation: &'static str, takes: impl Future<Output = ()>) {
        {
            let mut cloud = self.cloud();
            let (running, peak) = cloud.running.entry(operation).or_default();
            *running += 1;
            *peak = (*peak).max(*running);
        }
        takes.await;
        self.cloud().running.entry(operation).or_default().0 -= 1;
    }

    pub(super) fn put(&self, thing: Thing) -> u64 {
        let mut cloud = self.cloud();
        cloud.next += 1;
        let id = cloud.next;
        cloud.things.insert(id, thing);
        id
    }

    fn get(&self, id: u64) -> Result<Thing> {
        self.cloud().things.get(&id).cloned().ok_or_else(|| Error::not_found(format!("no thing {id}")))
    }
}

fn address_name(thing: &Thing) -> String {
    let address = thing.tags.get("trueup:address").map(|it| it.rsplit('.').next().unwrap_or(it).to_owned());
    address.unwrap_or_else(|| thing.name.clone())
}

#[derive(Outputs)]
pub(crate) struct ThingOutput {
    #[trueup(identity, stable)]
    pub(crate) id: u64,
    size: u64,
    colour: String,
    /// Changes with the size.
    url: String,
}

thread_local! {
    /// Imports have no receiver to find their world with.
    static IMPORTABLE: std::cell::RefCell<World> = std::cell::RefCell::default();
}

/// Defines a type of things that is recovered in one of the three ways.
macro_rules! thing_type {
    ($name:ident, $recovery:expr, takes over $others:expr) => {
        #[derive(Inputs)]
        pub(crate) struct $name {
            #[trueup(default = 1)]
            size: u64,
            #[trueup(replace, default = "red")]
            colour: String,
            from: Option<String>,
            #[trueup(inject)]
            world: World,
        }

        impl $name {
            fn thing(&self, context: &Context) -> Thing {
                let (name, tags) = (context.physical_name(), context.tags());
                Thing { name, size: self.size, colour: self.colour.clone(), tags }
            }

            fn output(&self, id: u64) -> Result<ThingOutput> {
                let Thing { size, colour, .. } = self.world.get(id)?;
                Ok(ThingOutput { id, size, colour, url: format!("thing/{id}/{size}") })
            }
        }

        impl Crud for $name {
            type Output = ThingOutput;
            type Config = NoConfig;

            const MOVES_FROM: &'static [&'static str] = $others;

            fn move_state(_: &str, _: u64, state: RawState) -> Result<RawState> {
                Ok(state)
            }

            fn recovery(&self) -> Recovery {
                $recovery
            }

            async fn create(&self, context: &Context) -> Result<ThingOutput> {
                self.world.call("create", context)?;
                if self.world.call("hang", context).is_err() {
                    context.clock.sleep(std::time::Duration::from_secs(1_000_000)).await;
                }
                let shared = self.world.cloud().shared;
                if let Some(id) = shared {
                    return self.output(id);
                }
                let token = context.create_token()?.to_string();
                let known =
                    self.world.cloud().tokens.get(&token).copied().filter(|_| $recovery == Recovery::Token);
                let id = known.unwrap_or_else(|| self.world.put(self.thing(context)));
                self.world.cloud().tokens.insert(token, id);
                let making = async {
                    context.clock.sleep(std::time::Duration::from_millis(10)).await;
                    tokio::task::yield_now().await;
                };
                self.world.during("create", making).await;
                // Not a call of its own either: what fails here says nothing of what was made.
                self.world.call("hang up", context)?;
                self.world.call("created", context).map_err(|error| match self.output(id) {
                    Ok(partial) => error.with_partial(&partial),
                    Err(_) => error,
                })?;
                self.output(id)
            }

            async fn read(&self, context: &Context, prior: &ThingOutput) -> Result<ThingOutput> {
                self.world.call("read", context)?;
                self.world.during("read", tokio::task::yield_now()).await;
                self.output(prior.id)
            }

            async fn update(&self, context: &Context, prior: &Prior<Self>) -> Result<ThingOutput> {
                self.world.call("update", context)?;
                let thing = self.thing(context);
                if let Some(own) = self.world.cloud().things.get_mut(&prior.outputs.id) {
                    own.size = thing.size;
                    own.colour = thing.colour;
                }
                self.output(prior.outputs.id)
            }

            async fn delete(&self, context: &Context, prior: &ThingOutput) -> Result<()> {
                self.world.call("delete", context)?;
                self.world.during("delete", tokio::task::yield_now()).await;
                let gone = self.world.cloud().things.remove(&prior.id);
                gone.map(|_| ()).ok_or_else(|| Error::not_found("it is gone"))
            }

            async fn import(&self, context: &Context, id: &str) -> Result<Found<Self, ThingOutput>> {
                let _ = context;
                let world = IMPORTABLE.with(|world| world.borrow().clone());
                let id: u64 = id.parse()?;
                let Thing { size, colour, .. } = world.get(id)?;
                let inputs = $name { size, colour, from: None, world };
                let outputs = inputs.output(id)?;
                Ok(Found { inputs, outputs })
            }

            async fn validate_inputs(&self, context: &Context) -> Result<()> {
                self.world.cloud().validated.push(context.address.name().to_owned());
                if self.size == 13 { Err(Error::invalid("thirteen is unlucky").at("size")) } else { Ok(()) }
            }

            async fn lookup(&self, context: &Context) -> Result<Sightings<Found<Self, ThingOutput>>> {
                if $recovery != Recovery::Lookup {
                    return Ok(Sightings::unsupported());
                }
                self.world.call("lookup", context)?;
                let name = context.physical_name();
                let found = self
                    .world
                    .cloud()
                    .things
                    .iter()
                    .find(|(_, it)| it.name == name)
                    .map(|(id, it)| (*id, it.clone()));
                let Some((id, thing)) = found else { return Ok(Sightings::absent()) };
                let inputs = $name {
                    size: thing.size,
                    colour: thing.colour.clone(),
                    from: None,
                    world: self.world.clone(),
                };
                let outputs = self.output(id)?;
                Ok(Sightings::recognised(Found { inputs, outputs }, context.recognise(&thing.tags)))
            }
        }
    };
}
thing_type!(FoundThing, Recovery::Lookup, takes over &[]);
thing_type!(TokenThing, Recovery::Token, takes over &["w_thing"]);
thing_type!(BlindThing, Recovery::Blind, takes over &[]);

/// A convergent type that shows what is bound to it, and can be part of a cycle.
#[derive(Inputs)]
pub(crate) struct Jar {
    partner: Option<String>,
    /// Another that it stands on, for good.
    #[trueup(replace)]
    host: Option<String>,
    #[trueup(inject)]
    world: World,
}

#[derive(Outputs)]
pub(crate) struct JarOutput {
    #[trueup(identity, stable)]
    id: u64,
    /// Known from the start: it follows the name.
    #[trueup(stable)]
    arn: String,
    /// Known when it is settled.
    label: String,
}

impl Converge for Jar {
    type Output = JarOutput;
    type Config = NoConfig;

    async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<JarOutput> {
        let bound: Vec<String> =
            current.bindings.iter().map(|it| format!("{}={}", it.key, it.payload)).collect();
        self.world.call(&format!("reconcile [{}]", bound.join(" ")), context)?;
        let name = context.physical_name();
        let found = self.world.cloud().things.iter().find(|(_, it)| it.name == name).map(|(id, _)| *id);
        let label = format!("{}|{}", self.partner.as_deref().unwrap_or("-"), bound.join(" "));
        let thing = Thing { name, size: 1, colour: label.clone(), tags: context.tags() };
        let id = found.unwrap_or_else(|| self.world.put(thing.clone()));
        self.world.cloud().things.insert(id, thing);
        let arn = format!("arn-{}{}", context.address.name(), self.world.cloud().arn_end);
        Ok(JarOutput { id, arn, label })
    }

    async fn read(&self, context: &Context, prior: Option<&JarOutput>) -> Result<Sightings<JarOutput>> {
        let name = context.physical_name();
        let cloud = self.world.cloud();
        let found = match prior {
            Some(prior) => cloud.things.get_key_value(&prior.id),
            None => cloud.things.iter().find(|(_, it)| it.name == name),
        };
        Ok(found.map_or_else(Sightings::absent, |(id, thing)| {
            let arn = format!("arn-{}{}", context.address.name(), cloud.arn_end);
            Sightings::recognised(
                JarOutput { id: *id, arn, label: thing.colour.clone() },
                context.recognise(&thing.tags),
            )
        }))
    }

    async fn delete(&self, context: &Context, output: &JarOutput) -> Result<()> {
        self.world.call("delete", context)?;
        self.world.cloud().things.remove(&output.id);
        Ok(())
    }

    fn stub(_: &JarView) -> Option<Value> {
        Some(value!({ partner: null }))
    }

    async fn precreate(&self, context: &Context) -> Result<JarOutput> {
        self.world.call("precreate", context)?;
        let thing =
            Thing { name: context.physical_name(), size: 0, colour: "stub".to_owned(), tags: context.tags() };
        let id = self.world.put(thing);
        self.world.call("stubbed", context)?;
        Ok(JarOutput { id, arn: format!("arn-{}", context.address.name()), label: "stub".to_owned() })
    }
}

/// A convergent type that is found again by the token of its create, and whose stub needs what it stands on.
#[derive(Inputs)]
pub(crate) struct Shed {
    on: String,
    partner: Option<String>,
    #[trueup(inject)]
    world: World,
}

#[derive(Outputs)]
pub(crate) struct ShedOutput {
    #[trueup(identity, stable)]
    id: u64,
    #[trueup(stable)]
    arn: String,
    partner: Option<String>,
}

impl Shed {
    /// The thing of this token, made if there is none.
    fn made(&self, context: &Context) -> u64 {
        let token = context.token.map(|token| token.to_string()).unwrap_or_default();
        let known = self.world.cloud().tokens.get(&token).copied();
        known.unwrap_or_else(|| {
            let (name, tags) = (context.physical_name(), context.tags());
            let id = self.world.put(Thing { name, size: 0, colour: self.on.clone(), tags });
            self.world.cloud().tokens.insert(token, id);
            id
        })
    }

    fn output(&self, context: &Context, id: u64, partner: Option<String>) -> ShedOutput {
        ShedOutput { id, arn: format!("arn-{}", context.address.name()), partner }
    }
}

impl Converge for Shed {
    type Output = ShedOutput;
    type Config = NoConfig;

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<ShedOutput> {
        self.world.call("reconcile", context)?;
        let id = current.output.as_ref().map_or_else(|| self.made(context), |output| output.id);
        if let Some(thing) = self.world.cloud().things.get_mut(&id) {
            (thing.size, thing.colour) = (1, self.on.clone());
        }
        Ok(self.output(context, id, self.partner.clone()))
    }

    fn stub(_: &ShedView) -> Option<Value> {
        Some(value!({ partner: null }))
    }

    async fn precreate(&self, context: &Context) -> Result<ShedOutput> {
        self.world.call("precreate", context)?;
        let id = self.made(context);
        tokio::task::yield_now().await;
        self.world.call("stubbed", context)?;
        Ok(self.output(context, id, None))
    }

    async fn delete(&self, context: &Context, output: &ShedOutput) -> Result<()> {
        self.world.call("delete", context)?;
        self.world.cloud().things.remove(&output.id);
        Ok(())
    }
}

/// A type whose identity is what the program calls it, and that cannot be read.
#[derive(Inputs)]
pub(crate) struct Named {
    #[trueup(identity)]
    name: String,
    #[trueup(replace, default = "red")]
    colour: String,
    #[trueup(inject)]
    world: World,
}

#[derive(Outputs)]
pub(crate) struct NamedOutput {
    shown: String,
}

impl Converge for Named {
    type Output = NamedOutput;
    type Config = NoConfig;

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn reconcile(&self, context: &Context, _: &Current<Self>) -> Result<NamedOutput> {
        self.world.call("reconcile", context)?;
        Ok(NamedOutput { shown: format!("{} {}", self.colour, self.name) })
    }

    async fn delete(&self, context: &Context, _: &NamedOutput) -> Result<()> {
        self.world.call("delete", context)
    }
}

/// A type whose identity is what the program calls it: to make one is to see to it that there is one.
#[derive(Inputs)]
pub(crate) struct Database {
    #[trueup(identity)]
    name: String,
    #[trueup(replace, default = "red")]
    colour: String,
    #[trueup(default = 1)]
    size: u64,
    #[trueup(inject)]
    world: World,
}

#[derive(Outputs)]
pub(crate) struct DatabaseOutput {
    #[trueup(identity, stable)]
    called: String,
    #[trueup(mirrors = "colour")]
    colour: String,
}

impl Database {
    fn found(&self) -> Option<(u64, Thing)> {
        let cloud = self.world.cloud();
        cloud.things.iter().find(|(_, it)| it.name == self.name).map(|(id, it)| (*id, it.clone()))
    }
}

impl Converge for Database {
    type Output = DatabaseOutput;
    type Config = NoConfig;

    async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<DatabaseOutput> {
        let olds = current.olds.as_ref().map_or("nothing".to_owned(), |olds| olds.size.to_string());
        self.world.call(&format!("reconcile from {olds}"), context)?;
        let (name, tags) = (self.name.clone(), context.tags());
        let colour = self.found().map_or_else(|| self.colour.clone(), |(_, found)| found.colour);
        let thing = Thing { name, size: self.size, colour: colour.clone(), tags };
        match self.found() {
            Some((id, _)) => drop(self.world.cloud().things.insert(id, thing)),
            None => drop(self.world.put(thing)),
        }
        self.world.call("reconciled", context)?;
        Ok(DatabaseOutput { called: self.name.clone(), colour })
    }

    async fn read(&self, context: &Context, _: Option<&DatabaseOutput>) -> Result<Sightings<DatabaseOutput>> {
        Ok(self.found().map_or_else(Sightings::absent, |(_, found)| {
            let output = DatabaseOutput { called: found.name, colour: found.colour };
            Sightings::recognised(output, context.recognise(&found.tags))
        }))
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let Some(prior) = &request.prior else { return Ok(()) };
        if request.current.colour.known().is_some_and(|wanted| *wanted != prior.outputs.colour) {
            plan.replace("colour");
        }
        Ok(())
    }

    async fn delete(&self, context: &Context, output: &DatabaseOutput) -> Result<()> {
        self.world.call("delete", context)?;
        self.world.cloud().things.retain(|_, it| it.name != output.called);
        Ok(())
    }
}

/// A data source that says how long a text is.
#[derive(Inputs)]
pub(crate) struct Length {
    of: String,
}

#[derive(Outputs)]
pub(crate) struct LengthOutput {
    length: u64,
}

impl DataSource for Length {
    type Output = LengthOutput;
    type Config = NoConfig;

    async fn read(&self, context: &Context) -> Result<LengthOutput> {
        IMPORTABLE.with(|world| world.borrow().clone()).call("measure", context)?;
        Ok(LengthOutput { length: self.of.len() as u64 })
    }
}

/// A store, a cloud and a clock, on which programs are deployed one after another.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) store: MemoryStore,
    pub(crate) clock: Arc<RuntimeClock>,
    /// Its time stands still but for what everyone waits for.
    runtime: tokio::runtime::Runtime,
    pub(crate) options: DeployOptions,
    pub(crate) events: Arc<Mutex<Vec<String>>>,
    /// What is wrong with events, by their schema.
    faults: EventFaults,
    pub(crate) cancellation: Cancellation,
    seed: Cell<u64>,
    /// The providers beside `w`.
    pub(crate) others: Registry,
    /// Who judges changes before they are made.
    pub(crate) admission: Option<Arc<dyn AdmissionControl>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::in_world(World::default())
    }

    /// A bench that knows nothing of what exists already.
    pub(crate) fn in_world(world: World) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.expect("there is room for a runtime");
        let clock = runtime.block_on(async { Arc::new(RuntimeClock::new()) });
        Bench {
            world,
            store: MemoryStore::on_clock(clock.clone()),
            clock,
            runtime,
            options: DeployOptions::new("test"),
            events: Arc::default(),
            faults: EventFaults::default(),
            cancellation: Cancellation::new(),
            seed: Cell::new(0),
            others: Registry::new(),
            admission: None,
        }
    }

    pub(crate) fn reconciler(&self, sink: EventSink) -> Reconciler {
        self.reconciler_on(Arc::new(self.store.clone()), sink)
    }

    pub(crate) fn reconciler_on(&self, store: Arc<dyn Store>, sink: EventSink) -> Reconciler {
        IMPORTABLE.with(|world| *world.borrow_mut() = self.world.clone());
        let world = self.world.clone();
        let of = move || world.clone();
        let provider = NativeProvider::new("w")
            .crud_with::<FoundThing>("thing", of.clone())
            .crud_with::<TokenThing>("token", of.clone())
            .crud_with::<BlindThing>("blind", of.clone())
            .converge_with::<Jar>("jar", of.clone())
            .converge_with::<Shed>("shed", of.clone())
            .converge_with::<Named>("named", of.clone())
            .converge_with::<Database>("database", of)
            .data::<Length>("length");
        self.seed.set(self.seed.get() + 1);
        let random = Arc::new(SeededRandom::new(self.seed.get()));
        let registry = self.others.clone().with(provider);
        let reconciler = Reconciler::new(store, registry, sink).with(self.clock.clone(), random);
        match &self.admission {
            Some(admission) => reconciler.admitted_by(admission.clone()),
            None => reconciler,
        }
    }

    pub(crate) fn try_plan(&self, program: &Program) -> Result<Plan, EngineError> {
        self.run(self.reconciler(EventSink::new()).plan(program, &self.options.plan))
    }

    /// What is wrong with a program by itself.
    pub(crate) fn validate(&self, program: &Program) -> String {
        let validated = self.run(self.reconciler(EventSink::new()).validate(program, &self.options.plan));
        validated.err().map(|error| error.to_string()).unwrap_or_default()
    }

    pub(crate) fn plan_traced(&self, program: &Program) -> Vec<trueup_engine::PassDump> {
        self.run(self.reconciler(EventSink::new()).plan_traced(program, &self.options.plan)).1
    }

    /// How many objects a plan looked at, of how many.
    pub(crate) fn looked_at(&self, program: &Program) -> (usize, usize) {
        let looking = Arc::new(trueup_engine::Looking::default());
        let reconciler = self.reconciler(EventSink::new()).counting(looking.clone());
        self.run(reconciler.plan(program, &self.options.plan)).expect("it is sound");
        looking.counts()
    }

    /// An attribute of some resources as a preview of the program shows it.
    pub(crate) fn preview(&self, program: &Program, of: &[&str], path: &str) -> Vec<String> {
        let reconciler = self.reconciler(EventSink::new());
        let preview = self.run(reconciler.preview(program, &self.options.plan)).expect("it is sound");
        let reference = |of: &&str| Reference { address: address(of), path: path.parse().expect("a path") };
        let shown = |of| preview.resolve(&reference(of)).map_or("nothing".to_owned(), |it| it.to_string());
        of.iter().map(shown).collect()
    }

    pub(crate) fn plan(&self, program: &Program) -> String {
        self.try_plan(program).unwrap_or_else(|error| panic!("{error}")).to_string()
    }

    /// The messages of a plan that is refused.
    pub(crate) fn refused(&self, program: &Program) -> String {
        match self.try_plan(program) {
            Ok(plan) => panic!("it was planned:\n{plan}"),
            Err(error) => error.to_string(),
        }
    }

    pub(crate) fn try_deploy(&self, program: &Program) -> Result<RunReport, EngineError> {
        self.listening(|reconciler| self.run(reconciler.deploy(program, &self.options, &self.cancellation)))
    }

    pub(crate) fn deploy(&self, program: &Program) -> RunReport {
        self.try_deploy(program).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What a deploy would do, by the deploy itself.
    pub(crate) fn dry_run(&self, program: &Program) -> Plan {
        let reconciler = self.reconciler(EventSink::new());
        match self.run(reconciler.deploy(program, &self.options, &self.cancellation)) {
            Ok(Deployed::Planned(plan)) => *plan,
            other => panic!("{other:?}"),
        }
    }

    /// Deploys and expects that all was done.
    pub(crate) fn deployed(&self, program: &Program) -> RunReport {
        let report = self.deploy(program);
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        report
    }

    pub(crate) fn destroy(&self) -> RunReport {
        self.destroy_of(&program([]))
    }

    pub(crate) fn destroy_of(&self, program: &Program) -> RunReport {
        self.try_destroy(program).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn try_destroy(&self, program: &Program) -> Result<RunReport, EngineError> {
        self.listening(|reconciler| self.run(reconciler.destroy(program, &self.options, &self.cancellation)))
    }

    /// A sink that notes the names of events, and what they are about.
    fn listener(&self) -> EventSink {
        let (heard, faults) = (self.events.clone(), self.faults.clone());
        EventSink::new().with(move |event: &trueup_engine::Event| {
            let about = event.resource.as_ref().map_or(String::new(), |it| format!(" {}", it.name()));
            heard.lock().expect("nobody panics here").push(format!("{}{about}", event.kind.name()));
            faults.line_of(event);
        })
    }

    fn listening(
        &self,
        work: impl FnOnce(&Reconciler) -> Result<Deployed, EngineError>,
    ) -> Result<RunReport, EngineError> {
        let sink = self.listener();
        let outcome = work(&self.reconciler(sink.clone()));
        sink.close();
        self.faults.assert_none();
        match outcome? {
            Deployed::Ran(report) => Ok(*report),
            Deployed::Planned(plan) => panic!("only planned:\n{plan}"),
        }
    }

    /// What was told since this was last asked.
    pub(crate) fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.events.lock().expect("nobody panics here"))
    }

    /// The records, by the names of their resources.
    pub(crate) fn records(&self) -> BTreeMap<String, Record> {
        let scope = Scope::new("stack", "test");
        let snapshot = self.run(self.store.load(&scope)).expect("the store is in memory");
        let records = snapshot.records.into_iter().map(|(record, _)| Arc::unwrap_or_clone(record));
        records.map(|record| (record.address.name().to_owned(), record)).collect()
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// The time by the bench's clock.
    pub(crate) fn now(&self) -> std::time::SystemTime {
        self.run(async { self.clock.now() })
    }

    /// Lets a deploy begin and cuts it off after it has waited this often. Whether it was over by then.
    pub(crate) fn deploy_cut_off(&self, program: &Program, waits: usize) -> bool {
        let reconciler = self.reconciler(EventSink::new());
        let finished =
            self.run(cut_off(reconciler.deploy(program, &self.options, &self.cancellation), waits));
        // The lease of a run that was killed expires.
        self.run(tokio::time::advance(self.options.lease_term * 2));
        finished
    }
}

impl Bench {
    /// Deploys, takes the lease away while the first objects are being made, and says whether the run succeeded.
    pub(crate) fn deploy_unlocked_halfway(&self, program: &Program) -> bool {
        let scope = Scope::new("stack", "test");
        let mut options = self.options.clone();
        options.lease_term = std::time::Duration::from_millis(9);
        let reconciler = self.reconciler(EventSink::new());
        let deploy = reconciler.deploy(program, &options, &self.cancellation);
        let unlock = async {
            // Until an intent stands in the store, everyone else may go on; time does not.
            loop {
                let snapshot = self.store.load(&scope).await.expect("the store is in memory");
                if snapshot
                    .records
                    .iter()
                    .any(|(record, _)| record.current.as_ref().is_some_and(|it| it.attempt().is_some()))
                {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let taken = trueup_state::Holder {
                run: "other".into(),
                user: "eve".into(),
                host: "there".into(),
                reason: "deploy".into(),
            };
            // Asking for it is how to learn who has it.
            let held =
                self.store.acquire(&scope, &taken, options.lease_term).await.expect("the store is in memory");
            if let trueup_state::Acquired::Held(held) = held {
                self.store.unlock(&scope, &held.holder.run).await.expect("the store is in memory");
            }
        };
        let (deployed, ()) = self.run(async { tokio::join!(deploy, unlock) });
        matches!(deployed, Ok(Deployed::Ran(report)) if report.succeeded())
    }

    /// Holds the lease for so long, as a run that was killed does.
    pub(crate) fn hold_lease(&self, term: std::time::Duration) -> std::time::Duration {
        let holder = trueup_state::Holder {
            run: "killed".into(),
            user: "eve".into(),
            host: "there".into(),
            reason: "deploy".into(),
        };
        let scope = Scope::new("stack", "test");
        self.run(self.store.acquire(&scope, &holder, term)).expect("it is in memory");
        term
    }

    /// Deploys, and while that waits for so long, lets something happen.
    pub(crate) fn deploy_meanwhile(
        &self,
        program: &Program,
        waits: std::time::Duration,
        happens: impl FnOnce(),
    ) {
        let reconciler = self.reconciler(EventSink::new());
        let deploy = reconciler.deploy(program, &self.options, &self.cancellation);
        let meanwhile = async {
            self.clock.sleep(waits / 2).await;
            happens();
        };
        let (deployed, ()) = self.run(async { tokio::join!(deploy, meanwhile) });
        assert!(matches!(deployed, Ok(Deployed::Ran(report)) if report.succeeded()));
    }

    /// Deploys while these subscribers listen.
    pub(crate) fn deploy_heard_by(&self, program: &Program, sink: EventSink) {
        let faults = self.faults.clone();
        let sink = sink.with(move |event: &trueup_engine::Event| drop(faults.line_of(event)));
        let reconciler = self.reconciler(sink.clone());
        let deployed = self.run(reconciler.deploy(program, &self.options, &self.cancellation));
        assert!(matches!(deployed, Ok(Deployed::Ran(report)) if report.succeeded()));
        sink.close();
        self.faults.assert_none();
    }

    /// Lets records take over what is observed. What was done.
    pub(crate) fn refresh(&self, program: &Program) -> Vec<String> {
        let reconciler = self.reconciler(EventSink::new());
        let previewed = self.run(reconciler.preview_refresh(program, &self.options.plan)).unwrap();
        let steps = self.run(reconciler.refresh(program, &self.options)).unwrap().steps;
        assert_eq!(previewed, steps, "the preview says what comes");
        steps.iter().map(|step| format!("{} {}", step.step.name(), step.address)).collect()
    }

    /// Changes state by hand. What was done, or why not.
    pub(crate) fn by_hand(&self, change: &trueup_engine::HandChange) -> Result<Vec<String>, String> {
        let reconciler = self.reconciler(EventSink::new());
        let scope = Scope::new("stack", "test");
        let previewed = self.run(reconciler.preview_by_hand(&scope, change));
        let steps = self.run(reconciler.change_by_hand(&scope, change, &self.options));
        assert_eq!(previewed.is_ok(), steps.is_ok(), "the preview says what comes");
        let told = |step: &trueup_engine::HandStep| format!("{} {}", step.step.name(), step.address);
        steps.map(|report| report.steps.iter().map(told).collect()).map_err(|error| error.to_string())
    }

    /// Deploys if the plan is approved.
    pub(crate) fn deploy_asking(
        &self,
        program: &Program,
        approve: &mut dyn FnMut(&Plan) -> bool,
    ) -> RunReport {
        let reconciler = self.reconciler(EventSink::new());
        let deployed = reconciler.deploy_approved(program, &self.options, &self.cancellation, approve);
        match self.run(deployed) {
            Ok(Deployed::Ran(report)) => *report,
            other => panic!("{other:?}"),
        }
    }

    /// A plan to be carried out later.
    pub(crate) fn try_save(&self, program: &Program, destroy: bool) -> Result<SavedPlan, EngineError> {
        let reconciler = self.reconciler(EventSink::new()).recording();
        let now = self.now();
        let kind = if destroy { RunKind::Destroy } else { RunKind::Deploy };
        self.run(reconciler.plan_to_save(program, &self.options.plan, kind, now, Vec::new))
    }

    /// Carries a saved plan out.
    pub(crate) fn try_deploy_saved(
        &self,
        program: &Program,
        saved: &SavedPlan,
    ) -> Result<RunReport, EngineError> {
        let reconciler = self.reconciler(EventSink::new()).following(saved);
        let mut begun = |_: &Plan| {};
        self.run(reconciler.deploy_saved(program, saved, &self.options, &self.cancellation, &mut begun))
    }

    /// Deploys from another thread, as another process would.
    pub(crate) fn other_runtime_deploys(&self, program: &Program) {
        let reconciler = self.reconciler(EventSink::new());
        let (options, cancellation) = (self.options.clone(), Cancellation::new());
        std::thread::scope(|scope| {
            let deploy = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.expect("there is room for a runtime");
                runtime.block_on(reconciler.deploy(program, &options, &cancellation)).expect("it is sound");
            };
            scope.spawn(deploy).join().expect("it does not panic");
        });
    }

    /// Writes a record that no run would write: of an object that another record holds.
    pub(crate) fn record_by_hand(&self, of: &str, object: trueup_provider::State) {
        let scope = Scope::new("stack", "test");
        let holder = trueup_state::Holder {
            run: "by hand".into(),
            user: "ada".into(),
            host: "here".into(),
            reason: "repair".into(),
        };
        let id = trueup_state::RecordId::from_bytes([7; 16]);
        let provider = of.split('_').next().unwrap_or_default().into();
        let meta = trueup_state::Metadata { provider, ..trueup_state::Metadata::default() };
        let (address, origin) = (address(of), address(of));
        let step = trueup_state::Step::Adopted {
            address,
            origin,
            meta,
            number: GenerationNumber::FIRST,
            slot: Slot::FIRST,
            object,
        };
        let entry = trueup_state::Entry::new(id, step);
        let record = trueup_state::transition(None, &entry).expect("it is a legal step").map(Arc::new);
        let batch = trueup_state::Batch {
            writes: vec![trueup_state::Write { expected: None, entry, record }],
            ..trueup_state::Batch::default()
        };
        self.run(async {
            let taken =
                self.store.acquire(&scope, &holder, self.options.lease_term).await.expect("it is in memory");
            let trueup_state::Acquired::Lease(lease) = taken else { panic!("someone holds the lease") };
            self.store.commit(&scope, lease.token, &batch).await.expect("it is in memory");
            self.store.release(&scope, &lease).await.expect("it is in memory");
        });
    }

    /// Deploys on a store whose first renewals go like this. Whether the run succeeded, or why it was given up.
    pub(crate) fn deploy_renewing<const N: usize>(
        &self,
        program: &Program,
        renewals: [crate::lifecycle::failing::Renewal; N],
    ) -> Result<bool, String> {
        let store = crate::lifecycle::failing::FailingStore::renewing(self.store.clone(), renewals);
        let reconciler = self.reconciler_on(Arc::new(store), EventSink::new());
        match self.run(reconciler.deploy(program, &self.options, &self.cancellation)) {
            Ok(Deployed::Ran(report)) => Ok(report.succeeded()),
            Ok(Deployed::Planned(_)) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Deploys on a store whose n-th commit fails and all after it, and gives what the run says.
    pub(crate) fn deploy_with_failing_store(&self, program: &Program, failing_commit: u64) -> String {
        let store = crate::lifecycle::failing::FailingStore::new(self.store.clone(), failing_commit);
        let sink = self.listener();
        let reconciler = self.reconciler_on(Arc::new(store), sink.clone());
        let outcome = self.run(reconciler.deploy(program, &self.options, &self.cancellation));
        sink.close();
        self.run(tokio::time::advance(self.options.lease_term * 2));
        match outcome {
            Ok(Deployed::Ran(report)) => {
                report.store_failure.map_or("it succeeded".to_owned(), |it| it.to_string())
            }
            Ok(Deployed::Planned(_)) => "it only planned".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Polls a future until it has waited this often, then drops it. Whether it ended before.
async fn cut_off<T>(future: impl Future<Output = T>, waits: usize) -> bool {
    let mut future = Box::pin(future);
    let mut left = waits;
    std::future::poll_fn(move |task| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(task) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

pub(crate) fn address(text: &str) -> Address {
    text.parse().expect("tests write addresses")
}

/// A reference such as `w_thing.a` and `url`.
pub(crate) fn output(of: &str, path: &str) -> Expression {
    let path: Path = path.parse().expect("tests write paths");
    Expression::new(Node::Reference(Reference { address: address(of), path }))
}

/// A resource with these inputs.
pub(crate) fn resource<const N: usize>(of: &str, inputs: [(&str, Expression); N]) -> ResourceDeclaration {
    let entries = inputs.into_iter().map(|(name, value)| (name.into(), value)).collect();
    ResourceDeclaration::new(address(of), Expression::new(Node::Object(entries)))
}

/// A `w_thing` of this size.
pub(crate) fn thing(name: &str, size: u64) -> ResourceDeclaration {
    resource(&format!("w_thing.{name}"), [("size", lit(size))])
}

/// A `w_thing` that refers to another's url.
pub(crate) fn thing_from(name: &str, from: &str) -> ResourceDeclaration {
    resource(&format!("w_thing.{name}"), [("from", output(&format!("w_thing.{from}"), "url"))])
}

pub(crate) fn lit(value: impl Into<Value>) -> Expression {
    value.into().into()
}

pub(crate) fn program<const N: usize>(resources: [ResourceDeclaration; N]) -> Program {
    Program { stack: "stack".into(), resources: resources.into(), ..Program::default() }
}

pub(crate) fn with_output(mut program: Program, name: &str, value: Expression) -> Program {
    program.outputs.push(OutputDeclaration { name: name.into(), value, secret: false });
    program
}
