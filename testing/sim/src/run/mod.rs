//! Letting a scenario happen: `operate` runs one step, `kill` drives processes and cuts them off, `settle` lets everything
//! come to rest and compares it with the program.

mod kill;
mod operate;
mod person;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use trueup_state::{Record, RecordId, Scope, Snapshot, Store};

use crate::clock::SimClock;
use crate::cloud::Cloud;
use crate::invariants::{Violation, acknowledged_writes_survive, every_object_is_held};
use crate::log::Log;
use crate::scenario::{STACK, STAGE, Scenario, Sketch};
use crate::store::Disk;
use crate::tally::Tally;

/// What a simulation came to.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    /// The first invariant that did not hold, if any.
    pub violation: Option<Violation>,
    /// The log in words, if it was asked for.
    pub trace: Vec<(Duration, String)>,
    /// How many points the process of each step passed.
    pub points: Vec<u64>,
    /// How many processes ran.
    pub processes: u64,
    /// What is in the cloud at the end, up to ids.
    pub end: Vec<String>,
    /// How many changes were left to do when the steps were over.
    pub work_left: u64,
    /// How often what happened.
    pub tally: Tally,
}

/// Lets a scenario happen.
pub fn simulate(scenario: &Scenario, traced: bool) -> Simulated {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("there is no room for a runtime: {error}"));
    runtime.block_on(async {
        let mut world = World::new(scenario.seed, traced);
        for (at, step) in scenario.steps.iter().enumerate() {
            world.log.note(|| format!("--- step {}", at + 1));
            world.perform(step).await;
            if world.log.violation().is_some() {
                return world.conclude();
            }
        }
        world.log.note(|| "--- everything is let settle".to_owned());
        world.settle().await;
        world.conclude()
    })
}

/// All that a scenario happens in.
struct World {
    seed: u64,
    clock: SimClock,
    log: Log,
    cloud: Cloud,
    disk: Disk,
    sketch: Sketch,
    upgraded: bool,
    /// How many seconds wall clocks are ahead.
    ahead_s: i64,
    processes: u64,
    points: Vec<u64>,
    end: Vec<String>,
    work_left: u64,
}

impl World {
    fn new(seed: u64, traced: bool) -> Self {
        let clock = SimClock::new();
        let log = Log::new(clock.clone(), traced);
        let cloud = Cloud::new(clock.clone(), log.clone(), seed);
        World {
            seed,
            disk: Disk::new(clock.clone(), log.clone(), cloud.clone(), seed),
            cloud,
            clock,
            log,
            sketch: Sketch::default(),
            upgraded: false,
            ahead_s: 0,
            processes: 0,
            points: Vec::new(),
            end: Vec::new(),
            work_left: 0,
        }
    }

    fn conclude(self) -> Simulated {
        Simulated {
            violation: self.log.violation(),
            trace: self.log.lines(),
            points: self.points,
            processes: self.processes,
            end: self.end,
            work_left: self.work_left,
            tally: self.log.tally(),
        }
    }

    /// What the store holds, as someone sees it from outside.
    fn snapshot(&self) -> Snapshot {
        at_once(self.disk.memory().load(&scope())).unwrap_or_default()
    }

    /// What must hold whenever nothing runs.
    fn judge_at_rest(&self) {
        // What is still on its way belongs to a process that was just killed; it arrives before anyone else may begin.
        self.cloud.truth();
        let stored: BTreeMap<RecordId, Arc<Record>> =
            self.snapshot().records.into_iter().map(|(record, _)| (record.id, record)).collect();
        let journal = |id| at_once(self.disk.memory().journal(&scope(), id)).unwrap_or_default();
        self.log.judge(every_object_is_held);
        self.log.judge(|watch| acknowledged_writes_survive(watch, &stored, journal));
    }
}

/// The stack and stage that everything is about.
fn scope() -> Scope {
    Scope::new(STACK, STAGE)
}

/// The answer of something that never waits, as the memory store does not.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap_or_else(|| unreachable!("memory answers at once"))
}
