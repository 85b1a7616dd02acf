//! A store that fails from some commit on, as a full disk does, whose leases cannot be renewed, or that is slow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use trueup_provider::{BoxFuture, Clock};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, MemoryStore, RecordId,
    RunSummary, Scope, Snapshot, Store, StoreError, Version,
};

pub(crate) struct FailingStore {
    inner: MemoryStore,
    left: AtomicU64,
    renewals: Mutex<VecDeque<Renewal>>,
    keeps_leases: bool,
    /// How long each change takes, by this clock.
    slow: Option<(Arc<dyn Clock>, Duration)>,
}

/// How a renewal goes that does not just succeed.
pub(crate) enum Renewal {
    /// The store is out of reach.
    Fails,
    /// The store does not answer.
    Hangs,
}

impl FailingStore {
    pub(crate) fn new(inner: MemoryStore, failing_commit: u64) -> Self {
        FailingStore {
            inner,
            left: AtomicU64::new(failing_commit),
            renewals: Mutex::default(),
            keeps_leases: false,
            slow: None,
        }
    }

    /// A store whose first renewals go like this.
    pub(crate) fn renewing(inner: MemoryStore, renewals: impl IntoIterator<Item = Renewal>) -> Self {
        let renewals = Mutex::new(renewals.into_iter().collect());
        FailingStore { inner, left: AtomicU64::new(u64::MAX), renewals, keeps_leases: false, slow: None }
    }

    /// A store that takes no lease back.
    pub(crate) fn keeping_leases(inner: MemoryStore) -> Self {
        FailingStore { keeps_leases: true, ..Self::renewing(inner, []) }
    }

    /// A store that takes this long for each change.
    pub(crate) fn slow(inner: MemoryStore, clock: Arc<dyn Clock>, takes: Duration) -> Self {
        FailingStore { slow: Some((clock, takes)), ..Self::renewing(inner, []) }
    }

    async fn wait(&self) {
        if let Some((clock, takes)) = &self.slow {
            clock.sleep(*takes).await;
        }
    }

    fn disk_full(&self) -> StoreError {
        StoreError::Unavailable { attempted: "write", location: self.location(), cause: "disk full".into() }
    }
}

impl Store for FailingStore {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.inner.keyring(scope)
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.inner.replace_keyring(scope, expected, keyring)
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(1)));
        match left {
            Ok(0 | 1) => Box::pin(async { Err(self.disk_full()) }),
            _ => Box::pin(async move {
                self.wait().await;
                self.inner.commit(scope, token, batch).await
            }),
        }
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        self.inner.load(scope)
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        self.inner.acquire(scope, holder, term)
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        match self.renewals.lock().unwrap().pop_front() {
            None => self.inner.renew(scope, lease),
            Some(Renewal::Fails) => Box::pin(async { Err(self.disk_full()) }),
            Some(Renewal::Hangs) => Box::pin(std::future::pending()),
        }
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        match self.keeps_leases {
            true => Box::pin(async { Err(self.disk_full()) }),
            false => self.inner.release(scope, lease),
        }
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.inner.unlock(scope, run)
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.inner.journal(scope, id)
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        self.inner.runs(scope)
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        self.inner.history(scope, run)
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.prune(scope, keep_runs)
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.inner.held(scope)
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.wait().await;
            self.inner.forget_scope(scope, token).await
        })
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.inner.scopes()
    }
}
