//! The store in a bucket of S3, or of what speaks its protocol.
//!
//! It needs nothing beside the bucket: no lock service, no database. What it asks of the service is that a write can be
//! made to depend on the object it replaces (`If-Match`, `If-None-Match`), and that what was written is read.
//!
//! # What is in the bucket
//!
//! Under the prefix of the store:
//!
//! | object | what |
//! | --- | --- |
//! | `trueup` | says that a store is here, and of which format (`marker`) |
//! | `scopes/STACK/STAGE/head` | lease, version, keyring, the newest commits, and the names of all pieces (`head`) |
//! | `scopes/STACK/STAGE/pieces/…` | records, journal and history, written once and never changed (`flush`, `merging`) |
//! | `scopes/STACK/STAGE/clock` | written to learn what time it is by the server's clock (`lease`) |
//!
//! # How it is written
//!
//! Whatever changes a scope replaces its head, on the condition that the head is still the one that the writer read
//! (`scope`). A commit is checked against the head and the records that follow from it, appended to the head, and durable
//! when the head is (`commit`): one request. When the commits in a head reach 64 KiB, they go into pieces first, and the
//! head that names them is written after. Small pieces are merged into larger ones as in a log-structured merge tree,
//! at most 4 MiB while somebody waits, so that no commit costs more because there are more records (STATE-6); what is
//! larger is merged when a lease is given back.
//!
//! **Guarantees.** A lease that is taken over, taken away or given back has changed the head, so that a write of the one
//! who held it before finds another head than it knows, reads it, and is refused. A number grows in the head with each
//! write, so that no two are alike and an `ETag`, which may be but a hash, names one for good. A write whose answer is
//! lost is not guessed at: heads name the last writes that led to them. What is missing or was changed by other hands is
//! named and left as it is; heads and pieces carry checksums.
//!
//! **Caveats.** A head grows by some hundred bytes for every 8 MiB of records, journal and history, until that is pruned. A
//! bucket that keeps old versions of objects keeps every head: let it forget them after some days. Secrets are sealed by
//! whoever writes to it, or not at all. After a change of keys nothing is left of what older ones sealed, except in older
//! versions of objects, if the bucket keeps them.

mod bounded;
mod commit;
mod config;
mod contents;
mod flush;
mod head;
mod lease;
mod logs;
mod marker;
mod merging;
mod names;
mod objects;
mod scope;
mod trouble;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use tokio::sync::OwnedMutexGuard;
use trueup_provider::{BoxFuture, Clock};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, RecordId, RunSummary, Scope,
    Snapshot, Store, StoreError, Version,
};

pub use config::S3Config;
pub use merging::Limits;
pub use objects::Traffic;

use contents::Contents;
use head::Head;
use lease::Decision;
use logs::Forgotten;
use objects::{Objects, many};
use scope::ScopeState;

/// A store in a bucket, which many processes may have open.
///
/// A handle remembers what it read, so that it reads again only what has changed.
pub struct S3Store {
    objects: Objects,
    root: Path,
    scopes: Mutex<BTreeMap<Scope, Arc<tokio::sync::Mutex<ScopeState>>>>,
}

impl S3Store {
    /// Opens the store. The bucket must be there; the store in it is made when something is first written to it. The
    /// clock must only go forward; what time it shows does not matter.
    pub async fn open(config: &S3Config, clock: Arc<dyn Clock>) -> Result<S3Store, StoreError> {
        let objects = Objects::new(config.connect()?, clock, config.location(), config.limits);
        S3Store::open_in(objects.without(config.secrets()), &config.prefix).await
    }

    /// Opens the store in a bucket that is reached in another way. Its service must keep to the conditions of writes.
    pub async fn open_on(
        bucket: Arc<dyn ObjectStore>,
        prefix: &str,
        location: String,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Result<S3Store, StoreError> {
        S3Store::open_in(Objects::new(bucket, clock, location, limits), prefix).await
    }

    async fn open_in(objects: Objects, prefix: &str) -> Result<S3Store, StoreError> {
        let root = Path::from(prefix);
        marker::check(&objects, &root).await?;
        Ok(S3Store { objects, root, scopes: Mutex::default() })
    }

    /// What this handle has asked of the service so far.
    pub fn traffic(&self) -> Traffic {
        self.objects.traffic()
    }

    /// What is known of a scope, for one at a time.
    async fn scope(&self, scope: &Scope) -> OwnedMutexGuard<ScopeState> {
        let state = {
            let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
            let state = scopes.entry(scope.clone()).or_insert_with(|| {
                let folder = names::folder(&self.root, scope);
                Arc::new(tokio::sync::Mutex::new(ScopeState::new(self.root.clone(), folder)))
            });
            state.clone()
        };
        state.lock_owned().await
    }

    /// A scope as it is now, with its records.
    async fn loaded(&self, scope: &Scope) -> Result<OwnedMutexGuard<ScopeState>, StoreError> {
        let mut state = self.scope(scope).await;
        state.fetch(&self.objects).await?;
        state.load(&self.objects).await?;
        Ok(state)
    }

    /// The scope of a folder, if it holds anything.
    async fn holding(&self, stack: &str, stage: &str) -> Result<Option<Scope>, StoreError> {
        let Some(scope) = names::scope(stack, stage) else { return Ok(None) };
        let mut state = self.scope(&scope).await;
        state.fetch(&self.objects).await?;
        let known = state.known(&self.objects).await?;
        Ok(known.head.holds_anything(&known.commits).then_some(scope))
    }
}

impl Store for S3Store {
    fn location(&self) -> String {
        self.objects.location().to_owned()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move {
            let state = self.loaded(scope).await?;
            let Some((known, contents)) = state.known.as_ref().zip(state.contents.as_ref()) else {
                return Ok(Snapshot::default());
            };
            Ok(contents.snapshot(&known.head))
        })
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        Box::pin(async move {
            let state = self.loaded(scope).await?;
            Ok(state.contents.as_ref().map(Contents::versions).unwrap_or_default())
        })
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(
            async move { lease::acquire(&mut *self.scope(scope).await, &self.objects, holder, term).await },
        )
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { lease::renew(&mut *self.scope(scope).await, &self.objects, lease).await })
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(
            async move { lease::release(&mut *self.scope(scope).await, &self.objects, lease.token).await },
        )
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(async move { lease::unlock(&mut *self.scope(scope).await, &self.objects, run).await })
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(async move { lease::look(&mut *self.scope(scope).await, &self.objects).await })
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let mut state = self.scope(scope).await;
            state.fetch(&self.objects).await?;
            Ok(state.known(&self.objects).await?.head.keyring.clone())
        })
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let replaced = move |head: &Head| {
            if head.keyring.as_deref() != expected {
                return Decision::Answer(false);
            }
            Decision::Write(Box::new(Head { keyring: Some(keyring.to_owned()), ..head.clone() }), true)
        };
        Box::pin(async move { lease::decide(&mut *self.scope(scope).await, &self.objects, replaced).await })
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(
            async move { commit::commit(&mut *self.scope(scope).await, &self.objects, token, batch).await },
        )
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move { logs::journal(&mut *self.scope(scope).await, &self.objects, id).await })
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        Box::pin(async move { logs::runs(&mut *self.scope(scope).await, &self.objects).await })
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        Box::pin(async move { logs::history(&mut *self.scope(scope).await, &self.objects, run).await })
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        let runs = Forgotten::Runs { keep: keep_runs };
        Box::pin(async move { logs::forget(&mut *self.scope(scope).await, &self.objects, runs).await })
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let older = Forgotten::BeforeResealing(token);
        Box::pin(async move {
            logs::forget(&mut *self.scope(scope).await, &self.objects, older).await?;
            Ok(true)
        })
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { logs::forget_all(&mut *self.scope(scope).await, &self.objects, token).await })
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        Box::pin(async move {
            let folder = self.root.clone().join(names::SCOPES);
            let mut scopes = Vec::new();
            for stack in self.objects.folders(&folder).await? {
                let stages = self.objects.folders(&folder.clone().join(stack.as_str())).await?;
                let held = |stage| -> BoxFuture<'_, _> { Box::pin(self.holding(&stack, stage)) };
                scopes.extend(
                    many(stages.iter().map(|stage| held(stage)).collect()).await?.into_iter().flatten(),
                );
            }
            scopes.sort();
            Ok(scopes)
        })
    }
}
