//! The plan hook of a CRUD type: what it sees, and what it says of outputs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use trueup::conformance::Driver;
use trueup::handler::{PlanAnswer, Verdict};
use trueup::{
    Context, Crud, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Planned, Prior, Result,
    Type, Value, changed, value,
};

use crate::crud_contract::{created, plan};

/// A type whose hook vouches for the outputs that it does not mark.
#[derive(Inputs)]
struct Hooked {
    size: u64,
    colour: String,
}

#[derive(Outputs)]
struct HookedOutput {
    weight: u64,
    shade: String,
}

impl Crud for Hooked {
    type Output = HookedOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<HookedOutput> {
        Ok(HookedOutput { weight: self.size * 2, shade: self.colour.clone() })
    }

    async fn read(&self, _: &Context, prior: &HookedOutput) -> Result<HookedOutput> {
        Ok(HookedOutput { weight: prior.weight, shade: prior.shade.clone() })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<HookedOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &HookedOutput) -> Result<()> {
        Ok(())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let Some(prior) = &request.prior else { return Ok(()) };
        let inputs = prior.inputs.as_ref().unwrap();
        assert_eq!(prior.outputs.weight, inputs.size * 2);
        assert!(request.config.is_some());
        if changed(&inputs.size, &request.current.size) {
            plan.mark_output_unknown("weight");
        }
        if inputs.colour == "restless" {
            plan.mark_output_unknown("shade");
        }
        Ok(())
    }
}

/// A type whose hook tells all that it sees, as the output `seen`.
#[derive(Inputs)]
struct Witness {
    size: u64,
    #[trueup(replace)]
    place: Option<String>,
}

#[derive(Outputs)]
struct WitnessOutput {
    seen: String,
    weight: u64,
}

impl Crud for Witness {
    type Output = WitnessOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<WitnessOutput> {
        Ok(WitnessOutput { seen: "made".to_owned(), weight: self.size * 2 })
    }

    async fn read(&self, _: &Context, prior: &WitnessOutput) -> Result<WitnessOutput> {
        Ok(WitnessOutput { seen: prior.seen.clone(), weight: prior.weight })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<WitnessOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &WitnessOutput) -> Result<()> {
        Ok(())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let config = if request.config.is_some() { "configured" } else { "not configured" };
        let size = match &request.current.size {
            Planned::Known(size) => size.to_string(),
            Planned::Unknown => "unknown".to_owned(),
        };
        let prior = request.prior.as_ref().map_or("no prior state".to_owned(), |prior| {
            let size = prior.inputs.as_ref().map(|it| it.size);
            format!("prior size {size:?} weight {}", prior.outputs.weight)
        });
        plan.mark_output_unknown("weight");
        plan.set_output("seen", &format!("{config}, size {size}, {prior}"))
    }
}

pub(crate) async fn hooked() -> Driver {
    Driver::new(NativeProvider::new("x").crud::<Hooked>("hooked"), "x_hooked", &value!({})).await.unwrap()
}

/// CRUD-9, UNKNOWN-2, UNKNOWN-9
#[test]
fn a_plan_hook_marks_outputs_unknown_and_keeps_the_others() {
    trueup::run(async {
        let driver = hooked().await;
        let state = created(&driver, &value!({ size: 1, colour: "red" })).await;
        let answer = plan(&driver, &value!({ size: 2, colour: "red" }), &state).await;
        assert_eq!(answer.verdict, Verdict::Update);
        assert_eq!(answer.outputs.to_string(), r#"{ shade = "red", weight = (unknown number) }"#);
        let other = plan(&driver, &value!({ size: 1, colour: "blue" }), &state).await;
        assert_eq!(other.outputs.to_string(), r#"{ shade = "red", weight = 2 }"#);
        // Marked though inputs are equal: an update all the same.
        let restless = value!({ size: 1, colour: "restless" });
        let state = created(&driver, &restless).await;
        let answer = plan(&driver, &restless, &state).await;
        assert_eq!((answer.verdict, answer.changes.len()), (Verdict::Update, 0));
        // An input still unknown: only a possible update.
        let unknown = restless.with_entry("size", Value::unknown(Type::Number));
        assert_eq!(plan(&driver, &unknown, &state).await.verdict, Verdict::MayUpdate);
    });
}

/// CRUD-9, UNKNOWN-1: without a prior state too, which it can tell.
#[test]
fn a_plan_hook_sees_configuration_inputs_and_whether_there_is_a_prior_state() {
    trueup::run(async {
        let provider = NativeProvider::new("x").crud::<Witness>("witness");
        let driver = Driver::new(provider, "x_witness", &value!({})).await.unwrap();
        let seen = |answer: PlanAnswer| (answer.verdict, answer.outputs.get("seen").cloned());
        let create = driver.plan(&driver.inputs(&value!({ size: 1 })).unwrap(), None, None).await.unwrap();
        assert_eq!(seen(create), (Verdict::Create, Some(value!("configured, size 1, no prior state"))));
        let state = created(&driver, &value!({ size: 1 })).await;
        let update = plan(&driver, &value!({ size: 3 }), &state).await;
        let told = value!("configured, size 3, prior size Some(1) weight 2");
        assert_eq!(seen(update), (Verdict::Update, Some(told)));
        let unknown = value!({}).with_entry("size", Value::unknown(Type::Number));
        let may_update = plan(&driver, &unknown, &state).await;
        let told = value!("configured, size unknown, prior size Some(1) weight 2");
        assert_eq!(seen(may_update), (Verdict::MayUpdate, Some(told)));
        // UNKNOWN-9: what is marked leads to an update, unless it is replaced anyway.
        assert_eq!(plan(&driver, &value!({ size: 1 }), &state).await.verdict, Verdict::Update);
        let moved = value!({ size: 1, place: "elsewhere" });
        assert_eq!(plan(&driver, &moved, &state).await.verdict, Verdict::Replace);
    });
}
