//! Names that follow from the address alone, in plans.

use std::sync::Arc;

use trueup::{
    Context, Crud, DeployOptions, EventSink, Inputs, MemoryStore, ModifyPlan, NativeProvider, NoConfig,
    Outputs, PlanHook, Prior, Reconciler, Registry, Result, Stack,
};

use super::ran;
use crate::shelf::{Shelf, Thing};

/// A thing with a deterministic name.
#[derive(Inputs)]
struct Jar {
    #[trueup(replace)]
    size: u64,
    /// What is on it.
    label: Option<String>,
    #[trueup(inject)]
    shelf: Shelf,
}

#[derive(Outputs, Clone)]
struct JarOutput {
    id: u64,
    name: String,
}

impl Crud for Jar {
    type Output = JarOutput;
    type Config = NoConfig;

    async fn create(&self, context: &Context) -> Result<JarOutput> {
        let name = context.physical_name();
        let id = self.shelf.put(Thing { name: name.clone(), size: self.size, ..Thing::default() });
        let _ = &self.label;
        Ok(JarOutput { id, name })
    }

    async fn read(&self, _: &Context, prior: &JarOutput) -> Result<JarOutput> {
        self.shelf.get(prior.id)?;
        Ok(prior.clone())
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<JarOutput> {
        Ok(prior.outputs.clone())
    }

    async fn delete(&self, _: &Context, prior: &JarOutput) -> Result<()> {
        self.shelf.take(prior.id)
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if let Some(name) = request.physical_name() {
            plan.set_output(JarOutput::FIELDS.name, &name)?;
        }
        Ok(())
    }
}

/// UNKNOWN-1, RECONCILE-4: the name of a new object is known in the plan, to dependents too. That of a replacement is not,
/// since the old object still bears the name.
#[test]
fn the_name_of_a_new_object_is_known_in_its_plan() {
    let shelf = Shelf::default();
    let own = shelf.clone();
    let provider = NativeProvider::new("z").crud_with::<Jar>("jar", move || own.clone());
    let registry = Registry::new().with(provider);
    let engine = Reconciler::new(Arc::new(MemoryStore::new()), registry.clone(), EventSink::new());
    let options = DeployOptions::new("test");
    let program = |size: u64| {
        let mut stack = Stack::new("site", &registry);
        let first = stack.add("first", Jar::args().size(size));
        stack.add("second", Jar::args().size(1u64).label(first.name()));
        stack.output("name", first.name());
        stack.build().unwrap()
    };
    let plan = trueup::run(engine.plan(&program(1), &options.plan)).unwrap();
    let planned: Vec<String> =
        plan.actions.iter().map(|action| action.outputs.get("name").unwrap().to_string()).collect();
    let cancellation = trueup::Cancellation::new();
    let report = ran(trueup::run(engine.deploy(&program(1), &options, &cancellation)).unwrap());
    let name = report.outputs.unwrap().get("name").unwrap().to_string();
    assert_eq!(planned[0], name);
    assert!(name.contains("first"), "{name}");
    let plan = trueup::run(engine.plan(&program(2), &options.plan)).unwrap();
    assert!(plan.actions[0].outputs.get("name").unwrap().is_unknown(), "{plan}");
    ran(trueup::run(engine.deploy(&program(2), &options, &cancellation)).unwrap());
    assert_eq!(shelf.len(), 2);
}
