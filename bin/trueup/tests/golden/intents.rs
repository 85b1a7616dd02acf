//! Interrupted operations in golden state: the plan decides about each, and a deploy finishes them.

use serde_json::{Map, Value as Json};

use crate::golden::expectation::assert_expected;
use crate::golden::place::Place;
use crate::golden::workplace::Workplace;
use crate::golden::{Golden, STACKS};

/// The plan of a stack. Where a person has to settle something first, the plan of each record by itself.
pub(crate) fn plan(workplace: &Workplace) -> Json {
    let plan = decisions(workplace, "plan --json");
    if plan["kind"] == "plan" {
        return plan;
    }
    let plans = workplace.addresses().into_iter().map(|address| {
        let plan = decisions(workplace, &format!("plan --json --target {address}"));
        (address, plan)
    });
    Json::from(plans.collect::<Map<_, _>>())
}

/// A plan without the recorded outputs, which are random in part.
fn decisions(workplace: &Workplace, command: &str) -> Json {
    let mut plan = workplace.json(command);
    for action in plan.get_mut("actions").and_then(Json::as_array_mut).into_iter().flatten() {
        action.as_object_mut().unwrap().remove("outputs");
    }
    plan
}

/// The expectation of a stack, the same for all stores.
pub(crate) fn expected(stack: &str) -> String {
    format!("expected/planned/{stack}.json")
}

fn check_plans(golden: &Golden, workplace_of: impl Fn(&str) -> Workplace) {
    for stack in STACKS {
        assert_expected(golden, &expected(stack), &plan(&workplace_of(stack)));
    }
}

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6, RETRY-4
#[test]
fn golden_intents_in_sqlite_are_decided() {
    Golden::each(|golden| {
        check_plans(golden, |stack| Workplace::with_state_file(golden, stack));
    });
}

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6, RETRY-4
#[test]
fn golden_intents_in_postgres_are_decided() {
    Golden::each(|golden| {
        let Some(place) = Place::in_postgres() else { return };
        place.restore(golden);
        check_plans(golden, |stack| place.workplace(golden, stack));
    });
}

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6, RETRY-4
#[test]
fn golden_intents_in_s3_are_decided() {
    Golden::each(|golden| {
        let Some(place) = Place::in_s3() else { return };
        place.restore(golden);
        check_plans(golden, |stack| place.workplace(golden, stack));
    });
}

/// CRASH-7, STATE-4: a deploy takes over the lease of the dead run, and finishes what that run began.
#[test]
fn golden_intents_in_sqlite_are_finished_by_a_deploy() {
    Golden::each(|golden| {
        finish(&Workplace::with_state_file(golden, "cut"), &Workplace::with_state_file(golden, "rare"));
    });
}

/// CRASH-7, STATE-4
#[test]
fn golden_intents_in_postgres_are_finished_by_a_deploy() {
    Golden::each(|golden| {
        let Some(place) = Place::in_postgres() else { return };
        place.restore(golden);
        finish(&place.workplace(golden, "cut"), &place.workplace(golden, "rare"));
    });
}

fn finish(cut: &Workplace, rare: &Workplace) {
    cut.refused("deploy --yes", "the outcome of an earlier create is unknown");
    cut.done("state resolve std_exec.blind --absent --yes");
    // Nothing can finish or replace an object that was found, until the program says that it needs neither.
    cut.refused("deploy --yes", "it has neither `update` to finish it nor `delete`");
    cut.accept_found("looked_up");
    for workplace in [cut, rare] {
        workplace.done("deploy --yes");
        assert_eq!(workplace.run("plan --detailed-exitcode").code, 0);
        let list = workplace.json("state list --json");
        let open = list["records"].as_array().unwrap().iter().filter(|it| it["status"] != "ready");
        assert_eq!(open.collect::<Vec<_>>(), Vec::<&Json>::new());
    }
}
