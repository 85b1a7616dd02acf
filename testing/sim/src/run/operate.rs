//! One step of a scenario: changes by hand, then an operation, alone or beside a rival.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trueup_core::AddressRange;
use trueup_engine::{
    Cancellation, DeployOptions, Deployed, EngineError, Event, EventSink, Holder, Outcome, Reconciler,
    SeededRandom, Subscriber,
};
use trueup_program::{Program, RetryPolicy};
use trueup_provider::Clock;
use trueup_state::{Acquired, Holder as LeaseHolder, Store};

use super::kill::{Driven, drive};
use super::{World, at_once, scope};
use crate::actor;
use crate::cloud::{HOME, Line, Weather};
use crate::invariants::{Violation, canaries_appear_nowhere, shown, stopping};
use crate::log::{Happened, Orders};
use crate::process::{Incident, Process};
use crate::scenario::{Edit, Operation, STAGE, Step};
use crate::tally::Ingredient;
use crate::types::registry;

/// How long a lease lasts without renewal.
const LEASE_TERM: Duration = Duration::from_secs(60);

/// How long one call may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How long a process may go on without the lease that was taken from it: until it would renew it, and what it has sent
/// by then has arrived.
const NOTICED_AFTER: Duration = Duration::from_secs(30);

/// How long a process may go on once it was told to stop: retries, time-outs and read-backs of what is under way.
const STOPPING_MAX: Duration = Duration::from_secs(3_600);

/// A process that can be started: an engine of its own, on the same store and cloud.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) reconciler: Reconciler,
    pub(super) cancellation: Cancellation,
    events: EventSink,
    heard: Heard,
}

/// A subscriber that remembers the events of a process, each as a line of JSON.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Subscriber for Heard {
    fn receive(&mut self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.to_json());
    }
}

/// How an operation ended, as far as whoever started it can tell.
pub(super) enum Ending {
    /// Everything was done.
    Done,
    /// Something was not; why, in words.
    Failed(String),
    /// The process was killed.
    Killed,
}

impl World {
    /// Performs one step.
    pub(super) async fn perform(&mut self, step: &Step) {
        for edit in &step.edits {
            let (moves, region) = (self.sketch.moves.len(), self.sketch.region);
            self.sketch.edit(edit);
            let is_moved = self.sketch.region != region;
            is_moved.then(|| self.log.count(Ingredient::Configured));
            (is_moved && self.sketch.compass().is_some()).then(|| self.log.count(Ingredient::Followed));
            (self.sketch.moves.len() < moves).then(|| self.log.count(Ingredient::Reused));
            match edit {
                Edit::Respell(..) => self.log.count(Ingredient::Respelled),
                Edit::Collide(..) => self.log.count(Ingredient::Collided),
                _ => {}
            }
        }
        self.sketch.is_circular().then(|| self.log.count(Ingredient::Circular));
        self.upgraded |= step.upgrade;
        // No clock goes back behind the beginning.
        self.ahead_s = (self.ahead_s + step.clock_step_s).max(-1_800);
        (step.clock_step_s != 0).then(|| self.log.count(Ingredient::ClockStep));
        if step.loses_state {
            self.lose_state().await;
        }
        self.cloud.set_weather(Weather::of(&step.faults), step.lateness);
        self.disk.set_faults(step.store.clone());
        step.upgrade.then(|| self.log.count(Ingredient::Upgrade));
        for deed in &step.deeds {
            self.log.count(Ingredient::DeedBetween);
            let done = actor::perform(&self.cloud, deed);
            self.log.note(|| format!("by hand: {done}"));
        }
        let program = self.sketch.program();
        let options = self.options(&step.operation, step.parallelism);
        let first = self.start(&step.incidents, &step.operation, step.parallelism);
        let second = step.rival.map(|rival| (rival, self.start(&[], &step.operation, step.parallelism)));
        let own = self.operate(&first, &program, &options, &step.operation);
        if let Some((rival, second)) = &second {
            self.log.count(Ingredient::Rival);
            let later = async {
                self.clock.sleep(Duration::from_millis(rival.delay_ms)).await;
                if rival.unlocks {
                    unlock(&self.disk);
                }
                self.operate(second, &program, &options, &step.operation).await
            };
            futures_util::future::join(own, later).await;
        } else {
            own.await;
        }
        self.points.push(first.process.points());
        if step.hasty {
            self.ask_a_hasty_person().await;
        }
        // Whoever comes next waits for the lease of what was killed; by then nothing of it travels any more.
        self.clock.sleep(Duration::from_millis(step.pause_ms)).await;
        self.judge_at_rest();
    }

    /// Loses the state, unless that would leave objects in another region: nobody finds those without it.
    async fn lose_state(&mut self) {
        // Whoever was killed before has nothing under way any more when the loss is noticed.
        self.clock.sleep(LEASE_TERM * 2).await;
        self.cloud.truth();
        // And what arrived last can be seen.
        self.clock.sleep(LEASE_TERM).await;
        // Checked only now: a request that was under way may have made an object where the provider led before.
        let here = self.sketch.region.unwrap_or(HOME);
        if self.cloud.regions().values().all(|region| *region == here) {
            self.sketch.pinned = true;
            self.disk.lose();
        }
    }

    /// A process to which these things happen.
    pub(super) fn start(
        &mut self,
        incidents: &[(u64, Incident)],
        operation: &Operation,
        parallelism: u64,
    ) -> Started {
        self.processes += 1;
        let number = self.processes;
        let mut agenda: BTreeMap<u64, Vec<Incident>> = BTreeMap::new();
        for (point, incident) in incidents {
            agenda.entry(*point).or_default().push(incident.clone());
        }
        let cancellation = Cancellation::new();
        let (cloud, disk, log, cancelling) =
            (self.cloud.clone(), self.disk.clone(), self.log.clone(), cancellation.clone());
        let process = Process::new(number, agenda, move |incident| match incident {
            Incident::Kill => log.push(Happened::Killed { process: number }),
            Incident::Cancel => {
                log.push(Happened::Cancelled { process: number });
                cancelling.cancel();
            }
            Incident::Unlock => unlock(&disk),
            Incident::Suspend(_) => log.count(Ingredient::Suspend),
            Incident::Deed(deed) => {
                log.count(Ingredient::DeedDuring);
                let done = actor::perform(&cloud, deed);
                log.note(|| format!("by hand, meanwhile: {done}"));
            }
        });
        let (by_hand, adopts) = (*operation == Operation::Refresh, *operation == Operation::Adopt);
        let orders = Orders { parallelism, by_hand, adopts };
        let what = format!("{operation:?}");
        self.log.push(Happened::Began { process: number, what, orders });
        let line = Line::new(self.cloud.clone(), process.clone());
        let store = Arc::new(self.disk.of(&process));
        let random = Arc::new(SeededRandom::new(self.seed ^ (number << 32)));
        let heard = Heard::default();
        let events = EventSink::new().with(heard.clone());
        let reconciler = Reconciler::new(store, registry(&line, self.upgraded), events.clone())
            .with(Arc::new(self.clock.ahead(self.ahead_s)), random);
        Started { process, reconciler, cancellation, events, heard }
    }

    /// What an operation is told.
    pub(super) fn options(&self, operation: &Operation, parallelism: u64) -> DeployOptions {
        let mut options = DeployOptions::new(STAGE);
        options.lease_term = LEASE_TERM;
        options.holder = Holder { user: "ada".to_owned(), host: "here".to_owned() };
        options.plan.timeout = TIMEOUT;
        options.plan.retry = RetryPolicy {
            attempts_max: 5,
            backoff: Duration::from_secs(2),
            backoff_max: Duration::from_secs(30),
        }
        .into();
        options.plan.parallelism = parallelism as usize;
        let picked = |at: u64| -> Vec<AddressRange> {
            self.sketch.pick(at).map(|number| self.sketch.address(number).into()).into_iter().collect()
        };
        match operation {
            Operation::Adopt => options.plan.adopt = true,
            Operation::DeployBlindly => options.plan.drift = false,
            Operation::Target(at) => options.plan.targets = picked(*at),
            Operation::Exclude(at) => options.plan.excludes = picked(*at),
            Operation::Replace(at) => options.plan.replace = picked(*at),
            Operation::Deploy | Operation::Refresh | Operation::Destroy => {}
        }
        options
    }

    /// Runs an operation in a process, to its end or to that of the process.
    pub(super) async fn operate(
        &self,
        started: &Started,
        program: &Program,
        options: &DeployOptions,
        operation: &Operation,
    ) -> Ending {
        let Started { process, reconciler, cancellation, events, heard } = started;
        let number = process.number();
        self.log.count(operation.ingredient());
        let mut approve = |plan: &trueup_engine::Plan| {
            let (protected, retained) = self.guarded(program, *operation == Operation::Destroy);
            let plan = Box::new(plan.clone());
            self.log.push(Happened::Approved { process: number, plan, protected, retained });
            true
        };
        let running = async {
            match operation {
                Operation::Refresh => reconciler.refresh(program, options).await.map(|_| None),
                Operation::Destroy => {
                    reconciler.destroy_approved(program, options, cancellation, &mut approve).await.map(Some)
                }
                _ => reconciler.deploy_approved(program, options, cancellation, &mut approve).await.map(Some),
            }
        };
        let driven = drive(process, running).await;
        // Subscribers hear of what a run did until it was killed, too.
        events.clone().close();
        for event in heard.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            self.log.judge(|_| canaries_appear_nowhere("an event", event));
        }
        let ending = match driven {
            Driven::Ended(ended) => {
                self.log.judge(|_| canaries_appear_nowhere("the report of a run", &reported(&ended)));
                ended_so(ended)
            }
            Driven::Killed => return Ending::Killed,
            Driven::Stuck => {
                let what = format!("process {number} never ends");
                self.log.judge(|_| Err(Violation { invariant: "INV-16", what }));
                return Ending::Killed;
            }
        };
        let how = match &ending {
            Ending::Done => "all was done".to_owned(),
            Ending::Failed(why) => why.clone(),
            Ending::Killed => unreachable!("it ended by itself"),
        };
        self.log.judge(|_| canaries_appear_nowhere("how a run ended", &how));
        self.log.push(Happened::Ended { process: number, how });
        let now = self.clock.elapsed();
        self.log.judge(|watch| match watch.processes.get(&number).and_then(|it| it.cancelled) {
            Some(told) => stopping::cancelling_ends(now - told, STOPPING_MAX, true),
            None => Ok(()),
        });
        ending
    }

    /// What is protected and what is let go: as the program says, of what it does not declare as records say. A destroy
    /// goes by records alone.
    fn guarded(&self, program: &Program, destroy: bool) -> (Vec<String>, Vec<String>) {
        let declared = |address: &trueup_core::Address| {
            let mut resources = program.resources.iter().filter(|_| !destroy);
            resources.find(|it| it.address == *address).map(|it| &it.options)
        };
        let recorded: Vec<_> = self.log.ask(|watch| watch.records.values().cloned().collect());
        let (mut protected, mut retained) = (Vec::new(), Vec::new());
        for resource in program.resources.iter().filter(|_| !destroy) {
            protected.extend(resource.options.protect.then(|| resource.address.to_string()));
            retained.extend(resource.options.retain.then(|| resource.address.to_string()));
        }
        for record in recorded.iter().filter(|record| declared(&record.address).is_none()) {
            protected.extend(record.meta.protect.then(|| record.address.to_string()));
            retained.extend(record.meta.retain.then(|| record.address.to_string()));
        }
        (protected, retained)
    }
}

/// All that a run tells in the end, except its plan, which was approved before.
fn reported(ended: &Result<Option<Deployed>, EngineError>) -> String {
    match ended {
        Ok(Some(Deployed::Ran(report))) => {
            let failures = (&report.store_failure, &report.unreleased);
            shown(&(&report.outcomes, &report.outputs, &report.warnings, failures))
        }
        Ok(_) => String::new(),
        Err(error) => shown(error),
    }
}

fn ended_so(ended: Result<Option<Deployed>, EngineError>) -> Ending {
    match ended {
        Ok(Some(Deployed::Ran(report))) => {
            let failed = report.outcomes.iter().filter(|(_, outcome)| !matches!(outcome, Outcome::Done(_)));
            let mut told: Vec<String> =
                failed.map(|(address, outcome)| format!("{address}: {}", told(outcome))).collect();
            told.extend(report.store_failure.iter().map(ToString::to_string));
            if told.is_empty() { Ending::Done } else { Ending::Failed(told.join("; ")) }
        }
        Ok(_) => Ending::Done,
        Err(error) => Ending::Failed(format!("given up: {error}")),
    }
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(action) => action.name().to_owned(),
        Outcome::Failed(failure) => {
            failure.hints.iter().fold(format!("failed: {failure}"), |told, hint| told + ", " + hint)
        }
        Outcome::Skipped(cause) => format!("skipped because of {cause}"),
        Outcome::NotStarted => "not started".to_owned(),
        Outcome::InFlight => "left in flight".to_owned(),
    }
}

/// Takes the lease away from whoever has it, and keeps it for as long as they may take to notice: whoever did not would
/// let two runs at one thing at a time.
fn unlock(disk: &crate::store::Disk) {
    let eve = LeaseHolder {
        run: "nobody".to_owned(),
        user: "eve".to_owned(),
        host: "there".to_owned(),
        reason: "unlock".to_owned(),
    };
    // Asking for it is how to learn who has it.
    if let Ok(Acquired::Held(held)) = at_once(disk.memory().acquire(&scope(), &eve, NOTICED_AFTER)) {
        let _ = at_once(disk.memory().unlock(&scope(), &held.holder.run));
        disk.unleased(held.token);
        let _ = at_once(disk.memory().acquire(&scope(), &eve, NOTICED_AFTER));
    }
}
