//! Changing keys, and giving up what no key opens any more.
//!
//! A change of keys is safe to interrupt anywhere. First the keyring gets the new key beside the old ones, then every
//! record is sealed by the new one, then the journal from before is forgotten, and only when nothing is left that the old
//! keys sealed do they go. Whoever runs it again goes on from wherever it stopped, with the same keys at hand: by then the
//! keyring may be wrapped by the old key or by the new one.

use std::sync::Arc;

use trueup_core::Address;

use super::error::{KeyError, no_key};
use super::keyring::{Keyring, Keys};
use super::source::KeySources;
use super::work::{Work, Worker, opened};
use crate::cause::Cause;
use crate::entry::{Entry, Step};
use crate::lease::Lease;
use crate::record::Record;
use crate::store::{Batch, Scope, Snapshot, Store, StoreError, Version, Write};

/// How many records are written at a time.
const BATCH: usize = 500;

/// What a change of keys came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rekeyed {
    /// How many records were sealed anew.
    pub records: usize,
    /// Whether the old keys had to be kept, because the store keeps its journal.
    pub old_keys_kept: bool,
}

/// What was given up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forgotten {
    /// The fields of each resource.
    pub fields: Vec<(Address, Vec<String>)>,
    /// The stack's outputs.
    pub outputs: Vec<String>,
    /// Configurations of providers.
    pub configurations: Vec<String>,
    /// Whether the keyring was given up as well: no key opens it.
    pub keyring: bool,
}

/// Seals all secrets of a scope by a new data key, which the key that `next` chooses wraps. The store is the one that
/// keeps them, not a [`SealedStore`](super::SealedStore) around it; its lease is held, and renewed meanwhile.
pub async fn rekey(
    store: &dyn Store,
    scope: &Scope,
    lease: &Lease,
    current: &KeySources,
    next: &KeySources,
) -> Result<Rekeyed, StoreError> {
    let no_key = |error: KeyError| no_key(scope, error);
    let stored = store.keyring(scope).await?;
    let old = match &stored {
        Some(text) => {
            let keyring = Keyring::parse(text).map_err(no_key)?;
            unlocked(&keyring, scope, current, next).await.map_err(no_key)?
        }
        None => None,
    };
    let lock = next.choose().await.map_err(no_key)?;
    let keys = old.map_or_else(Keys::random, Keys::renewed);
    let keyring = Keyring::of(&keys, &lock, scope).await.map_err(no_key)?.to_text();
    replace(store, scope, stored.as_deref(), &keyring).await?;

    let snapshot = store.load(scope).await?;
    let snapshot = opened(scope, snapshot, &keys)
        .map_err(|unopened| StoreError::Damaged { location: store.location(), what: Cause::new(unopened) })?;
    let sealed = Worker::new(scope, Work::Seal(keys.active())).snapshot(snapshot);
    let sealed = sealed.expect("sealing cannot fail");
    let records = sealed.records.len();
    write(store, scope, lease, sealed).await?;

    let forgotten = store.forget_before_resealing(scope, lease.token).await?;
    if forgotten {
        let alone = Keyring::of(&keys.without_older(), &lock, scope).await.map_err(no_key)?;
        replace(store, scope, Some(&keyring), &alone.to_text()).await?;
    }
    Ok(Rekeyed { records, old_keys_kept: !forgotten })
}

/// The keys in a keyring that the current key opens, or the next one, if a change of keys was cut off.
async fn unlocked(
    keyring: &Keyring,
    scope: &Scope,
    current: &KeySources,
    next: &KeySources,
) -> Result<Option<Keys>, KeyError> {
    match keyring.unlock(current, scope).await {
        // If neither opens it, the current one is what is missing.
        Err(error) => keyring.unlock(next, scope).await.map_err(|_| error),
        opened => opened,
    }
}

/// Gives up the secrets that do not open: inputs count as changed, outputs as unknown, private bytes are gone
/// (SECRET-4). Without a lease, only tells which.
pub async fn forget(
    store: &dyn Store,
    scope: &Scope,
    lease: Option<&Lease>,
    sources: &KeySources,
) -> Result<Forgotten, StoreError> {
    let stored = store.keyring(scope).await?;
    let keys = match &stored {
        Some(text) => match Keyring::parse(text) {
            Ok(keyring) => match keyring.unlock(sources, scope).await {
                Ok(keys) => keys,
                // A service that does not answer today may do so tomorrow.
                Err(error @ KeyError::Unavailable { .. }) => return Err(no_key(scope, error)),
                Err(_) => None,
            },
            // What a newer program can open is not lost.
            Err(error @ KeyError::Format { .. }) => return Err(no_key(scope, error)),
            Err(_) => None,
        },
        None => None,
    };
    let snapshot = store.load(scope).await?;
    let mut forgotten = Forgotten { keyring: stored.is_some() && keys.is_none(), ..Forgotten::default() };
    let mut left = Snapshot::default();
    for (record, version) in snapshot.records {
        let mut fields = Vec::new();
        let after = Worker::new(scope, Work::Forget(keys.as_ref(), &mut fields)).record(&record);
        let after = after.expect("giving up cannot fail");
        if let (Some(after), false) = (after, fields.is_empty()) {
            fields.sort();
            fields.dedup();
            forgotten.fields.push((record.address.clone(), fields));
            left.records.push((Arc::new(after), version));
        }
    }
    if let Some(outputs) = &snapshot.outputs {
        let work = Work::Forget(keys.as_ref(), &mut forgotten.outputs);
        left.outputs = Worker::new(scope, work).outputs(outputs).expect("giving up cannot fail");
    }
    let work = Work::Forget(keys.as_ref(), &mut forgotten.configurations);
    let configurations = Worker::new(scope, work).configurations(&snapshot.configurations);
    left.configurations = configurations.expect("giving up cannot fail").unwrap_or_default();
    let Some(lease) = lease else { return Ok(forgotten) };
    write(store, scope, lease, left).await?;
    if forgotten.keyring {
        // Whatever else the journal holds is as lost, and in nobody's way.
        store.forget_before_resealing(scope, lease.token).await?;
        replace(store, scope, stored.as_deref(), &Keyring::empty().to_text()).await?;
    }
    Ok(forgotten)
}

/// Writes records that differ from those that are stored in their secrets alone.
async fn write(store: &dyn Store, scope: &Scope, lease: &Lease, after: Snapshot) -> Result<(), StoreError> {
    let Snapshot { records, outputs, configurations } = after;
    let configurations = Some(configurations).filter(|it| !it.is_empty());
    // Without outputs or records too: that nobody else holds the lease now is checked with it.
    store.commit(scope, lease.token, &Batch { outputs, configurations, ..Batch::default() }).await?;
    for records in records.chunks(BATCH) {
        let writes = records.iter().map(resealing).collect();
        store.commit(scope, lease.token, &Batch { writes, ..Batch::default() }).await?;
    }
    Ok(())
}

fn resealing((record, version): &(Arc<Record>, Version)) -> Write {
    let step = Step::Resealed { record: Box::new(Record::clone(record)) };
    Write { expected: Some(*version), entry: Entry::new(record.id, step), record: Some(record.clone()) }
}

async fn replace(
    store: &dyn Store,
    scope: &Scope,
    expected: Option<&str>,
    keyring: &str,
) -> Result<(), StoreError> {
    match store.replace_keyring(scope, expected, keyring).await? {
        true => Ok(()),
        // Only another change of keys does that, and it holds the lease by now.
        false => Err(StoreError::Superseded),
    }
}
