//! The end of every scenario: nothing goes wrong any more, the program stays as it is, and all must come to rest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, AddressRange};
use trueup_engine::{Action, EngineError, Plan, PlannedAction};
use trueup_program::Program;
use trueup_provider::Clock;
use trueup_state::{Generation, Record};

use super::World;
use super::operate::Ending;
use crate::cloud::{Kind, Lateness, Weather, canonical};
use crate::invariants::{Violation, converged, pure};
use crate::scenario::Operation;
use crate::store::StoreFaults;
use crate::tally::Ingredient;

/// How many deploys it may take: one that finds what only a person can settle, one that plans anew what it could not
/// know, one that does it, one that cleans up what was found on the way.
const DEPLOYS_MAX: usize = 4;

/// The name of a recorded leaf.
fn leaf_name(generation: &Generation) -> Option<String> {
    let path = generation.inputs()?.effective.get("path")?.as_str()?;
    Some(canonical(Kind::Leaf, path))
}

/// Whether nothing is left to do but to delete older generations.
fn only_cleans_up(plan: &Plan) -> bool {
    !plan.is_empty() && plan.moves.is_empty() && plan.actions.iter().all(|it| it.action == Action::NoOp)
}

/// Whether nothing is left to do but to make and mend pools: one that was made while another resource gave its object up may
/// have got that object, and the repeat of an interrupted create changes the object of another resource. Their users wait to
/// see what comes of that.
fn only_mends_pools(plan: &Plan) -> bool {
    let mends_pool = |it: &PlannedAction| {
        matches!(it.action, Action::Create | Action::Update) && it.address.type_name() == "s_pool"
    };
    let waits =
        |it: &PlannedAction| matches!(it.action, Action::NoOp | Action::MayUpdate | Action::MayReplace);
    plan.actions.iter().any(mends_pool) && plan.actions.iter().all(|it| waits(it) || mends_pool(it))
}

impl World {
    pub(super) async fn settle(&mut self) {
        self.cloud.set_weather(Weather::fair(), Lateness::default());
        self.disk.set_faults(StoreFaults::default());
        self.clock.sleep(Duration::from_secs(300)).await;
        self.cloud.truth();
        let before = self.effects();
        self.sketch = std::mem::take(&mut self.sketch).unguarded();
        self.ask_a_person(false).await;
        let program = self.sketch.program();
        // Whether there is a plan with all that was left behind is not said; that it is the same twice is.
        let _ = self.judge_planning(&program).await;
        let mut last = String::new();
        let mut done = false;
        for _ in 0..DEPLOYS_MAX {
            let started = self.start(&[], &Operation::Deploy, 10);
            let options = self.options(&Operation::Deploy, 10);
            match self.operate(&started, &program, &options, &Operation::Deploy).await {
                Ending::Done => done = true,
                Ending::Failed(why) => {
                    last = why;
                    self.make_room(&program).await;
                }
                Ending::Killed => {}
            }
            self.judge_at_rest();
            // What is older and was found only at apply is cleaned up by the next plan.
            let is_unfinished = |plan: &Plan| only_cleans_up(plan) || only_mends_pools(plan);
            if done && self.judge_planning(&program).await.is_ok_and(|plan| is_unfinished(&plan)) {
                done = false;
                continue;
            }
            if done || self.log.violation().is_some() {
                break;
            }
            self.ask_a_person(true).await;
        }
        if !done {
            self.log.judge(|_| {
                Err(Violation { invariant: "INV-4", what: format!("no deploy succeeds: {last}") })
            });
            return;
        }
        match self.judge_planning(&program).await {
            Ok(plan) => self.log.judge(|_| converged::deploy_converges(&plan)),
            Err(error) => {
                let what = format!("no plan is made: {error}");
                self.log.judge(|_| Err(Violation { invariant: "INV-4", what }));
            }
        }
        let (truth, regions) = (self.cloud.truth(), self.cloud.regions());
        self.log.judge(|watch| converged::objects_are_in_place(watch, &self.sketch, &regions));
        self.log.judge(|watch| converged::cloud_is_as_the_program_says(watch, &self.sketch, &truth));
        self.end = self.log.ask(|watch| converged::shown(watch, &truth));
        self.work_left = self.effects() - before;
    }

    /// Does as the error says if a leaf has the name of something that was removed and is still there: deploys that change
    /// first, alone.
    async fn make_room(&mut self, program: &Program) {
        let excludes = self.displaced();
        if excludes.is_empty() {
            return;
        }
        let started = self.start(&[], &Operation::Deploy, 10);
        let mut options = self.options(&Operation::Deploy, 10);
        options.plan.excludes = excludes;
        self.operate(&started, program, &options, &Operation::Deploy).await;
    }

    /// The leaves without an object whose names something has that is no longer declared.
    fn displaced(&self) -> Vec<AddressRange> {
        let leaves = self.sketch.items.iter().filter(|(_, item)| item.kind == Kind::Leaf);
        let leaves =
            leaves.map(|(number, item)| (self.sketch.address(*number), canonical(Kind::Leaf, &item.name())));
        let declared: BTreeMap<Address, String> = leaves.collect();
        self.log.ask(|watch| {
            let has_object = |address: &Address| {
                let current = watch.record_at(address).and_then(|record| record.current.as_ref());
                current.is_some_and(|current| current.object.is_some())
            };
            let is_removed =
                |it: &&Arc<Record>| it.address.type_name() == "s_leaf" && !declared.contains_key(&it.address);
            let removed = watch.records.values().filter(is_removed);
            let taken: Vec<String> =
                removed.flat_map(|record| record.generations()).filter_map(leaf_name).collect();
            let displaced =
                declared.iter().filter(|(address, name)| !has_object(address) && taken.contains(name));
            displaced.map(|(address, _)| address.clone().into()).collect()
        })
    }

    /// Plans twice, in a process that has nothing approved and so may change nothing.
    async fn judge_planning(&mut self, program: &Program) -> Result<Plan, String> {
        let options = self.options(&Operation::Deploy, 10);
        let started = self.start(&[], &Operation::Deploy, 10);
        let told = |error: EngineError| error.to_string();
        let one = started.reconciler.plan(program, &options.plan).await.map_err(told);
        let other = started.reconciler.plan(program, &options.plan).await.map_err(told);
        self.log.judge(|_| pure::plans_are_equal(&one, &other));
        one
    }

    /// How many changes the engine has made in the cloud.
    fn effects(&self) -> u64 {
        let tally = self.log.tally();
        [Ingredient::Created, Ingredient::Changed, Ingredient::Deleted].map(|it| tally.of(it)).iter().sum()
    }
}
