//! A resource type with one of everything: nested structures in collections, secrets, replace fields, outputs of each
//! kind.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use trueup::conformance::Driver;
use trueup::handler::{Observed, PlanAnswer, State};
use trueup::{
    Context, Crud, Error, FieldType, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Prior,
    Result, Secret, Value, value,
};

use crate::shelf::{Shelf, Thing};

#[derive(FieldType, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listener {
    #[trueup(replace)]
    pub(crate) port: u16,
    pub(crate) name: Option<String>,
    #[trueup(empty_is_absent)]
    pub(crate) tags: Option<Vec<String>>,
}

#[derive(FieldType, Clone, Debug)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Secret<String>,
}

/// A server, kept as a thing on the shelf.
#[derive(Inputs)]
pub(crate) struct Server {
    pub(crate) name: String,
    #[trueup(default)]
    pub(crate) listeners: Vec<Listener>,
    #[trueup(default, replace)]
    pub(crate) groups: BTreeSet<String>,
    pub(crate) logins: Option<BTreeMap<String, Vec<Login>>>,
    /// A ratio of 2 comes back as no number at all.
    #[trueup(default = 1.0)]
    pub(crate) ratio: f64,
    /// Whether the create fails half-way, saying as whom.
    #[trueup(default)]
    pub(crate) breaks: bool,
    #[trueup(secret, replace)]
    pub(crate) vault: Option<Listener>,
    #[trueup(secret)]
    pub(crate) password: Option<String>,
    #[trueup(inject)]
    pub(crate) shelf: Shelf,
}

#[derive(FieldType, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    pub(crate) id: u64,
    #[trueup(volatile)]
    pub(crate) seen: u64,
}

#[derive(Outputs, Clone)]
pub(crate) struct ServerOutput {
    #[trueup(identity)]
    pub(crate) id: u64,
    #[trueup(mirrors = "name")]
    pub(crate) name: String,
    #[trueup(create_only)]
    pub(crate) receipt: Option<String>,
    pub(crate) instances: BTreeSet<Instance>,
    pub(crate) ratio: f64,
    pub(crate) size: u64,
}

impl Server {
    fn thing(&self) -> Thing {
        Thing { name: self.name.clone(), ..Thing::default() }
    }
}

impl Crud for Server {
    type Output = ServerOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<ServerOutput> {
        let output = ServerOutput {
            id: self.shelf.put(self.thing()),
            name: self.name.clone(),
            receipt: Some("paid".to_owned()),
            instances: [Instance { id: 1, seen: 1 }].into(),
            ratio: if self.ratio == 2.0 { f64::NAN } else { self.ratio },
            size: self.name.len() as u64,
        };
        if self.breaks {
            let user = self.password.as_deref().unwrap_or("nobody");
            return Err(Error::fatal(format!("half way, as {user}")).with_partial(&output));
        }
        Ok(output)
    }

    async fn read(&self, _: &Context, prior: &ServerOutput) -> Result<ServerOutput> {
        let Thing { name, .. } = self.shelf.get(prior.id)?;
        let instances = [Instance { id: 1, seen: 2 }].into();
        Ok(ServerOutput { receipt: None, instances, size: name.len() as u64, name, ..prior.clone() })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<ServerOutput> {
        self.shelf.set(prior.outputs.id, self.thing())?;
        let (name, size) = (self.name.clone(), self.name.len() as u64);
        Ok(ServerOutput { receipt: None, name, size, ..prior.outputs.clone() })
    }

    async fn delete(&self, _: &Context, prior: &ServerOutput) -> Result<()> {
        self.shelf.take(prior.id)
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let renamed = request.prior_inputs();
        if renamed.is_some_and(|inputs| trueup::changed(&inputs.name, &request.current.name)) {
            plan.mark_output_unknown("size");
        }
        Ok(())
    }
}

pub(crate) async fn servers(shelf: &Shelf) -> Driver {
    let shelf = shelf.clone();
    let provider = NativeProvider::new("x").crud_with::<Server>("server", move || shelf.clone());
    Driver::new(provider, "x_server", &value!({})).await.expect("the type is sound")
}

/// The inputs of a server, with one more.
pub(crate) fn with(name: &str, value: Value) -> Value {
    value!({ name: "web" }).with_entry(name, value)
}

pub(crate) async fn created(driver: &Driver, written: &Value) -> State {
    let desired = driver.inputs(written).expect("the inputs are sound");
    driver.apply(&desired, None, None).await.expect("the create succeeds")
}

pub(crate) async fn observed(driver: &Driver, state: &State) -> State {
    let inputs = state.inputs.as_ref().expect("the state has inputs");
    match driver.read(inputs, state).await {
        Ok(Observed::Present(seen)) => *seen,
        other => panic!("it is there: {other:?}"),
    }
}

/// The plan for other inputs, without a look at the object.
pub(crate) async fn replanned(driver: &Driver, written: &Value, prior: &State) -> PlanAnswer {
    let desired = driver.inputs(written).expect("the inputs are sound");
    driver.plan(&desired, Some(prior), None).await.expect("the plan succeeds")
}
