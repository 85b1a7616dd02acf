//! The store for tests, simulations and dry runs: everything in memory, nothing durable.
//!
//! Clones share their contents, so that a test can drop whatever held one, as a crash would, and go on with another.
//! Beyond what every store does it checks that each write follows from its entry by [`transition`](crate::transition),
//! which catches mistakes of writers where they happen. It injects no faults of its own.

mod contents;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use trueup_provider::{BoxFuture, Clock, RuntimeClock};

use crate::entry::Entry;
use crate::lease::{Acquired, FencingToken, HeldLease, Holder, Lease};
use crate::record::RecordId;
use crate::store::{Batch, HistoryLine, RunSummary, Scope, Snapshot, Store, StoreError, Version};
use contents::Contents;

/// A store in memory. Clones share their contents.
#[derive(Clone)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    scopes: Arc<Mutex<BTreeMap<Scope, Contents>>>,
}

impl MemoryStore {
    /// An empty store on the machine's clock.
    pub fn new() -> Self {
        Self::on_clock(Arc::new(RuntimeClock::new()))
    }

    /// An empty store whose leases expire by this clock.
    pub fn on_clock(clock: Arc<dyn Clock>) -> Self {
        MemoryStore { clock, scopes: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Scope, Contents>> {
        // Contents change only after all checks have passed, so whatever panicked left them whole.
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one scope says.
    fn read<T>(&self, scope: &Scope, ask: impl FnOnce(&Contents) -> T) -> T {
        ask(self.lock().get(scope).unwrap_or(&Contents::default()))
    }

    /// What becomes of one scope, at a time.
    fn write<T>(&self, scope: &Scope, change: impl FnOnce(&mut Contents, SystemTime) -> T) -> T {
        let now = self.clock.now();
        change(self.lock().entry(scope.clone()).or_default(), now)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn location(&self) -> String {
        contents::LOCATION.to_owned()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move { Ok(self.read(scope, Contents::snapshot)) })
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move { Ok(self.write(scope, |contents, now| contents.acquire(holder, term, now))) })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.write(scope, |contents, now| contents.renew(lease, now)) })
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.write(scope, |contents, _| contents.release(lease));
            Ok(())
        })
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(async move { Ok(self.write(scope, |contents, _| contents.unlock(run))) })
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move { Ok(self.read(scope, Contents::keyring)) })
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(
            async move { Ok(self.write(scope, |contents, _| contents.replace_keyring(expected, keyring))) },
        )
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(async move { self.write(scope, |contents, _| contents.commit(token, batch)) })
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move { Ok(self.read(scope, |contents| contents.journal(id))) })
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.write(scope, |contents, _| contents.forget_before_resealing(token)).map(|()| true)
        })
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        Box::pin(async move { Ok(self.read(scope, Contents::runs)) })
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        Box::pin(async move { Ok(self.read(scope, |contents| contents.history(run))) })
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.write(scope, |contents, _| contents.prune(keep_runs));
            Ok(())
        })
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        let now = self.clock.now();
        Box::pin(async move { Ok(self.read(scope, |contents| contents.held(now))) })
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.write(scope, |contents, _| contents.forget(token)) })
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        Box::pin(async move {
            let scopes = self.lock();
            let held = scopes.iter().filter(|(_, contents)| contents.holds_anything());
            Ok(held.map(|(scope, _)| scope.clone()).collect())
        })
    }
}
