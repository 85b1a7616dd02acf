//! A store that is not there yet: empty to whoever looks, and made when the first lease is taken in it.
//!
//! A run that is refused or not approved thereby leaves no store behind. If someone else makes the same store in the
//! meantime, the run finds out as it does with any store that changed while someone thought (STATE-11).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use trueup_provider::{BoxFuture, Clock};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, MemoryStore, RecordId,
    RunSummary, Scope, Snapshot, Store, StoreError, Version,
};

type Make = dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> + Send + Sync;

/// A store that is made when it is needed.
pub(crate) struct UnmadeStore {
    location: String,
    nothing: MemoryStore,
    make: Box<Make>,
    made: OnceCell<Arc<dyn Store>>,
}

impl UnmadeStore {
    /// One that will be at this location.
    pub(crate) fn new(location: String, clock: Arc<dyn Clock>, make: Box<Make>) -> Self {
        UnmadeStore { location, nothing: MemoryStore::on_clock(clock), make, made: OnceCell::new() }
    }

    fn now(&self) -> &dyn Store {
        match self.made.get() {
            Some(made) => &**made,
            None => &self.nothing,
        }
    }
}

impl Store for UnmadeStore {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        self.now().load(scope)
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        self.now().versions(scope)
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move {
            let made = self.made.get_or_try_init(|| (self.make)()).await?;
            made.acquire(scope, holder, term).await
        })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.now().renew(scope, lease)
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.now().release(scope, lease)
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.now().unlock(scope, run)
    }

    fn lease_freed<'a>(&'a self, scope: &'a Scope) -> Option<BoxFuture<'a, ()>> {
        self.now().lease_freed(scope)
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.now().keyring(scope)
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let made = self.made.get_or_try_init(|| (self.make)()).await?;
            made.replace_keyring(scope, expected, keyring).await
        })
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        self.now().commit(scope, token, batch)
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.now().journal(scope, id)
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.now().forget_before_resealing(scope, token)
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        self.now().runs(scope)
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        self.now().history(scope, run)
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        self.now().prune(scope, keep_runs)
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.now().held(scope)
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.now().forget_scope(scope, token)
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.now().scopes()
    }
}
