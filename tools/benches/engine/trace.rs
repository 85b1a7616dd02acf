//! A store that remembers what was committed, and how many rows of which size that was.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use trueup_core::JsonForm;
use trueup_provider::BoxFuture;
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, RecordId, RunSummary, Scope,
    Snapshot, Store, StoreError, Version,
};

use crate::watch::Watch;

/// Passes everything on, and keeps the batches.
pub(crate) struct Traced {
    store: Arc<dyn Store>,
    batches: Mutex<Vec<(Batch, Duration, Duration)>>,
    watch: Watch,
}

/// What one commit wrote.
#[derive(Default)]
pub(crate) struct Commit {
    /// The records written last, by id, with the bytes of their rows; 0 if the record was deleted.
    pub(crate) records: Vec<(RecordId, usize)>,
    /// The bytes of each entry of the journal.
    pub(crate) journal: Vec<usize>,
    /// The bytes of each line of the history.
    pub(crate) history: Vec<usize>,
    /// The bytes of the stack's outputs, if they were written.
    pub(crate) outputs: Option<usize>,
    /// How long it took.
    pub(crate) took: Duration,
    /// When it returned, from when the store was opened.
    pub(crate) returned: Duration,
}

impl Traced {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Traced { store, batches: Mutex::default(), watch: Watch::start() }
    }

    /// What was committed since this was last asked.
    pub(crate) fn take(&self) -> Vec<Commit> {
        let batches = std::mem::take(&mut *self.batches.lock().expect("nobody panics here"));
        batches.iter().map(|(batch, took, returned)| measured(batch, *took, *returned)).collect()
    }
}

impl Commit {
    /// How many rows it wrote.
    pub(crate) fn rows(&self) -> usize {
        self.records.len() + self.journal.len() + self.history.len()
    }

    /// The bytes of each of its rows.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        let records = self.records.iter().map(|(_, bytes)| *bytes);
        records.chain(self.journal.iter().copied()).chain(self.history.iter().copied()).chain(self.outputs)
    }
}

/// How many steps commits hold.
pub(crate) fn steps(commits: &[Commit]) -> usize {
    commits.iter().map(|commit| commit.journal.len()).sum()
}

fn measured(batch: &Batch, took: Duration, returned: Duration) -> Commit {
    let mut commit = Commit { took, returned, ..Commit::default() };
    for write in &batch.writes {
        let id = write.entry.id;
        let key = id.to_string().len();
        commit.journal.push(key + serde_json::to_string(&write.entry).map_or(0, |text| text.len()));
        let row = write.record.as_ref().map_or(0, |record| {
            let body = serde_json::to_string(record).map_or(0, |text| text.len());
            key + record.address.to_string().len() + body
        });
        commit.records.retain(|(other, _)| *other != id);
        commit.records.push((id, row));
    }
    commit.history = batch.history.iter().map(|line| line.event.len()).collect();
    commit.outputs = batch.outputs.as_ref().map(|outputs| outputs.to_json(JsonForm::RECORD).len());
    commit
}

impl Store for Traced {
    fn location(&self) -> String {
        self.store.location()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        self.store.load(scope)
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        self.store.versions(scope)
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        self.store.acquire(scope, holder, term)
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.renew(scope, lease)
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.release(scope, lease)
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.store.unlock(scope, run)
    }

    fn lease_freed<'a>(&'a self, scope: &'a Scope) -> Option<BoxFuture<'a, ()>> {
        self.store.lease_freed(scope)
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.store.keyring(scope)
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.replace_keyring(scope, expected, keyring)
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(async move {
            let began = self.watch.elapsed();
            let version = self.store.commit(scope, token, batch).await?;
            // Values are shared, so this is cheap beside the commit; what it weighs is found out later.
            let returned = self.watch.elapsed();
            let kept = (batch.clone(), returned - began, returned);
            self.batches.lock().expect("nobody panics here").push(kept);
            Ok(version)
        })
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.store.journal(scope, id)
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        self.store.runs(scope)
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        self.store.history(scope, run)
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.prune(scope, keep_runs)
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.store.held(scope)
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.forget_scope(scope, token)
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.store.scopes()
    }
}
