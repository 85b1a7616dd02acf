//! The store: what keeps records, journal, leases and history.
//!
//! **Guarantees** a store gives: a commit is durable when it returns, and happens as a whole or not at all; a commit
//! with a superseded fencing token, or on a record that changed since it was loaded, is refused and changes nothing;
//! the cost of a commit does not grow with the number of records (STATE-6). **Assumptions** it makes: one process
//! commits at a time for each scope, and holds the lease while it does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::Value;
use trueup_provider::BoxFuture;

use crate::cause::Cause;
use crate::configurations::Configurations;
use crate::entry::Entry;
use crate::lease::{Acquired, FencingToken, HeldLease, Holder, Lease};
use crate::record::{Record, RecordId};
use crate::sealing::KeyError;

/// Which records: those of one stage of one stack. Names that are prefixes of one another never mix (STATE-1).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The stack.
    pub stack: SmolStr,
    /// The stage.
    pub stage: SmolStr,
}

impl Scope {
    /// The stage of a stack.
    pub fn new(stack: impl Into<SmolStr>, stage: impl Into<SmolStr>) -> Self {
        Scope { stack: stack.into(), stage: stage.into() }
    }
}

/// Grows with each commit; a record's version is that of the commit that last changed it (STATE-2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

/// All that is recorded in a scope.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// The records with their versions, in the order of their ids. They are shared, because stacks have many and most
    /// stay as they are.
    pub records: Vec<(Arc<Record>, Version)>,
    /// The stack's outputs, as the last successful run left them.
    pub outputs: Option<Value>,
    /// The configurations of providers that objects were made with.
    pub configurations: Configurations,
}

impl Snapshot {
    /// The snapshot as it will be once this batch is committed, but for versions: those of changed records are 0.
    #[must_use]
    pub fn after(self, batch: &Batch) -> Self {
        let mut records: BTreeMap<RecordId, (Arc<Record>, Version)> =
            self.records.into_iter().map(|(record, version)| (record.id, (record, version))).collect();
        for write in &batch.writes {
            match &write.record {
                Some(record) => records.insert(write.entry.id, (record.clone(), Version::default())),
                None => records.remove(&write.entry.id),
            };
        }
        Snapshot {
            records: records.into_values().collect(),
            outputs: batch.outputs.clone().or(self.outputs),
            configurations: batch.configurations.clone().unwrap_or(self.configurations),
        }
    }
}

/// What is committed as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// Steps of records, in order. Several may concern one record; what the last of them leaves is kept.
    pub writes: Vec<Write>,
    /// Lines for the history of the run.
    pub history: Vec<HistoryLine>,
    /// The stack's outputs, if they are settled.
    pub outputs: Option<Value>,
    /// The configurations that objects were made with, if they are others than before.
    pub configurations: Option<Configurations>,
}

/// A step of one record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    /// The version of the record before this batch; `None` if there is no such record yet. Several writes of one record
    /// in a batch repeat it; the store checks the first.
    pub expected: Option<Version>,
    /// What happened.
    pub entry: Entry,
    /// The record afterwards, as [`transition`](crate::transition) gives it; `None` if nothing is left.
    pub record: Option<Arc<Record>>,
}

/// A line in the history of a run: an event, as it went to subscribers (STATE-8). A line of the same run and sequence
/// takes the place of an earlier one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HistoryLine {
    /// The run.
    pub run: String,
    /// Counts up from 0 within the run.
    pub sequence: u64,
    /// When.
    pub at: SystemTime,
    /// The event, as JSON.
    pub event: String,
}

/// A run, as the history lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunSummary {
    /// The run.
    pub run: String,
    /// When its first line was written.
    pub started: SystemTime,
    /// How many lines it has.
    pub lines: u64,
}

/// What keeps records, journal, leases and history.
pub trait Store: Send + Sync {
    /// Where the store is, for people: a path or address without secrets.
    fn location(&self) -> String;

    /// All that is recorded in a scope. Takes no lease and blocks nobody (STATE-5).
    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>>;

    /// The versions of all records of a scope, in the order of their ids: whether anything changed since it was loaded.
    /// A store that can tell without reading the records should.
    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        Box::pin(async move {
            let Snapshot { records, .. } = self.load(scope).await?;
            Ok(records.iter().map(|(record, version)| (record.id, *version)).collect())
        })
    }

    /// Takes the lease of a scope if nobody holds it, or if it has expired by the store's clock.
    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>>;

    /// Makes the lease last another term from now, also when it has expired and nobody took it. Fails with
    /// [`StoreError::Superseded`] if it was taken over, taken away or given back.
    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Gives the lease back. What was taken over in the meantime is left alone.
    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Takes the lease away from the holder of this run (STATE-4). The held lease, if it was that one.
    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>>;

    /// The lease of a scope, if [`acquire`](Store::acquire) would say that someone holds it. Changes nothing.
    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>>;

    /// Completes when the lease of a scope may have been given back. `None` if the store cannot tell, where waiting means
    /// asking often.
    fn lease_freed<'a>(&'a self, _scope: &'a Scope) -> Option<BoxFuture<'a, ()>> {
        None
    }

    /// The keys that seal the secrets of a scope, themselves sealed by a key that the store does not have. What they say
    /// is not for the store to read.
    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>>;

    /// Puts a keyring in the place of the expected one, durably. `false`, and nothing changed, if another is there.
    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Commits a batch, durably and as a whole, under a lease. The answer is the version of all that it changed.
    /// Fails with [`StoreError::Superseded`] if the lease was taken over, taken away or given back; that it has expired
    /// alone is no reason.
    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>>;

    /// The journal of a record, oldest first.
    fn journal<'a>(&'a self, scope: &'a Scope, id: RecordId)
    -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// The runs of a scope, newest first: in the order in which their first lines were committed, whatever clocks say.
    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>>;

    /// The lines of a run, in order.
    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>>;

    /// Forgets all but the newest runs, and the journal entries of records that no longer exist.
    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets, under a lease, what the journal says of each record from before it was last resealed, and of records that
    /// no longer exist: nothing is then left of what older keys sealed. `false` if the store keeps its journal as it is.
    fn forget_before_resealing<'a>(
        &'a self,
        _scope: &'a Scope,
        _token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    /// Forgets, under a lease, all that is kept of a scope without records: outputs, configurations, journal, history and
    /// keyring. `false`, and nothing forgotten, if it has records. Only the fencing token stays, so that tokens grow.
    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// All scopes that hold records, outputs, journal or history, in order. A lease or a keyring
    /// alone is nothing held.
    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>>;
}

impl Write {
    /// The address of the resource, for people; its id where the step leaves nothing that has an address.
    pub fn subject(&self) -> String {
        let address = self.record.as_ref().map(|record| &record.address);
        address.map_or_else(|| self.entry.id.to_string(), ToString::to_string)
    }
}

/// Why a store could not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The writer's lease was taken over: it must stop.
    #[error("another run took over the lease; nothing was written")]
    Superseded,
    /// A record changed since the writer loaded it.
    #[error("the record of {address} was changed by another run; nothing was written")]
    Conflict {
        /// The resource.
        address: String,
    },
    /// The store cannot be reached or written.
    #[error("cannot {attempted} the state at {location}: {cause}")]
    Unavailable {
        /// What was attempted, such as `write`.
        attempted: &'static str,
        /// Where the store is.
        location: String,
        /// What the system says.
        #[source]
        cause: Cause,
    },
    /// What is stored does not read back.
    #[error("the state at {location} is damaged: {what}; it was not touched")]
    Damaged {
        /// Where the store is.
        location: String,
        /// What and where.
        #[source]
        what: Cause,
    },
    /// The store was removed, replaced or renamed while this writer had it open: nothing more is recorded there.
    #[error("the state at {location} was taken away while in use: {what}; {}", told_copy(.copy))]
    TakenAway {
        /// Where the store was.
        location: String,
        /// What happened to it, such as `state.db was removed`.
        what: String,
        /// Where a copy with everything committed so far is; or why there is none.
        copy: Result<String, Cause>,
    },
    /// The secrets of a scope can be neither opened nor sealed.
    #[error("the secrets of {stack} ({stage}) cannot be opened or sealed: {error}; nothing was touched")]
    Key {
        /// The stack.
        stack: String,
        /// The stage.
        stage: String,
        /// Where the key was looked for, and what is wrong.
        #[source]
        error: KeyError,
    },
    /// What is stored is of another format version.
    #[error(
        "the state at {location} has format {found}, this program knows up to {known}: use a newer trueup"
    )]
    Format {
        /// Where the store is.
        location: String,
        /// The version found.
        found: u64,
        /// The newest version known.
        known: u64,
    },
}

fn told_copy(copy: &Result<String, Cause>) -> String {
    match copy {
        Ok(place) => format!("a copy with everything recorded so far is at {place}"),
        Err(cause) => format!("no copy of it could be written: {cause}"),
    }
}
