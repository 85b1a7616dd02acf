//! The store that seals: around any other, which never sees a secret in the clear.
//!
//! **Guarantees.** Whoever takes a lease has keys before it begins, so that no call is made whose answer could not be
//! recorded. Keys are looked for only where something is sealed, or may come to be; reading what holds no secrets needs
//! none and makes none. What is not yet sealed is read as it is, and sealed with the next write of its record.
//!
//! Keyrings change only under the lease ([`rekey`](super::rekey)), except that the first is made by the first commit
//! with a secret in it; so keys are looked up anew with each lease, and where something is sealed by one that is not
//! known yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trueup_provider::BoxFuture;

use super::cipher::KeyId;
use super::error::{KeyError, no_key};
use super::keyring::{Keyring, Keys};
use super::source::KeySources;
use super::work::{Found, Unopened, Work, Worker};
use crate::cause::Cause;
use crate::entry::Entry;
use crate::lease::{Acquired, FencingToken, HeldLease, Holder, Lease};
use crate::record::RecordId;
use crate::store::{Batch, HistoryLine, RunSummary, Scope, Snapshot, Store, StoreError, Version, Write};

/// A store whose secrets are sealed in the one that it stands around.
pub struct SealedStore {
    inner: Arc<dyn Store>,
    sources: KeySources,
    known: Mutex<BTreeMap<Scope, Known>>,
}

/// What is known of the keys of a scope.
#[derive(Clone)]
struct Known {
    keys: Arc<Keys>,
    /// The keyring that they are in.
    keyring: String,
    /// The keyring that is stored: this one, or the one it will take the place of.
    stored: Option<String>,
}

impl SealedStore {
    /// The store, with secrets sealed by keys from these sources.
    pub fn new(inner: Arc<dyn Store>, sources: KeySources) -> Self {
        SealedStore { inner, sources, known: Mutex::default() }
    }

    /// The keys of a scope as its keyring has them now; new ones, not yet stored, if it has none.
    async fn current_keys(&self, scope: &Scope) -> Result<Known, StoreError> {
        let stored = self.inner.keyring(scope).await?;
        if let Some(known) = self.remembered(scope).filter(|known| known.stored == stored) {
            return Ok(known);
        }
        let got = async {
            if let Some(keyring) = &stored
                && let Some(keys) = Keyring::parse(keyring)?.unlock(&self.sources, scope).await?
            {
                return Ok((keys, keyring.clone()));
            }
            let keys = Keys::random();
            let keyring = Keyring::of(&keys, &self.sources.choose().await?, scope).await?;
            Ok((keys, keyring.to_text()))
        };
        let (keys, keyring) = got.await.map_err(|error| no_key(scope, error))?;
        Ok(self.remember(scope, Known { keys: keys.into(), keyring, stored }))
    }

    /// Keys that open what these sealed, as far as they are to be had.
    async fn keys_to_open(&self, scope: &Scope, ids: &BTreeSet<KeyId>) -> Result<Arc<Keys>, StoreError> {
        match self.remembered(scope).filter(|known| known.keys.have(ids)) {
            Some(known) => Ok(known.keys),
            None => self.stored_keys(scope).await,
        }
    }

    /// The keys of a keyring that must be there, since something is sealed.
    async fn stored_keys(&self, scope: &Scope) -> Result<Arc<Keys>, StoreError> {
        let keyring = self.inner.keyring(scope).await?;
        let unlocked = async {
            let missing = |why: &str| KeyError::Keyring { why: why.into() };
            let keyring = keyring.ok_or_else(|| missing("there is none, though there are sealed secrets"))?;
            let keys = Keyring::parse(&keyring)?.unlock(&self.sources, scope).await?;
            Ok((keys.ok_or_else(|| missing("its keys were given up"))?, keyring))
        };
        let (keys, keyring) = unlocked.await.map_err(|error| no_key(scope, error))?;
        Ok(self.remember(scope, Known { keys: keys.into(), stored: Some(keyring.clone()), keyring }).keys)
    }

    /// Keys to seal with, stored first, so that what they seal can be opened again.
    async fn keys_to_seal(&self, scope: &Scope) -> Result<Arc<Keys>, StoreError> {
        loop {
            let known = match self.remembered(scope) {
                Some(known) => known,
                None => self.current_keys(scope).await?,
            };
            if known.stored.as_ref() == Some(&known.keyring) {
                return Ok(known.keys);
            }
            if self.inner.replace_keyring(scope, known.stored.as_deref(), &known.keyring).await? {
                let stored = Some(known.keyring.clone());
                return Ok(self.remember(scope, Known { stored, ..known }).keys);
            }
            // Someone else was faster: theirs counts.
            self.lock().remove(scope);
        }
    }

    fn remembered(&self, scope: &Scope) -> Option<Known> {
        self.lock().get(scope).cloned()
    }

    fn remember(&self, scope: &Scope, known: Known) -> Known {
        self.lock().insert(scope.clone(), known.clone());
        known
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Scope, Known>> {
        // What is known is put in whole, so whatever panicked left it so.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn damaged(&self, unopened: &Unopened) -> StoreError {
        StoreError::Damaged { location: self.inner.location(), what: Cause::new(unopened.clone()) }
    }
}

/// A batch with its secrets sealed.
fn sealed(scope: &Scope, batch: &Batch, keys: &Keys) -> Batch {
    const SEALABLE: &str = "sealing cannot fail";
    let mut worker = Worker::new(scope, Work::Seal(keys.active()));
    let mut write = |write: &Write| Write {
        expected: write.expected,
        entry: worker.entry(&write.entry).expect(SEALABLE).unwrap_or_else(|| write.entry.clone()),
        record: write
            .record
            .as_ref()
            .map(|record| worker.record(record).expect(SEALABLE).map_or_else(|| record.clone(), Arc::new)),
    };
    let writes = batch.writes.iter().map(&mut write).collect();
    let outputs = batch
        .outputs
        .as_ref()
        .map(|outputs| worker.outputs(outputs).expect(SEALABLE).unwrap_or_else(|| outputs.clone()));
    let configurations = batch
        .configurations
        .as_ref()
        .map(|it| worker.configurations(it).expect(SEALABLE).unwrap_or_else(|| it.clone()));
    Batch { writes, history: batch.history.clone(), outputs, configurations }
}

/// How the secrets of a batch stand.
fn found_in(scope: &Scope, batch: &Batch) -> Found {
    let mut found = Found::default();
    let mut worker = Worker::new(scope, Work::Find(&mut found));
    for write in &batch.writes {
        // Whoever only looks meets nothing that could fail.
        let _ = worker.entry(&write.entry);
        let _ = write.record.as_ref().map(|record| worker.record(record));
    }
    let _ = batch.outputs.as_ref().map(|outputs| worker.outputs(outputs));
    let _ = batch.configurations.as_ref().map(|it| worker.configurations(it));
    found
}

impl Store for SealedStore {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move {
            let snapshot = self.inner.load(scope).await?;
            let mut found = Found::default();
            Worker::new(scope, Work::Find(&mut found)).look_at(&snapshot);
            if !found.sealed {
                return Ok(snapshot);
            }
            let keys = self.keys_to_open(scope, &found.keys).await?;
            let opened = Worker::new(scope, Work::Open(&keys)).snapshot(snapshot);
            opened.map_err(|unopened| self.damaged(&unopened))
        })
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        self.inner.versions(scope)
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move {
            // Before the lease, so that whoever cannot seal leaves nothing behind.
            if self.remembered(scope).is_none() {
                self.current_keys(scope).await?;
            }
            let acquired = self.inner.acquire(scope, holder, term).await?;
            if let Acquired::Lease(lease) = &acquired
                && let Err(error) = self.current_keys(scope).await
            {
                self.inner.release(scope, lease).await?;
                return Err(error);
            }
            Ok(acquired)
        })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.renew(scope, lease)
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.release(scope, lease)
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.inner.unlock(scope, run)
    }

    fn lease_freed<'a>(&'a self, scope: &'a Scope) -> Option<BoxFuture<'a, ()>> {
        self.inner.lease_freed(scope)
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
        Box::pin(async move {
            if !found_in(scope, batch).open {
                return self.inner.commit(scope, token, batch).await;
            }
            let keys = self.keys_to_seal(scope).await?;
            self.inner.commit(scope, token, &sealed(scope, batch, &keys)).await
        })
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            let mut journal = self.inner.journal(scope, id).await?;
            let mut found = Found::default();
            let mut worker = Worker::new(scope, Work::Find(&mut found));
            journal.iter().for_each(|entry| drop(worker.entry(entry)));
            if !found.sealed {
                return Ok(journal);
            }
            let keys = self.keys_to_open(scope, &found.keys).await?;
            let mut worker = Worker::new(scope, Work::Open(&keys));
            for entry in &mut journal {
                if let Some(opened) = worker.entry(entry).map_err(|unopened| self.damaged(&unopened))? {
                    *entry = opened;
                }
            }
            Ok(journal)
        })
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.inner.forget_before_resealing(scope, token)
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
            let forgotten = self.inner.forget_scope(scope, token).await?;
            if forgotten {
                self.lock().remove(scope);
            }
            Ok(forgotten)
        })
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.inner.scopes()
    }
}
