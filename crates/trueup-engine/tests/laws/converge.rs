//! Deploying leads where the program says, and planning only looks.

use proptest::prelude::*;

use crate::laws::cases;
use crate::laws::course::Course;
use crate::laws::sketch::{Scenario, scenario};

proptest! {
    #![proptest_config(cases())]

    /// INV-4, PLAN-2, APPLY-3: and records and cloud are as the program says.
    #[test]
    fn after_a_deploy_nothing_is_left_to_do(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        nothing_is_left(&course);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            if course.deploy(&edited.sketch).is_some() {
                nothing_is_left(&course);
            }
        }
    }

    /// INV-14, PLAN-15, PLAN-16, STATE-5
    #[test]
    fn plans_are_equal_and_change_nothing(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            planning_is_pure(&mut course, &edited.sketch);
            course.deploy(&edited.sketch);
        }
    }

    /// DELETE-4, DELETE-7, INV-1
    #[test]
    fn destroy_leaves_nothing_but_what_is_retained(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        deploy_all(&mut course, &scenario);
        let unguarded = course.deployed.clone().unguarded();
        course.deploy(&unguarded).expect("nothing stands in the way");
        let nothing = crate::laws::sketch::Sketch::default();
        let retained = course.retained(&nothing);
        course.left.extend(retained);
        let report = course.bench.destroy();
        prop_assert!(report.succeeded(), "{:#?}", report.outcomes);
        prop_assert!(course.bench.records().is_empty());
        let there: Vec<u64> = course.bench.world.cloud().things.keys().copied().collect();
        prop_assert!(there.iter().all(|id| course.left.contains(id)), "{there:?}");
        prop_assert!(course.bench.destroy().plan.is_empty());
    }
}

fn nothing_is_left(course: &Course) {
    course.expect_settled();
    let plan = course.plan(&course.deployed).expect("what was deployed can be planned");
    assert!(plan.is_empty() && plan.summary() == "No changes", "{plan}");
}

fn planning_is_pure(course: &mut Course, sketch: &crate::laws::sketch::Sketch) {
    let before = (course.bench.records(), course.bench.world.cloud().things.clone());
    course.bench.world.calls();
    let first = course.plan(sketch);
    assert_eq!(first, course.plan(sketch), "the same once more");
    course.bench.options.plan.parallelism = 1;
    assert_eq!(first, course.plan(sketch), "one call at a time");
    course.bench.options.plan.parallelism = 10;
    let mut reversed = sketch.program();
    reversed.resources.reverse();
    if let Some(plan) = first {
        assert_eq!(plan, course.bench.try_plan(&reversed).unwrap(), "declared in another order");
    }
    let calls = course.bench.world.calls();
    let looks = |call: &String| call.starts_with("read ") || call.starts_with("lookup ");
    assert!(calls.iter().all(looks), "{calls:?}");
    assert_eq!(before, (course.bench.records(), course.bench.world.cloud().things.clone()));
}

fn deploy_all(course: &mut Course, scenario: &Scenario) {
    for edits in &scenario.rounds {
        let edited = course.edit(edits);
        course.deploy(&edited.sketch);
    }
}
