//! An object's ordinary life: create, read, update, replace, delete.

use trueup_core::schema::Attribute;
use trueup_core::{Value, diff};
use trueup_provider::{Observed, State, Verdict};

use super::{Checked, Stop, ensure, needs};
use crate::kit::Kit;

pub(crate) async fn what_create_answers_is_what_read_finds(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    let answer = kit.driver.with_fresh_token().apply(&desired, None, None).await?;
    let observed = kit.observe(&desired, &answer).await?;
    let drift = kit.driver.handler().drift(&answer, &observed);
    kit.remove(&desired, &answer).await?;
    ensure(drift.is_empty(), || {
        let paths: Vec<String> = drift.iter().map(|change| change.path.to_string()).collect();
        format!("read finds other values for {}", paths.join(", "))
    })
}

pub(crate) async fn planned_outputs_come_true(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    let plan = kit.driver.plan(&desired, None, None).await?;
    ensure(plan.verdict == Verdict::Create, || format!("the plan for a new object says {:?}", plan.verdict))?;
    let answer = kit.driver.with_fresh_token().apply(&desired, None, None).await?;
    kit.remove(&desired, &answer).await?;
    Kit::ensure_as_planned(&plan.outputs, &answer.outputs)
}

/// Apply, then plan: nothing is left to do.
pub(crate) async fn a_plan_after_create_is_empty(kit: &Kit) -> Checked {
    let (desired, state) = kit.created().await?;
    let no_op = kit.ensure_no_op(&desired, &state).await;
    kit.remove(&desired, &state).await?;
    no_op
}

/// RECONCILE-3
pub(crate) async fn applying_twice_changes_nothing(kit: &Kit) -> Checked {
    let (desired, state) = kit.created().await?;
    let before = kit.count().await;
    let again = kit.driver.apply(&desired, Some(&state), Some(&state)).await?;
    let after = kit.count().await;
    kit.remove(&desired, &again).await?;
    let outputs = |state: &State| outputs_without(kit, state, |it| it.volatile || it.informational);
    ensure(outputs(&state).same(&outputs(&again)), || "the second time gave other outputs".to_owned())?;
    ensure(before == after, || format!("the second time made {before:?} objects {after:?}"))
}

pub(crate) async fn an_update_reaches_the_new_inputs(kit: &Kit) -> Checked {
    let updated = needs(kit.updated.as_ref(), "inputs for an update")?;
    let (desired, state) = kit.created().await?;
    let updated = kit.driver.inputs(updated)?;
    let plan = kit.driver.plan(&updated, Some(&state), Some(&state)).await?;
    if plan.verdict != Verdict::Update {
        kit.remove(&desired, &state).await?;
        return Err(Stop::Failed(format!("the plan for changed inputs says {:?}", plan.verdict)));
    }
    let answer = kit.driver.apply(&updated, Some(&state), Some(&state)).await?;
    let no_op = kit.ensure_no_op(&updated, &answer).await;
    kit.remove(&updated, &answer).await?;
    no_op?;
    Kit::ensure_as_planned(&plan.outputs, &answer.outputs)?;
    // The law behind it: an update ends where a create with the same inputs would have.
    let fresh = kit.driver.with_fresh_token().apply(&updated, None, None).await?;
    kit.remove(&updated, &fresh).await?;
    let own = |attribute: &Attribute| attribute.identity || attribute.create_only || attribute.stable;
    let outputs =
        |state: &State| outputs_without(kit, state, |it| own(it) || it.volatile || it.informational);
    let differing: Vec<String> =
        diff(&outputs(&fresh), &outputs(&answer)).iter().map(|change| change.path.to_string()).collect();
    ensure(differing.is_empty(), || {
        format!("a create with the same inputs gives other values for {}", differing.join(", "))
    })
}

/// REPLACE-1, or REPLACE-2 where the type or an unchanged identity asks for it.
pub(crate) async fn a_replacement_makes_another_object(kit: &Kit) -> Checked {
    let replaced = needs(kit.replaced.as_ref(), "inputs for a replacement")?;
    let (desired, old) = kit.created().await?;
    let replaced = kit.driver.inputs(replaced)?;
    let plan = match kit.driver.plan(&replaced, Some(&old), Some(&old)).await {
        Ok(plan) => plan,
        Err(failure) => {
            // Left behind, it would be in the way of the checks that follow.
            kit.remove(&desired, &old).await?;
            return Err(failure.into());
        }
    };
    if plan.verdict != Verdict::Replace || plan.replace_paths.is_empty() {
        kit.remove(&desired, &old).await?;
        let why = format!("the plan says {:?}, forced by {:?}", plan.verdict, plan.replace_paths);
        return Err(Stop::Failed(why));
    }
    let next = kit.driver.next_generation();
    let planned = next.plan(&replaced, None, None).await?;
    let identity = &kit.driver.handler().schema().identity(Some(&replaced.effective), &planned.outputs);
    let same_place = identity.is_some() && *identity == identity_of_inputs(kit, &desired.effective);
    if plan.delete_first || same_place {
        kit.remove(&desired, &old).await?;
        let new = next.apply(&replaced, None, None).await?;
        return Ok(next.delete(&replaced, &new).await?);
    }
    let new = next.apply(&replaced, None, None).await?;
    let both_there = kit.observe(&desired, &old).await.is_ok();
    kit.remove(&desired, &old).await?;
    let left = next.read(&replaced, &new).await?;
    next.delete(&replaced, &new).await?;
    ensure(both_there, || "making the new object took the old one away".to_owned())?;
    ensure(left != Observed::Absent, || "deleting the old object took the new one away".to_owned())
}

/// The outputs of an object, less those of which something holds.
fn outputs_without(kit: &Kit, state: &State, left_out: impl Fn(&Attribute) -> bool) -> Value {
    let attributes = &kit.driver.handler().schema().outputs.attributes;
    let kept = attributes.iter().filter(|(_, attribute)| !left_out(attribute));
    Value::object(kept.filter_map(|(name, _)| Some((name.clone(), state.outputs.get(name)?.clone()))))
}

/// The identity as far as inputs tell it.
fn identity_of_inputs(kit: &Kit, inputs: &Value) -> Option<Value> {
    kit.driver.handler().schema().identity(Some(inputs), &Value::object::<&str>([]))
}

/// DELETE-2
pub(crate) async fn deleting_twice_succeeds(kit: &Kit) -> Checked {
    let (desired, state) = kit.created().await?;
    kit.remove(&desired, &state).await?;
    kit.remove(&desired, &state).await?;
    match kit.driver.read(&desired, &state).await? {
        Observed::Present(_) if !kit.kept_in_state => {
            Err(Stop::Failed("a deleted object still reads as present".to_owned()))
        }
        Observed::Present(_) | Observed::Absent | Observed::Unreadable => Ok(()),
    }
}

/// CRUD-10
pub(crate) async fn a_newer_record_is_refused(kit: &Kit) -> Checked {
    let version = kit.driver.handler().schema().version;
    let outputs = Value::object::<&str>([]);
    let newer =
        State { inputs: None, outputs, private: Vec::new(), schema_version: version + 1, identity: None };
    ensure(kit.driver.migrate(newer).await.is_err(), || "it was taken for a current one".to_owned())
}
