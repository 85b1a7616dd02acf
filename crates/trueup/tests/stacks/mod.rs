//! Stacks in Rust, deployed by the engine: all that a stack can declare, on things of a shelf.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod changes;
mod components;
mod durable;
mod mistakes;
mod naming;
mod providers;

use std::sync::Arc;

use trueup::{
    Cancellation, Context, Crud, DataSource, DeployOptions, Deployed, Diagnostics, Error, EventSink, Found,
    Inputs, MemoryStore, NativeProvider, Outputs, Plan, Prior, Program, Reconciler, Recovery, Registry,
    Result, RunReport, Sightings, Stack, Store,
};

use crate::shelf::{Shelf, Thing};

/// The settings of the provider: things of one region are told apart by their names.
#[derive(Inputs)]
pub(crate) struct ShelfSettings {
    #[trueup(default = "home")]
    region: String,
}

/// A shelf, as one configuration of the provider sees it.
#[derive(Clone)]
pub(crate) struct Region {
    shelf: Shelf,
    name: String,
}

/// Something with a size.
#[derive(Inputs)]
pub(crate) struct Parcel {
    #[trueup(identity, replace)]
    name: String,
    size: u64,
}

#[derive(Outputs)]
pub(crate) struct ParcelOutput {
    #[trueup(identity)]
    id: u64,
    #[trueup(mirrors = "name")]
    name: String,
    #[trueup(mirrors = "size")]
    size: u64,
    #[trueup(stable)]
    region: String,
}

impl Parcel {
    fn thing(&self) -> Thing {
        Thing { name: self.name.clone(), size: self.size, ..Thing::default() }
    }
}

fn seen(region: &Region, id: u64) -> Result<ParcelOutput> {
    let thing = region.shelf.get(id)?;
    Ok(ParcelOutput { id, name: thing.name, size: thing.size, region: region.name.clone() })
}

impl Crud for Parcel {
    type Output = ParcelOutput;
    type Config = Region;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<Region>) -> Result<ParcelOutput> {
        let region = context.config();
        region.shelf.note(format!("create {} in {}", self.name, region.name));
        seen(region, region.shelf.put(self.thing()))
    }

    async fn read(&self, context: &Context<Region>, prior: &ParcelOutput) -> Result<ParcelOutput> {
        seen(context.config(), prior.id)
    }

    async fn update(&self, context: &Context<Region>, prior: &Prior<Self>) -> Result<ParcelOutput> {
        let region = context.config();
        region.shelf.note(format!("update {}", self.name));
        region.shelf.set(prior.outputs.id, self.thing())?;
        seen(region, prior.outputs.id)
    }

    async fn delete(&self, context: &Context<Region>, prior: &ParcelOutput) -> Result<()> {
        context.config().shelf.note(format!("delete {}", self.name));
        context.config().shelf.take(prior.id)
    }

    async fn lookup(&self, context: &Context<Region>) -> Result<Sightings<Found<Self, ParcelOutput>>> {
        match context.config().shelf.named(&self.name) {
            None => Ok(Sightings::absent()),
            Some((id, _)) => Ok(Sightings::unowned(found(seen(context.config(), id)?))),
        }
    }

    async fn import(&self, context: &Context<Region>, id: &str) -> Result<Found<Self, ParcelOutput>> {
        let found = found(seen(context.config(), id.parse()?)?);
        match found.inputs.name == self.name {
            true => Ok(found),
            false => Err(Error::invalid(format!("{id} is not called {}", self.name)).at(Parcel::FIELDS.name)),
        }
    }
}

fn found(outputs: ParcelOutput) -> Found<Parcel, ParcelOutput> {
    Found { inputs: Parcel { name: outputs.name.clone(), size: outputs.size }, outputs }
}

/// How many things there are.
#[derive(Inputs)]
pub(crate) struct Census {
    #[trueup(default = 0)]
    least: u64,
}

#[derive(Outputs)]
pub(crate) struct CensusOutput {
    count: u64,
}

impl DataSource for Census {
    type Output = CensusOutput;
    type Config = Region;

    async fn read(&self, context: &Context<Region>) -> Result<CensusOutput> {
        let count = context.config().shelf.len() as u64;
        match count < self.least {
            true => Err(Error::fatal(format!("there are only {count}"))),
            false => Ok(CensusOutput { count }),
        }
    }
}

/// A world in which stacks are deployed one after another.
pub(crate) struct World {
    pub(crate) shelf: Shelf,
    pub(crate) registry: Registry,
    pub(crate) store: Arc<dyn Store>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(Arc::new(MemoryStore::new()))
    }

    pub(crate) fn on(store: Arc<dyn Store>) -> Self {
        let shelf = Shelf::default();
        let own = shelf.clone();
        let open = move |settings: ShelfSettings| {
            let shelf = own.clone();
            async move { Ok(Region { shelf, name: settings.region }) }
        };
        let provider =
            NativeProvider::configured("y", open).crud::<Parcel>("parcel").data::<Census>("census");
        World { shelf, registry: Registry::new().with(provider), store }
    }

    /// The program that a function declares.
    pub(crate) fn declared(&self, declare: impl FnOnce(&mut Stack<'_>)) -> Result<Program, Diagnostics> {
        let mut stack = Stack::new("site", &self.registry);
        declare(&mut stack);
        stack.build()
    }

    fn engine(&self) -> Reconciler {
        Reconciler::new(self.store.clone(), self.registry.clone(), EventSink::new())
    }

    pub(crate) fn plan(&self, declare: impl FnOnce(&mut Stack<'_>)) -> Plan {
        let program = self.declared(declare).unwrap();
        trueup::run(self.engine().plan(&program, &DeployOptions::new("test").plan)).unwrap()
    }

    /// Deploys, and expects that all was done.
    #[track_caller]
    pub(crate) fn deploy(&self, declare: impl FnOnce(&mut Stack<'_>)) -> RunReport {
        let program = self.declared(declare).unwrap();
        let (engine, options, cancellation) =
            (self.engine(), DeployOptions::new("test"), Cancellation::new());
        ran(trueup::run(engine.deploy(&program, &options, &cancellation)).unwrap())
    }

    /// Destroys, and expects that all was done.
    #[track_caller]
    pub(crate) fn destroy(&self, declare: impl FnOnce(&mut Stack<'_>)) -> RunReport {
        let program = self.declared(declare).unwrap();
        let (engine, options, cancellation) =
            (self.engine(), DeployOptions::new("test"), Cancellation::new());
        ran(trueup::run(engine.destroy(&program, &options, &cancellation)).unwrap())
    }
}

#[track_caller]
fn ran(deployed: Deployed) -> RunReport {
    match deployed {
        Deployed::Ran(report) => {
            assert!(report.succeeded(), "{:#?}", report.outcomes);
            *report
        }
        Deployed::Planned(plan) => panic!("it was only planned:\n{plan}"),
    }
}
