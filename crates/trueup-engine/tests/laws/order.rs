//! Nothing comes before what it depends on, and nothing goes before what depends on it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trueup_engine::{Plan, ReplaceOrder};
use trueup_state::Record;

use crate::laws::cases;
use crate::laws::course::Course;
use crate::laws::sketch::{Sketch, name, scenario};

proptest! {
    #![proptest_config(cases())]

    /// INV-10, APPLY-1
    #[test]
    fn changes_come_after_those_of_what_they_depend_on(scenario in scenario(12)) {
        for run in runs(&scenario) {
            for number in run.sketch.items.keys() {
                for dependency in run.sketch.dependencies(*number) {
                    run.expect(&run.begun(&name(*number)), Follows, &run.ended(&name(dependency)));
                }
            }
        }
    }

    /// INV-10, DELETE-1: by what was recorded, whether it is removed or replaced, and however.
    #[test]
    fn deletes_come_before_those_of_what_they_depended_on(scenario in scenario(12)) {
        for run in runs(&scenario) {
            for (dependent, dependency) in run.recorded_edges() {
                run.expect(&run.deleted(&dependent), Precedes, &run.deleted(&dependency));
            }
        }
    }

    /// APPLY-9, REPLACE-1: unless they have to wait until something is deleted first.
    #[test]
    fn consumers_move_off_before_what_they_used_is_deleted(scenario in scenario(12)) {
        for run in runs(&scenario) {
            for (dependent, dependency) in run.recorded_edges() {
                if !run.waits_for_delete_first(&dependent) {
                    run.expect(&run.ended(&dependent), Precedes, &run.deleted(&dependency));
                }
            }
        }
    }

    /// REPLACE-1, REPLACE-2: also where it was not certain that anything is replaced.
    #[test]
    fn replacements_go_in_the_order_that_was_planned(scenario in scenario(12)) {
        for run in runs(&scenario) {
            for own in run.sketch.items.keys().copied().map(name) {
                match run.replace_order(&own) {
                    Some(ReplaceOrder::CreateFirst) => run.expect(&run.ended(&own), Precedes, &run.deleted(&own)),
                    Some(ReplaceOrder::DeleteFirst) => run.expect(&run.begun(&own), Follows, &run.deleted(&own)),
                    None => {}
                }
            }
        }
    }
}

/// One deploy: the program, what was recorded before, the plan and the calls in order.
struct RunSeen {
    sketch: Sketch,
    before: BTreeMap<String, Record>,
    plan: Plan,
    calls: Vec<String>,
}

use Relation::{Follows, Precedes};

#[derive(Clone, Copy, Debug)]
enum Relation {
    Follows,
    Precedes,
}

/// The deploys of a scenario, and the destroy at its end.
fn runs(scenario: &crate::laws::sketch::Scenario) -> Vec<RunSeen> {
    let mut course = Course::new(scenario);
    let mut runs = Vec::new();
    for edits in &scenario.rounds {
        let edited = course.edit(edits);
        let before = course.bench.records();
        course.bench.world.calls();
        if let Some(report) = course.deploy(&edited.sketch) {
            let calls = course.bench.world.calls();
            runs.push(RunSeen { sketch: edited.sketch, before, plan: report.plan, calls });
        }
    }
    let unguarded = course.deployed.clone().unguarded();
    course.deploy(&unguarded).expect("nothing stands in the way");
    let before = course.bench.records();
    course.bench.world.calls();
    let plan = course.bench.destroy().plan;
    runs.push(RunSeen { sketch: Sketch::default(), before, plan, calls: course.bench.world.calls() });
    runs
}

impl RunSeen {
    fn at(&self, operations: &[&str], own: &str) -> Vec<usize> {
        let wanted: Vec<String> = operations.iter().map(|operation| format!("{operation} {own}")).collect();
        (0..self.calls.len()).filter(|at| wanted.contains(&self.calls[*at])).collect()
    }

    /// When creates and updates of a resource began.
    fn begun(&self, own: &str) -> Vec<usize> {
        self.at(&["create", "update"], own)
    }

    /// When they ended.
    fn ended(&self, own: &str) -> Vec<usize> {
        self.at(&["created", "update"], own)
    }

    fn deleted(&self, own: &str) -> Vec<usize> {
        self.at(&["delete"], own)
    }

    /// Dependents and what they depended on before the run.
    fn recorded_edges(&self) -> Vec<(String, String)> {
        let edges = self.before.iter().flat_map(|(own, record)| {
            record.meta.dependencies.iter().map(|dependency| (own.clone(), dependency.name().to_owned()))
        });
        edges.collect()
    }

    fn replace_order(&self, own: &str) -> Option<ReplaceOrder> {
        self.plan.actions.iter().find(|action| action.address.name() == own)?.replace_order
    }

    /// Whether a resource, or anything it depends on, is replaced delete-first.
    fn waits_for_delete_first(&self, own: &str) -> bool {
        let deleted_first =
            |number: &&usize| self.replace_order(&name(**number)) == Some(ReplaceOrder::DeleteFirst);
        let number = self.sketch.items.keys().find(|number| name(**number) == own);
        let mut first = self.sketch.items.keys().filter(deleted_first);
        number.is_some_and(|number| first.any(|other| self.sketch.reaches(*number, *other)))
    }

    /// Expects that all of one come before or after all of the other.
    fn expect(&self, ones: &[usize], relation: Relation, others: &[usize]) {
        for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other))) {
            let holds = match relation {
                Follows => one > other,
                Precedes => one < other,
            };
            let [first, second] = [&self.calls[one], &self.calls[other]];
            assert!(holds, "`{first}` {relation:?} `{second}`: {:?}\n{}", self.calls, self.plan);
        }
    }
}
