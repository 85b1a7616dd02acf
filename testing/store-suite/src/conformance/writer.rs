//! A writer as the engine is one: it holds a lease, knows the records it wrote, and turns steps into writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trueup_state::{
    Acquired, Batch, Entry, HistoryLine, Lease, Record, RecordId, Scope, Snapshot, Step, Store, StoreError,
    Version, Write, transition,
};

use super::samples::holder;

/// How long leases last in the suite.
pub(super) const TERM: Duration = Duration::from_secs(60);

/// Someone who holds the lease of a scope and writes to it.
pub(super) struct Writer {
    pub(super) store: Arc<dyn Store>,
    pub(super) scope: Scope,
    pub(super) lease: Lease,
    known: BTreeMap<RecordId, (Arc<Record>, Version)>,
}

impl Writer {
    /// Takes the lease, which must be free, and loads the records.
    pub(super) async fn start(store: &Arc<dyn Store>, scope: &Scope, run: &str) -> Writer {
        let lease = match store.acquire(scope, &holder(run), TERM).await {
            Ok(Acquired::Lease(lease)) => lease,
            other => panic!("run `{run}` should get the lease of {scope:?}, which is free: {other:?}"),
        };
        assert_eq!(lease.term, TERM, "the lease should last the term that was asked for");
        let loaded = load(store, scope).await;
        let known = loaded.records.into_iter().map(|(record, version)| (record.id, (record, version)));
        Writer { store: store.clone(), scope: scope.clone(), lease, known: known.collect() }
    }

    /// Gives the lease back.
    pub(super) async fn finish(self) {
        let released = self.store.release(&self.scope, &self.lease).await;
        assert_eq!(released, Ok(()), "a lease that is held can be given back");
    }

    /// The writes for some steps, one after the other.
    pub(super) fn writes(&self, steps: impl IntoIterator<Item = (RecordId, Step)>) -> Vec<Write> {
        let mut records: BTreeMap<RecordId, Option<Arc<Record>>> = BTreeMap::new();
        let write = |(id, step)| {
            let known = self.known.get(&id);
            let before = records.remove(&id).unwrap_or_else(|| known.map(|(record, _)| record.clone()));
            let entry = Entry::new(id, step);
            let after = transition(before.map(Arc::unwrap_or_clone), &entry);
            let record = after.expect("the suite takes legal steps").map(Arc::new);
            records.insert(id, record.clone());
            Write { expected: known.map(|(_, version)| *version), entry, record }
        };
        steps.into_iter().map(write).collect()
    }

    /// Commits some steps as one batch.
    pub(super) async fn commit(&mut self, steps: impl IntoIterator<Item = (RecordId, Step)>) -> Version {
        let writes = self.writes(steps);
        self.commit_batch(Batch { writes, ..Batch::default() }).await
    }

    /// Commits lines of history, and nothing else.
    pub(super) async fn commit_history(&mut self, history: Vec<HistoryLine>) -> Version {
        self.commit_batch(Batch { history, ..Batch::default() }).await
    }

    /// Commits a batch, which must succeed.
    pub(super) async fn commit_batch(&mut self, batch: Batch) -> Version {
        let version = match self.try_commit(&batch).await {
            Ok(version) => version,
            Err(error) => panic!("a batch that may be committed was refused: {error}"),
        };
        for Write { entry, record, .. } in batch.writes {
            match record {
                Some(record) => self.known.insert(entry.id, (record, version)),
                None => self.known.remove(&entry.id),
            };
        }
        version
    }

    /// Commits a batch, or not.
    pub(super) async fn try_commit(&self, batch: &Batch) -> Result<Version, StoreError> {
        self.store.commit(&self.scope, self.lease.token, batch).await
    }

    /// What should be recorded, by all that this writer knows.
    pub(super) fn expected(&self) -> Vec<(Arc<Record>, Version)> {
        self.known.values().cloned().collect()
    }

    /// Checks that the store holds what this writer knows.
    pub(super) async fn check_stored(&self, when: &str) {
        let stored = load(&self.store, &self.scope).await.records;
        assert_eq!(stored, self.expected(), "{when}, the records should be as they were written");
        let versions = self.store.versions(&self.scope).await;
        let expected = stored.iter().map(|(record, version)| (record.id, *version)).collect();
        assert_eq!(versions, Ok(expected), "{when}, the versions should be those of the records");
    }
}

/// All that is recorded.
pub(super) async fn load(store: &Arc<dyn Store>, scope: &Scope) -> Snapshot {
    match store.load(scope).await {
        Ok(snapshot) => snapshot,
        Err(error) => panic!("{scope:?} should load: {error}"),
    }
}
