//! The default store: one SQLite file, durable at every commit.
//!
//! [`SqliteStore`] sends each call to a thread that owns the connection (`worker`), which runs it as one transaction
//! (`commit`, `lease`, `contents`, `keyring`, `scope`; `life` tells runs that were killed from those at work). `file`
//! makes and opens the file, `presence` notices that it was taken away, `schema` says what is in it, and `fault` what
//! callers are told when something is wrong with it. The store keeps what it is given: it does not check that
//! records follow from their entries, and it does not seal secrets (a store that does stands around it); the file is for
//! its owner alone all the same.

mod columns;
mod commit;
mod contents;
mod fault;
mod file;
mod keyring;
mod lease;
mod life;
mod presence;
mod schema;
mod scope;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Transaction;
use trueup_provider::{BoxFuture, Clock};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, RecordId, RunSummary, Scope,
    Snapshot, Store, StoreError, Version,
};

use life::SignsOfLife;
use worker::Worker;

/// A store in one SQLite file, which several processes may have open.
///
/// Dropping it finishes what was begun and closes the file, which takes as long as the disk does.
pub struct SqliteStore {
    worker: Worker,
    clock: Arc<dyn Clock>,
    signs: Arc<SignsOfLife>,
}

impl SqliteStore {
    /// Opens the store at a path; makes the file and the folders above it if they are not there. A lease is held while its
    /// holder lives, whatever the clock says. Only where that cannot be known does it expire, by the clock of whoever asks.
    pub async fn open(path: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Result<SqliteStore, StoreError> {
        let path = path.into();
        let signs = Arc::new(SignsOfLife::beside(&path));
        Ok(SqliteStore { worker: Worker::start(path).await?, clock, signs })
    }

    /// How many transactions this handle has committed, each of which waited for the disk.
    pub fn commits(&self) -> u64 {
        self.worker.commits()
    }
}

impl Store for SqliteStore {
    fn location(&self) -> String {
        self.worker.path().display().to_string()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.read(move |transaction| contents::load(transaction, &scope)))
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.read(move |transaction| contents::versions(transaction, &scope)))
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move {
            let (scope, holder, now) = (scope.clone(), holder.clone(), self.clock.now());
            let signs = self.signs.clone();
            self.worker
                .write(move |transaction| lease::acquire(transaction, &scope, &holder, term, now, &signs))
                .await
        })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (scope, lease, now) = (scope.clone(), lease.clone(), self.clock.now());
            let signs = self.signs.clone();
            // A run whose state was taken away learns it from what it records next, which the copy then has.
            self.worker
                .write_unwatched(move |transaction| lease::renew(transaction, &scope, &lease, now, &signs))
                .await
        })
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        let (scope, token, signs) = (scope.clone(), lease.token, self.signs.clone());
        Box::pin(async move {
            let release = {
                let signs = signs.clone();
                move |transaction: &Transaction<'_>| lease::release(transaction, &scope, token, &signs)
            };
            let Some(number) = self.worker.write(release).await? else { return Ok(()) };
            // In a transaction of its own, which keeps others from taking the lease just then.
            let clear = move |_: &Transaction<'_>| {
                signs.clear(number, token);
                Ok(())
            };
            // What stays is a file that nobody locks.
            let _ = self.worker.write_unwatched(clear).await;
            Ok(())
        })
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        let (scope, run) = (scope.clone(), run.to_owned());
        Box::pin(self.worker.write(move |transaction| lease::unlock(transaction, &scope, &run)))
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(async move {
            let (scope, now, signs) = (scope.clone(), self.clock.now(), self.signs.clone());
            let recorded = {
                let scope = scope.clone();
                self.worker.read(move |transaction| lease::held(transaction, &scope)).await?
            };
            if recorded.is_none() {
                return Ok(None);
            }
            self.worker
                .write_unwatched(move |transaction| lease::look(transaction, &scope, now, &signs))
                .await
        })
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.read(move |transaction| keyring::get(transaction, &scope)))
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (scope, expected, keyring) = (scope.clone(), expected.map(str::to_owned), keyring.to_owned());
        Box::pin(
            self.worker.write(move |transaction| {
                keyring::replace(transaction, &scope, expected.as_deref(), &keyring)
            }),
        )
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(async move {
            let rows = commit::Rows::of(batch).map_err(|fault| fault.told("write", self.worker.path()))?;
            let scope = scope.clone();
            self.worker.write(move |transaction| commit::commit(transaction, &scope, token, &rows)).await
        })
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.read(move |transaction| contents::journal(transaction, &scope, id)))
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let scope = scope.clone();
        let forget = move |transaction: &Transaction<'_>| {
            contents::forget_before_resealing(transaction, &scope, token)
        };
        Box::pin(async move {
            self.worker.write(forget).await?;
            self.worker.leave_no_trace().await?;
            Ok(true)
        })
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.read(move |transaction| contents::runs(transaction, &scope)))
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        let (scope, run) = (scope.clone(), run.to_owned());
        Box::pin(self.worker.read(move |transaction| contents::history(transaction, &scope, &run)))
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        let scope = scope.clone();
        Box::pin(self.worker.write(move |transaction| contents::prune(transaction, &scope, keep_runs)))
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let scope = scope.clone();
        let forget = move |transaction: &Transaction<'_>| scope::forget(transaction, &scope, token);
        Box::pin(async move {
            let forgotten = self.worker.write(forget).await?;
            if forgotten {
                self.worker.leave_no_trace().await?;
            }
            Ok(forgotten)
        })
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        Box::pin(self.worker.read(scope::all))
    }
}
