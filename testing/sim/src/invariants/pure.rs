//! INV-14: plans are deterministic and change nothing.

use trueup_engine::Plan;

use super::model::Watch;
use super::{Judged, require};
use crate::cloud::Who;
use crate::log::Happened;

/// Until its plan is approved, a process has no effect.
pub(super) fn planning_changes_nothing(watch: &Watch, happened: &Happened) -> Judged {
    let (process, what) = match happened {
        Happened::Effect { who: Who::Engine(caller), object, .. } => (caller.process, object.clone()),
        Happened::Committed { process, sequence, .. } => (*process, format!("commit {sequence}")),
        _ => return Ok(()),
    };
    let approved = watch.processes.get(&process).is_some_and(|it| it.plan.is_some() || it.orders.by_hand);
    require(approved, "INV-14", || format!("process {process} had no plan approved, and yet: {what}"))
}

/// Two plans of the same are the same.
pub(crate) fn plans_are_equal(one: &Result<Plan, String>, other: &Result<Plan, String>) -> Judged {
    let told = |plan: &Result<Plan, String>| plan.as_ref().map_or_else(String::clone, Plan::to_string);
    require(one == other, "INV-14", || {
        format!("two plans of one program:\n{}\nand\n{}", told(one), told(other))
    })
}
