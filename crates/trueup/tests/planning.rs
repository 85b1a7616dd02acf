//! What a native type's plan says: verdicts, what forces a replacement, planned outputs, drift, and which mistakes of a
//! type are found before they make a plan wrong.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::server;
use crate::shelf;

use std::panic::{AssertUnwindSafe, catch_unwind};

use server::{created, observed, replanned, servers, with};
use shelf::{Shelf, Thing, id};
use trueup::conformance::Driver;
use trueup::handler::{State, Verdict};
use trueup::{
    Context, Crud, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Prior, Provider, Result,
    Type, Value, value,
};

/// UNKNOWN-8: the unknown element may turn out to be the one that is there.
#[test]
fn an_unknown_element_of_a_replace_set_may_replace() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let state = created(&driver, &with("groups", value!(["a"]))).await;
        let unknown = Value::list([Value::unknown(Type::String)]);
        let plan = replanned(&driver, &with("groups", unknown), &state).await;
        assert_eq!(plan.verdict, Verdict::MayReplace);
        let plan = replanned(&driver, &with("groups", value!(["b"])), &state).await;
        assert_eq!(plan.verdict, Verdict::Replace);
    });
}

/// PLAN-4: a new element has another replace field than none.
#[test]
fn an_element_with_a_replace_field_replaces_when_it_comes_or_goes() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let (one, two) = (value!([{ port: 1 }]), value!([{ port: 1 }, { port: 2 }]));
        for (before, after) in [(one.clone(), two.clone()), (two.clone(), one.clone()), (value!([]), one)] {
            let state = created(&driver, &with("listeners", before)).await;
            let plan = replanned(&driver, &with("listeners", after), &state).await;
            assert_eq!(plan.verdict, Verdict::Replace);
            assert!(!plan.replace_paths.is_empty());
        }
    });
}

/// PLAN-3
#[test]
fn an_element_changed_beside_its_replace_field_is_updated() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let state = created(&driver, &with("listeners", value!([{ port: 1, name: "a" }]))).await;
        let plan = replanned(&driver, &with("listeners", value!([{ port: 1, name: "b" }])), &state).await;
        assert_eq!((plan.verdict, plan.replace_paths.len()), (Verdict::Update, 0));
    });
}

/// PLAN-6
#[test]
fn empty_equals_absent_inside_the_elements_of_a_list_too() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let state = created(&driver, &with("listeners", value!([{ port: 1 }]))).await;
        let plan = replanned(&driver, &with("listeners", value!([{ port: 1, tags: [] }])), &state).await;
        assert_eq!(plan.verdict, Verdict::NoOp);
    });
}

/// PLAN-4, SECRET-2: a secret structure is compared like any other, and what changed in it is not told.
#[test]
fn a_change_inside_a_secret_replace_field_replaces() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let vault = |name: &str| with("vault", value!({ port: 1, name: name }));
        let state = created(&driver, &vault("one")).await;
        assert_eq!(replanned(&driver, &vault("one"), &state).await.verdict, Verdict::NoOp);
        assert_eq!(replanned(&driver, &vault("two"), &state).await.verdict, Verdict::Replace);
    });
}

/// DRIFT-3
#[test]
fn a_volatile_field_inside_a_set_is_no_drift() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let state = created(&driver, &value!({ name: "web" })).await;
        let seen = observed(&driver, &state).await;
        assert_ne!(seen.outputs.get("instances"), state.outputs.get("instances"));
        assert_eq!(driver.handler().drift(&state, &seen), []);
    });
}

/// DRIFT-2, UNKNOWN-2: the plan of a repair promises what the repair leaves, not what the drift left.
#[test]
fn the_plan_of_a_repair_promises_what_comes_true() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = servers(&shelf).await;
        let state = created(&driver, &value!({ name: "web" })).await;
        shelf.set(id(&state.outputs), Thing { name: "tampered".to_owned(), ..Thing::default() }).unwrap();
        let seen = observed(&driver, &state).await;
        let desired = driver.inputs(&value!({ name: "web" })).unwrap();
        let plan = driver.plan(&desired, Some(&state), Some(&seen)).await.unwrap();
        assert_eq!(plan.verdict, Verdict::Update);
        let repaired = driver.apply(&desired, Some(&state), Some(&seen)).await.unwrap();
        let (planned, size) = (plan.outputs.get("size").unwrap(), repaired.outputs.get("size").unwrap());
        assert!(planned.is_unknown() || planned == size, "planned {planned}, got {size}");
    });
}

/// A type whose plan hook says what its inputs ask it to say.
#[derive(Inputs)]
struct Talker {
    size: u64,
    #[trueup(replace)]
    zone: Option<String>,
    says: Option<String>,
}

#[derive(Outputs)]
struct TalkerOutput {
    #[trueup(mirrors = "size")]
    size: u64,
}

impl Crud for Talker {
    type Output = TalkerOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<TalkerOutput> {
        Ok(TalkerOutput { size: self.size })
    }

    async fn read(&self, _: &Context, prior: &TalkerOutput) -> Result<TalkerOutput> {
        Ok(TalkerOutput { size: prior.size })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<TalkerOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &TalkerOutput) -> Result<()> {
        Ok(())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        match request.current.says.known().and_then(Option::as_deref) {
            Some("update") => plan.update(),
            // By what was read, not by what is recorded.
            Some("nine is fine") if observed_size(request) == Some(9) => plan.keep(),
            Some("unknown output") => plan.mark_output_unknown("sizzle"),
            Some("set output") => plan.set_output("sizzle", &1u64)?,
            Some("replace") => plan.replace("zzone"),
            _ => {}
        }
        Ok(())
    }
}

/// The size that the object was read with.
fn observed_size(request: &ModifyPlan<'_, Talker>) -> Option<u64> {
    Some(request.prior.as_ref()?.observed.as_ref()?.size)
}

async fn talkers() -> Driver {
    Driver::new(NativeProvider::new("x").crud::<Talker>("talker"), "x_talker", &value!({})).await.unwrap()
}

/// PLAN-4, PLAN-8: nothing forces a replacement that the hook decided against.
#[test]
fn an_update_that_the_hook_decided_on_names_no_replace_paths() {
    trueup::run(async {
        let driver = talkers().await;
        let state = created(&driver, &value!({ size: 1, zone: "a" })).await;
        let plain = replanned(&driver, &value!({ size: 1, zone: "b" }), &state).await;
        assert_eq!((plain.verdict, plain.replace_paths.len()), (Verdict::Replace, 1));
        let decided = replanned(&driver, &value!({ size: 1, zone: "b", says: "update" }), &state).await;
        assert_eq!((decided.verdict, decided.replace_paths.len()), (Verdict::Update, 0));
    });
}

/// DRIFT-3, PLAN-8: a hook sees what was read, and decides whether that is to be repaired.
#[test]
fn the_hook_decides_about_drift() {
    trueup::run(async {
        let driver = talkers().await;
        let verdict = async |says: &str, size: u64| {
            let inputs = value!({ size: 1, says: says });
            let state = created(&driver, &inputs).await;
            let seen = State { outputs: value!({ size: size }), ..state.clone() };
            let desired = driver.inputs(&inputs).unwrap();
            driver.plan(&desired, Some(&state), Some(&seen)).await.unwrap().verdict
        };
        assert_eq!(verdict("nothing", 9).await, Verdict::Update);
        assert_eq!(verdict("nine is fine", 9).await, Verdict::NoOp);
        assert_eq!(verdict("nine is fine", 8).await, Verdict::Update);
    });
}

/// CRUD-9: taken for nothing, the name would leave the plan wrong.
#[test]
fn a_hook_that_speaks_of_what_the_type_does_not_have_fails_the_plan() {
    trueup::run(async {
        let driver = talkers().await;
        let state = created(&driver, &value!({ size: 1 })).await;
        for (says, name) in [("unknown output", "sizzle"), ("set output", "sizzle"), ("replace", "zzone")] {
            let desired = driver.inputs(&value!({ size: 1, says: says })).unwrap();
            let failure = driver.plan(&desired, Some(&state), Some(&state)).await.unwrap_err();
            assert!(failure.message.contains(name), "{failure}");
        }
    });
}

/// A type with a mistake that only its registration can find.
macro_rules! mistaken {
    ($inputs:ident { $(#[$input:meta])* }, $outputs:ident { $(#[$output:meta])* }) => {
        #[derive(Inputs)]
        struct $inputs {
            $(#[$input])*
            zone: String,
        }

        #[derive(Outputs)]
        struct $outputs {
            $(#[$output])*
            zone: String,
        }

        impl Crud for $inputs {
            type Output = $outputs;
            type Config = NoConfig;

            async fn create(&self, _: &Context) -> Result<$outputs> {
                Ok($outputs { zone: self.zone.clone() })
            }

            async fn read(&self, _: &Context, prior: &$outputs) -> Result<$outputs> {
                Ok($outputs { zone: prior.zone.clone() })
            }

            async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<$outputs> {
                self.create(context).await
            }

            async fn delete(&self, _: &Context, _: &$outputs) -> Result<()> {
                Ok(())
            }
        }
    };
}

mistaken!(Chosen { #[trueup(computed)] }, ChosenOutput {});

/// What the registration of a type panics with.
fn refusal(register: impl FnOnce() -> NativeProvider) -> String {
    let refused = catch_unwind(AssertUnwindSafe(|| register().name().to_owned())).unwrap_err();
    refused.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// What the provider may choose, the program may leave out: the struct must be able to hold that.
#[test]
fn a_computed_input_that_cannot_be_absent_is_refused_when_the_type_is_registered() {
    let message = refusal(|| NativeProvider::new("x").crud::<Chosen>("chosen"));
    assert_eq!(message, "`zone` is marked `computed`, so its type must be an `Option`");
}

/// A type of which an input tells whether another can be changed in place.
#[derive(Inputs)]
struct Volume {
    size: u64,
    #[trueup(default)]
    fixed: bool,
}

#[derive(Outputs)]
struct VolumeOutput {
    #[trueup(mirrors = "size")]
    size: u64,
}

impl Crud for Volume {
    type Output = VolumeOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<VolumeOutput> {
        Ok(VolumeOutput { size: self.size })
    }

    async fn read(&self, _: &Context, prior: &VolumeOutput) -> Result<VolumeOutput> {
        Ok(VolumeOutput { size: prior.size })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<VolumeOutput> {
        Ok(VolumeOutput { size: self.size })
    }

    async fn delete(&self, _: &Context, _: &VolumeOutput) -> Result<()> {
        Ok(())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if request.current.fixed == true {
            plan.replace_if_changed("size");
        }
        Ok(())
    }
}

/// PLAN-4, UNKNOWN-8: what a hook calls a replace field behaves like one: nothing while it is equal, *may* while it is
/// unknown.
#[test]
fn a_hook_can_make_an_input_a_replace_field() {
    trueup::run(async {
        let provider = NativeProvider::new("x").crud::<Volume>("volume");
        let driver = Driver::new(provider, "x_volume", &value!({})).await.unwrap();
        let state = created(&driver, &value!({ size: 1 })).await;
        let planned = async |size: Value, fixed: bool| {
            replanned(&driver, &value!({ size: size, fixed: fixed }), &state).await.verdict
        };
        assert_eq!(planned(value!(2), false).await, Verdict::Update);
        assert_eq!(planned(value!(2), true).await, Verdict::Replace);
        assert_eq!(planned(value!(1), true).await, Verdict::Update);
        assert_eq!(planned(Value::unknown(Type::Number), true).await, Verdict::MayReplace);
    });
}
