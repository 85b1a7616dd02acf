//! The store as processes reach it: it takes time, loses its lease, runs full, fails to write, and tears writes apart
//! when a process dies in the middle of one.
//!
//! A commit has points before and after it becomes durable and before it is acknowledged: killed at the first nothing is
//! written, at the others everything is and nobody knows. The contents themselves are those of the memory store, which
//! commits a batch as a whole or not at all, as every store must.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trueup_provider::{BoxFuture, Clock};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, MemoryStore, RecordId,
    RunSummary, Scope, Snapshot, Store, StoreError, Version,
};

use crate::clock::SimClock;
use crate::cloud::Cloud;
use crate::log::{Happened, Log};
use crate::process::Process;
use crate::random::Dice;
use crate::tally::Ingredient;

/// What goes wrong with the store in a step of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StoreFaults {
    /// Decides which.
    pub seed: u64,
    /// How many commits in a hundred go wrong.
    pub percent: u64,
    /// How many go wrong at most.
    pub budget: u64,
}

/// The disk behind all processes.
#[derive(Clone)]
pub(crate) struct Disk {
    memory: Arc<Mutex<MemoryStore>>,
    clock: SimClock,
    log: Log,
    cloud: Cloud,
    state: Arc<Mutex<State>>,
}

struct State {
    dice: Dice,
    faults: StoreFaults,
    /// No room for anything until then.
    full_until: Duration,
    commits: u64,
}

/// What goes wrong with one commit.
enum Fault {
    /// Writing fails; nothing is durable.
    Write,
    /// Flushing fails; everything is durable all the same.
    Flush,
    /// There is no room, for this long.
    Full(Duration),
    /// It takes this long.
    Slow(Duration),
}

impl Disk {
    pub(crate) fn new(clock: SimClock, log: Log, cloud: Cloud, seed: u64) -> Self {
        let memory = MemoryStore::on_clock(Arc::new(clock.clone()));
        let state = State {
            dice: Dice::of(seed, 2),
            faults: StoreFaults::default(),
            full_until: Duration::ZERO,
            commits: 0,
        };
        Disk { memory: Arc::new(Mutex::new(memory)), clock, log, cloud, state: Arc::new(Mutex::new(state)) }
    }

    /// How the store behaves from now on.
    pub(crate) fn set_faults(&self, faults: StoreFaults) {
        self.with(|state| {
            state.dice = Dice::new(faults.seed);
            state.full_until = Duration::ZERO;
            state.faults = faults;
        });
    }

    /// The store itself, for whoever looks from outside.
    pub(crate) fn memory(&self) -> MemoryStore {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Loses everything.
    pub(crate) fn lose(&self) {
        let empty = MemoryStore::on_clock(Arc::new(self.clock.clone()));
        *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = empty;
        self.log.push(Happened::StateLost);
    }

    /// A lease was taken away behind its holder's back.
    pub(crate) fn unleased(&self, token: FencingToken) {
        self.log.count(Ingredient::Unlock);
        // Whoever does that has waited until nothing is under way any more, as the book says.
        self.cloud.arrive_all();
        self.log.push(Happened::Unleased { token });
    }

    /// The store as a process reaches it.
    pub(crate) fn of(&self, process: &Process) -> ProcessStore {
        ProcessStore { memory: self.memory(), disk: self.clone(), process: process.clone() }
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn fault(&self) -> Option<Fault> {
        let now = self.clock.elapsed();
        self.with(|state| {
            if now < state.full_until {
                return Some(Fault::Full(Duration::ZERO));
            }
            if state.faults.budget == 0 || !state.dice.percent(state.faults.percent) {
                return None;
            }
            state.faults.budget -= 1;
            let seconds = Duration::from_secs(state.dice.between(1, 90));
            Some(match state.dice.below(4) {
                0 => Fault::Write,
                1 => Fault::Flush,
                2 => Fault::Full(seconds),
                _ => Fault::Slow(seconds),
            })
        })
    }

    fn unavailable(&self, cause: &str) -> StoreError {
        StoreError::Unavailable {
            attempted: "write",
            location: self.memory().location(),
            cause: cause.into(),
        }
    }
}

impl Fault {
    fn ingredient(&self) -> Ingredient {
        match self {
            Fault::Write => Ingredient::WriteFailed,
            Fault::Flush => Ingredient::FlushFailed,
            Fault::Full(_) => Ingredient::DiskFull,
            Fault::Slow(_) => Ingredient::WriteSlow,
        }
    }
}

/// A write under way, for counting those that a kill cuts off.
struct Torn<'a> {
    store: &'a ProcessStore,
    as_ingredient: Ingredient,
}

impl Drop for Torn<'_> {
    fn drop(&mut self) {
        if self.store.process.is_cut() {
            self.store.disk.log.count(self.as_ingredient);
        }
    }
}

/// The store as one process reaches it.
pub(crate) struct ProcessStore {
    memory: MemoryStore,
    disk: Disk,
    process: Process,
}

impl ProcessStore {
    async fn latency(&self) {
        let millis = self.disk.with(|state| state.dice.between(1, 5));
        self.disk.clock.sleep(Duration::from_millis(millis)).await;
        // What was under way to the cloud until now has arrived.
        self.disk.cloud.arrive();
    }

    async fn write(&self, scope: &Scope, token: FencingToken, batch: &Batch) -> Result<Version, StoreError> {
        let disk = &self.disk;
        // Whoever dies in here tears the write: nothing of it is there, or all of it and nobody knows.
        let mut torn = Torn { store: self, as_ingredient: Ingredient::KilledBeforeWrite };
        self.process.point().await;
        self.latency().await;
        let fault = disk.fault();
        fault.iter().for_each(|fault| disk.log.count(fault.ingredient()));
        match fault {
            Some(Fault::Write) => return Err(disk.unavailable("the write failed")),
            Some(Fault::Full(time)) => {
                let until = disk.clock.elapsed() + time;
                disk.with(|state| state.full_until = state.full_until.max(until));
                return Err(disk.unavailable("no space left on device"));
            }
            Some(Fault::Slow(time)) => disk.clock.sleep(time).await,
            Some(Fault::Flush) => {
                self.make_durable(scope, token, batch).await?;
                return Err(disk.unavailable("fsync failed"));
            }
            None => {}
        }
        self.process.point().await;
        let (version, sequence) = self.make_durable(scope, token, batch).await?;
        torn.as_ingredient = Ingredient::KilledAfterWrite;
        self.process.point().await;
        self.latency().await;
        self.process.point().await;
        disk.log.push(Happened::Acknowledged { sequence });
        Ok(version)
    }

    fn leased(&self, lease: &Lease, term: Duration) {
        let (process, until) = (self.process.number(), self.disk.clock.elapsed() + term);
        self.disk.log.push(Happened::Leased { process, token: lease.token, until });
    }

    async fn make_durable(
        &self,
        scope: &Scope,
        token: FencingToken,
        batch: &Batch,
    ) -> Result<(Version, u64), StoreError> {
        let version = self.memory.commit(scope, token, batch).await?;
        let sequence = self.disk.with(|state| {
            state.commits += 1;
            state.commits
        });
        let lines = batch.history.iter().map(|line| line.event.clone()).collect();
        let (process, writes) = (self.process.number(), batch.writes.clone());
        self.disk.log.push(Happened::Committed { process, token, sequence, writes, lines });
        Ok((version, sequence))
    }
}

impl Store for ProcessStore {
    fn location(&self) -> String {
        self.memory.location()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move {
            self.process.point().await;
            self.latency().await;
            self.memory.load(scope).await
        })
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move {
            self.process.point().await;
            self.latency().await;
            self.process.point().await;
            let left = self.disk.log.ask(|watch| watch.leases.values().any(|given| given.held));
            let acquired = self.memory.acquire(scope, holder, term).await?;
            if let Acquired::Lease(lease) = &acquired {
                // Someone died with it, or was too slow to renew it.
                left.then(|| self.disk.log.count(Ingredient::TakenOver));
                self.leased(lease, term);
            }
            self.process.point().await;
            Ok(acquired)
        })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.process.point().await;
            self.latency().await;
            self.memory.renew(scope, lease).await?;
            self.leased(lease, lease.term);
            Ok(())
        })
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.process.point().await;
            self.latency().await;
            self.process.point().await;
            self.memory.release(scope, lease).await?;
            self.disk.log.push(Happened::Unleased { token: lease.token });
            self.process.point().await;
            Ok(())
        })
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.memory.unlock(scope, run)
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.memory.keyring(scope)
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.memory.replace_keyring(scope, expected, keyring)
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(self.write(scope, token, batch))
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.memory.journal(scope, id)
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        self.memory.runs(scope)
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        self.memory.history(scope, run)
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        self.memory.prune(scope, keep_runs)
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.memory.held(scope)
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.memory.forget_scope(scope, token)
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.memory.scopes()
    }
}
