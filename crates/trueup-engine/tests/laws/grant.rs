//! What is done is what was planned.

use proptest::prelude::*;
use trueup_engine::{Action, Plan, PlannedAction};

use crate::laws::cases;
use crate::laws::course::Course;
use crate::laws::sketch::{Sketch, name, scenario};

proptest! {
    #![proptest_config(cases())]

    /// INV-3, INV-6, UNKNOWN-10, PLAN-17: and what was certain is done.
    #[test]
    fn every_call_is_granted_by_the_plan(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            let planned = course.plan(&edited.sketch);
            course.bench.world.calls();
            let Some(report) = course.deploy(&edited.sketch) else {
                prop_assert!(course.bench.world.calls().iter().all(|call| !is_change(call)));
                continue;
            };
            prop_assert_eq!(planned.as_ref(), Some(&report.plan), "what was planned is what ran");
            let calls = course.bench.world.calls();
            expect_granted(&report.plan, &edited.sketch, &calls);
        }
    }
}

fn is_change(call: &str) -> bool {
    ["create ", "update ", "delete "].iter().any(|operation| call.starts_with(operation))
}

fn expect_granted(plan: &Plan, sketch: &Sketch, calls: &[String]) {
    let made: usize = plan.actions.iter().map(|action| expect_of(action, sketch, calls)).sum();
    let all = calls.iter().filter(|call| is_change(call)).count();
    assert_eq!(made, all, "some call was about no planned resource: {calls:?}\n{plan}");
}

/// Compares the calls for a resource with its action; how many changed something.
fn expect_of(action: &PlannedAction, sketch: &Sketch, calls: &[String]) -> usize {
    let own = action.address.name();
    let count = |operation: &str| calls.iter().filter(|call| **call == format!("{operation} {own}")).count();
    let made = (count("create"), count("update"), count("delete"));
    let retained = sketch.items.iter().any(|(number, item)| name(*number) == own && item.options.retain);
    let old = usize::from(!retained);
    let allowed: &[(usize, usize, usize)] = match action.action {
        Action::NoOp | Action::Read | Action::Forget => &[(0, 0, 0)],
        Action::MayUpdate => &[(0, 0, 0), (0, 1, 0)],
        Action::Update => &[(0, 1, 0)],
        Action::MayReplace => &[(0, 0, 0), (0, 1, 0), (1, 0, old)],
        Action::Replace => &[(1, 0, old)],
        Action::Create => &[(1, 0, 0)],
        Action::Delete => &[(0, 0, 1)],
    };
    assert!(allowed.contains(&made), "{} has action {:?} and calls {made:?}", action.address, action.action);
    made.0 + made.1 + made.2
}
