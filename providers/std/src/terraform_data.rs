//! `terraform_data`: keeps a value, and is replaced when another changes, as the type built into Terraform.

use trueup_core::{Type, Value};
use trueup_provider::{
    Context, Crud, Inputs, ModifyPlan, Outputs, PlanHook, Planned, Prior, Recovery, Result, Traits,
};

use crate::random::uuid;
use crate::surroundings::Randomness;

/// Keeps a value in state, and has a life of its own: something to hang triggers on. It is what Terraform 1.11 has built
/// in, apart from provisioners.
#[derive(Inputs)]
pub struct TerraformData {
    /// Any value. It is known as `output` once the resource is applied.
    input: Option<Value>,
    /// Any value; a change of it replaces the resource, and with `replace_triggered_by` others too.
    #[trueup(replace)]
    triggers_replace: Option<Value>,
}

/// What is kept.
#[derive(Outputs, Clone)]
pub struct TerraformDataOutput {
    /// A UUID, another one after each replacement.
    #[trueup(identity, stable)]
    id: String,
    /// The value of `input`.
    output: Option<Value>,
}

impl Crud for TerraformData {
    type Output = TerraformDataOutput;
    type Config = Randomness;

    fn traits() -> Traits {
        Traits { in_records: true, importable: false, ..Traits::default() }
    }

    /// There is nothing outside of which a second one could be made.
    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context<Randomness>) -> Result<TerraformDataOutput> {
        Ok(TerraformDataOutput { id: uuid(context.config())?, output: self.input.clone() })
    }

    async fn read(
        &self,
        _: &Context<Randomness>,
        prior: &TerraformDataOutput,
    ) -> Result<TerraformDataOutput> {
        Ok(prior.clone())
    }

    async fn update(&self, _: &Context<Randomness>, prior: &Prior<Self>) -> Result<TerraformDataOutput> {
        Ok(TerraformDataOutput { id: prior.outputs.id.clone(), output: self.input.clone() })
    }

    async fn delete(&self, _: &Context<Randomness>, _: &TerraformDataOutput) -> Result<()> {
        Ok(())
    }

    /// `output` is null where `input` is, and otherwise unknown whenever it is made anew: Terraform promises no more, and
    /// programs rely on it to put off what depends on it until apply.
    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let equal = |current: &Planned<Option<Value>>, prior: &Option<Value>| {
            let same = |current: &Option<Value>| match (current, prior) {
                (Some(current), Some(prior)) => current.same(prior),
                (current, prior) => current.is_none() == prior.is_none(),
            };
            current.known().is_some_and(same)
        };
        let prior = request.prior_inputs();
        let kept = prior.is_some_and(|prior| {
            equal(&request.current.input, &prior.input)
                && equal(&request.current.triggers_replace, &prior.triggers_replace)
        });
        match &request.current.input {
            _ if kept => Ok(()),
            Planned::Known(None) => plan.set_output("output", &Value::NULL),
            // The type of an object tells its keys, which are as secret as the object.
            Planned::Known(Some(input)) => plan.set_output(
                "output",
                &Value::unknown(Type::of_recorded(input)).with_marks(input.all_marks()),
            ),
            Planned::Unknown => plan.set_output("output", &Value::unknown(Type::Any)),
        }
    }
}
