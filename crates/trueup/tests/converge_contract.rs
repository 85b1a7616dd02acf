//! The convergent contract, as the engine sees it through the handler.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shelf;

use shelf::{Shelf, Thing, id};
use trueup::conformance::{Driver, Kit};
use trueup::handler::{PlanRequest, PrivateBytes, State, Verdict};
use trueup::{
    Binding, Context, Converge, Crud, Current, Diff, Error, GenerationNumber, Inputs, NativeProvider,
    Outputs, Ownership, PlanHook, Prior, Provider, Recovery, Result, Sightings, Value, value,
};

/// What the provider `y` is configured with.
#[derive(Inputs)]
struct ShelfConfig {
    #[trueup(default = "main")]
    shelf: String,
}

/// A provider that offers a resource type of each contract on one shelf.
fn provider(shelf: &Shelf) -> NativeProvider<Shelf> {
    let shelf = shelf.clone();
    let open = move |config: ShelfConfig| {
        let shelf = shelf.clone();
        async move {
            match config.shelf.as_str() {
                "main" => Ok(shelf),
                other => Err(Error::invalid(format!("there is no shelf `{other}`")).at("shelf")),
            }
        }
    };
    NativeProvider::configured("y", open).converge::<Jar>("jar").crud::<Token>("token")
}

/// A thing with a deterministic name, recognised by its tags.
#[derive(Inputs)]
struct Jar {
    size: u64,
    #[trueup(default)]
    fragile: bool,
    lid: Option<String>,
}

#[derive(Outputs, Clone)]
struct JarOutput {
    #[trueup(identity)]
    id: u64,
    #[trueup(stable)]
    name: String,
    size: u64,
}

impl Converge for Jar {
    type Output = JarOutput;
    type Config = Shelf;

    async fn reconcile(&self, context: &Context<Shelf>, current: &Current<Self>) -> Result<JarOutput> {
        let shelf = context.config();
        let (olds, output) = (current.olds.is_some(), current.output.is_some());
        let bound: Vec<_> = current.bindings.iter().map(|it| format!("{}={}", it.key, it.payload)).collect();
        shelf.note(format!("reconcile olds={olds} output={output} [{}]", bound.join(" ")));
        let name = context.physical_name();
        let thing = Thing { name: name.clone(), size: self.size, tags: context.tags() };
        let id = match shelf.named(&name) {
            Some((id, _)) => id,
            None => shelf.put(thing.clone()),
        };
        if self.size == 13 {
            let partial = JarOutput { id, name, size: 0 };
            return Err(Error::retryable("not a good day").with_partial(&partial));
        }
        shelf.set(id, thing)?;
        Ok(JarOutput { id, name, size: self.size })
    }

    async fn read(
        &self,
        context: &Context<Shelf>,
        prior: Option<&JarOutput>,
    ) -> Result<Sightings<JarOutput>> {
        let shelf = context.config();
        let found = match prior {
            Some(prior) => Some((prior.id, shelf.get(prior.id)?)),
            None => shelf.named(&context.physical_name()),
        };
        Ok(match found {
            None => Sightings::absent(),
            Some((id, thing)) => {
                let output = JarOutput { id, name: thing.name, size: thing.size };
                Sightings::recognised(output, context.recognise(&thing.tags))
            }
        })
    }

    async fn delete(&self, context: &Context<Shelf>, output: &JarOutput) -> Result<()> {
        context.config().take(output.id)
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let olds = request.prior_inputs();
        let (Some(olds), Some(fragile)) = (olds, request.current.fragile.known()) else { return Ok(()) };
        if olds.fragile != *fragile {
            plan.replace("fragile");
            plan.delete_first();
        } else if olds.lid.as_deref() != request.current.lid.known().and_then(Option::as_deref) {
            // A lid makes no difference to a jar.
            plan.keep();
        }
        Ok(())
    }

    fn stub(_: &JarView) -> Option<Value> {
        Some(value!({ size: 0 }))
    }

    async fn precreate(&self, context: &Context<Shelf>) -> Result<JarOutput> {
        let (name, size) = (context.physical_name(), self.size);
        let id = context.config().put(Thing { name: name.clone(), size, tags: context.tags() });
        Ok(JarOutput { id, name, size })
    }

    async fn import(&self, context: &Context<Shelf>, id: &str) -> Result<JarOutput> {
        let id: u64 = id.parse()?;
        let thing = context.config().get(id)?;
        Ok(JarOutput { id, name: thing.name, size: thing.size })
    }
}

/// A thing that is found again by the token of its create.
#[derive(Inputs)]
struct Token {
    size: u64,
}

#[derive(Outputs)]
struct TokenOutput {
    #[trueup(identity)]
    id: u64,
    size: u64,
}

impl Crud for Token {
    type Output = TokenOutput;
    type Config = Shelf;

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context<Shelf>) -> Result<TokenOutput> {
        let thing = Thing { size: self.size, ..Thing::default() };
        let id = context.config().put_once(&context.create_token()?.to_string(), thing);
        Ok(TokenOutput { id, size: self.size })
    }

    async fn read(&self, context: &Context<Shelf>, prior: &TokenOutput) -> Result<TokenOutput> {
        Ok(TokenOutput { id: prior.id, size: context.config().get(prior.id)?.size })
    }

    async fn update(&self, context: &Context<Shelf>, prior: &Prior<Self>) -> Result<TokenOutput> {
        context.config().set(prior.outputs.id, Thing { size: self.size, ..Thing::default() })?;
        Ok(TokenOutput { id: prior.outputs.id, size: self.size })
    }

    async fn delete(&self, context: &Context<Shelf>, prior: &TokenOutput) -> Result<()> {
        context.config().take(prior.id)
    }
}

async fn jars(shelf: &Shelf) -> Driver {
    Driver::new(provider(shelf), "y_jar", &value!({})).await.unwrap()
}

/// RECONCILE-1
#[test]
fn greenfield_adoption_and_update_tell_apart_what_they_know() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = jars(&shelf).await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        assert_eq!(shelf.calls(), ["reconcile olds=false output=false []"]);
        let sightings = driver.lookup(&desired).await.unwrap().unwrap();
        let adopted = &sightings[0].state;
        assert!(adopted.inputs.is_none());
        driver.apply(&desired, Some(adopted), None).await.unwrap();
        assert_eq!(shelf.calls(), ["reconcile olds=false output=true []"]);
        driver.apply(&desired, Some(&state), None).await.unwrap();
        assert_eq!(shelf.calls(), ["reconcile olds=true output=true []"]);
        assert_eq!(shelf.len(), 1);
    });
}

/// RECONCILE-2, CRASH-2: what a failed reconcile made is handed on, without inputs it was never brought to.
#[test]
fn after_a_failed_reconcile_olds_stay_absent() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = jars(&shelf).await;
        let unlucky = driver.inputs(&value!({ size: 13 })).unwrap();
        let failed = driver.apply(&unlucky, None, None).await.unwrap_err();
        let partial = failed.partial.unwrap();
        assert_eq!((id(&partial.outputs), &partial.inputs), (1, &None));
        shelf.calls();
        let desired = driver.inputs(&value!({ size: 2 })).unwrap();
        let plan = driver.plan(&desired, Some(&partial), None).await.unwrap();
        assert_eq!(plan.verdict, Verdict::Update);
        driver.apply(&desired, Some(&partial), None).await.unwrap();
        assert_eq!(shelf.calls(), ["reconcile olds=false output=true []"]);
        assert_eq!(shelf.len(), 1);
    });
}

/// RECONCILE-4, ADOPT-2
#[test]
fn names_are_deterministic_and_slots_and_owners_told_apart() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = jars(&shelf).await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        driver.apply(&desired, None, None).await.unwrap();
        let next = driver.next_generation();
        assert_eq!(next.lookup(&desired).await.unwrap(), Some(vec![]));
        assert_ne!(next.context.physical_name(), driver.context.physical_name());
        let mut rerun = jars(&shelf).await;
        assert_eq!(rerun.context.physical_name(), driver.context.physical_name());
        let found = rerun.lookup(&desired).await.unwrap().unwrap();
        assert_eq!(found[0].ownership, Ownership::Owned { generation: Some(GenerationNumber::FIRST) });
        // The same name, and tags that say it is another stack's.
        let (id, thing) = shelf.named(&driver.context.physical_name()).unwrap();
        rerun.context.owner.stack = "another".into();
        shelf.set(id, Thing { tags: rerun.context.tags(), ..thing }).unwrap();
        assert_eq!(driver.lookup(&desired).await.unwrap().unwrap()[0].ownership, Ownership::Unowned);
    });
}

/// RECONCILE-5
#[test]
fn both_contracts_live_in_one_provider() {
    trueup::run(async {
        let shelf = Shelf::default();
        for type_name in ["y_jar", "y_token"] {
            let driver = Driver::new(provider(&shelf), type_name, &value!({})).await.unwrap();
            let desired = driver.inputs(&value!({ size: 4 })).unwrap();
            let state = driver.apply(&desired, None, None).await.unwrap();
            assert_eq!(state.outputs.get("size"), Some(&value!(4)));
        }
        assert_eq!(shelf.len(), 2);
        let types = provider(&shelf).resource_types().await.unwrap();
        assert_eq!(types, ["y_jar", "y_token"]);
    });
}

/// PLAN-8
#[test]
fn the_hook_decides_where_it_speaks_and_comparison_where_it_is_silent() {
    trueup::run(async {
        let driver = jars(&Shelf::default()).await;
        let desired = |value: Value| driver.inputs(&value).unwrap();
        let state = driver.apply(&desired(value!({ size: 1 })), None, None).await.unwrap();
        let plan = async |value: Value| driver.plan(&desired(value), Some(&state), None).await.unwrap();
        assert_eq!(plan(value!({ size: 1 })).await.verdict, Verdict::NoOp);
        assert_eq!(plan(value!({ size: 2 })).await.verdict, Verdict::Update);
        assert_eq!(plan(value!({ size: 1, lid: "tin" })).await.verdict, Verdict::NoOp);
        let replace = plan(value!({ size: 1, fragile: true })).await;
        assert_eq!((replace.verdict, replace.delete_first), (Verdict::Replace, true));
        assert_eq!(replace.replace_paths, ["fragile".parse().unwrap()]);
        // UNKNOWN-2: the hook says nothing of outputs, so an update leaves only the stable one known.
        let outputs = plan(value!({ size: 2 })).await.outputs;
        assert_eq!(outputs.get("size").unwrap().to_string(), "(unknown number)");
        assert!(outputs.get("name").unwrap().is_wholly_known());
    });
}

/// BIND-1, BIND-2, PLAN-8
#[test]
fn a_change_of_bindings_is_at_least_an_update() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = jars(&shelf).await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        let verdict = async |bindings: &[Binding], prior_bindings: &[Binding]| {
            let request = PlanRequest {
                config: None,
                desired: &desired,
                prior: Some(&state),
                attempted: None,
                observed: None,
                bindings,
                prior_bindings,
                private: &PrivateBytes::default(),
                replaces: false,
                context: &driver.context,
            };
            driver.handler().plan(request).await.unwrap().verdict
        };
        let bound = |payload: Value| vec![Binding::new("queue", payload)];
        let none: &[Binding] = &[];
        assert_eq!(verdict(&bound(value!(1)), none).await, Verdict::Update);
        assert_eq!(verdict(none, &bound(value!(1))).await, Verdict::Update);
        assert_eq!(verdict(&bound(value!(1)), &bound(value!(1))).await, Verdict::NoOp);
        let unknown = bound(Value::unknown(trueup::Type::Any));
        assert_eq!(verdict(&unknown, &bound(value!(1))).await, Verdict::MayUpdate);
    });
}

#[test]
fn stubs_imports_and_misconfiguration_go_through_the_handler() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = jars(&shelf).await;
        let wrong = Driver::new(provider(&shelf), "y_jar", &value!({ shelf: "attic" })).await.err().unwrap();
        let message = wrong.iter().next().unwrap().to_string();
        assert_eq!(message, "error: cannot configure `y`: invalid: there is no shelf `attic`");
        let unknown = || Value::unknown(trueup_core::Type::Any);
        // What a stub can do without has a value of its own; anything else must be known first.
        let desired = driver.inputs(&value!({ size: (unknown()) })).unwrap();
        let stub = driver.precreate(&desired).await.unwrap().unwrap();
        let early = driver.inputs(&value!({ size: 1, lid: (unknown()) })).unwrap();
        let refused = driver.precreate(&early).await.err().unwrap().failure;
        assert_eq!(refused.to_string(), "invalid: no stub can be made before its `lid` is known");
        assert_eq!(stub.outputs.get("size"), Some(&value!(0)));
        let imported = driver.import(&early, "1").await.unwrap();
        assert_eq!((imported.len(), imported[0].type_name.as_str()), (1, "y_jar"));
        assert_eq!(imported[0].state.outputs, stub.outputs);
        assert!(driver.import(&early, "77").await.is_err());
    });
}

/// Both types keep their contracts, faults included.
#[test]
fn the_kit_passes_both() {
    trueup::run(async {
        for type_name in ["y_jar", "y_token"] {
            let shelf = Shelf::default();
            let kit = Kit::new(provider(&shelf), type_name, value!({ size: 1 })).await.unwrap();
            let (count, tamper, remove, taken) = (shelf.clone(), shelf.clone(), shelf.clone(), shelf.clone());
            let kit = kit
                .updated(value!({ size: 2 }))
                .counted_by(move || {
                    let things = count.len();
                    async move { things }
                })
                .tampered_by(move |state: State| {
                    let id = id(&state.outputs);
                    let thing = tamper.get(id).unwrap();
                    tamper.set(id, Thing { size: 99, ..thing }).unwrap();
                    async {}
                })
                .removed_by(move |state: State| {
                    remove.take(id(&state.outputs)).unwrap();
                    async {}
                })
                .taken_by(move |context, _| {
                    taken.put(Thing { name: context.physical_name(), ..Thing::default() });
                    async {}
                });
            let kit =
                if type_name == "y_jar" { kit.replaced(value!({ size: 1, fragile: true })) } else { kit };
            let report = kit.run().await;
            insta::assert_snapshot!(format!("kit_{type_name}"), report.to_string());
            report.assert_passed();
        }
    });
}
