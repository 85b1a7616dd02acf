//! Moving the state of a stack's stage from one store to another.
//!
//! Everything is copied as it is, secrets sealed, then read back and compared; only then is the old store closed, by a
//! lease that nobody gives back. What was recorded is never in neither store, and writers never are in both: a move that
//! is cut off leaves the old store in use, and is done by moving again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::lease::MOVED_TO;
use crate::sealing::is_sealed_throughout;
use crate::{
    Acquired, Batch, Entry, HeldLease, Holder, Lease, Record, RecordId, Scope, Snapshot, Step, Store,
    StoreError, Write,
};

/// How long the leases last while it moves; no single step takes longer.
const TERM: Duration = Duration::from_secs(60);

/// More than anyone waits. Stores cut it to what they can count.
const FOR_GOOD: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// How many lines of history one commit takes along.
const LINES: usize = 1_000;

/// What was moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The records.
    pub records: usize,
    /// The runs of the history.
    pub runs: usize,
}

/// Why nothing was moved. The old store is as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MoveError {
    /// Someone is at work in one of the stores.
    #[error("the stage is held by {}", .0.holder)]
    Held(Box<HeldLease>),
    /// Something else is recorded where it should go.
    #[error("something else is recorded at {location}: {what}")]
    Occupied {
        /// The new store.
        location: String,
        /// What differs.
        what: String,
    },
    /// Secrets would go along in the clear.
    #[error("some secrets at {location} are not sealed")]
    Unsealed {
        /// The old store.
        location: String,
    },
    /// What was copied does not read back as it was written.
    #[error("what was copied to {location} does not read back as it was: {what}")]
    Unverified {
        /// The new store.
        location: String,
        /// What differs.
        what: String,
    },
    /// A store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Moves a scope. `who` is told to those who wait for either store, and names the lease that closes the old one.
pub async fn move_scope(
    from: &dyn Store,
    to: &dyn Store,
    scope: &Scope,
    who: &Holder,
) -> Result<Moved, MoveError> {
    let leaving = Holder { reason: format!("{MOVED_TO}{}", to.location()), ..who.clone() };
    let arriving = Holder { reason: format!("moved from {}", from.location()), ..who.clone() };
    let old = taken(from, scope, &leaving).await?;
    let new = match taken(to, scope, &arriving).await {
        Ok(lease) => lease,
        Err(error) => return Err(given_back(from, scope, &old, error).await),
    };
    let moving = Moving { from, to, scope, old: &old, new: &new };
    let moved = match moving.copy().await {
        Ok(moved) => moved,
        Err(error) => {
            let error = given_back(to, scope, &new, error).await;
            return Err(given_back(from, scope, &old, error).await);
        }
    };
    from.renew(scope, &Lease { term: FOR_GOOD, ..old }).await?;
    to.release(scope, &new).await?;
    Ok(moved)
}

async fn taken(store: &dyn Store, scope: &Scope, holder: &Holder) -> Result<Lease, MoveError> {
    match store.acquire(scope, holder, TERM).await? {
        Acquired::Lease(lease) => Ok(lease),
        Acquired::Held(held) => Err(MoveError::Held(Box::new(held))),
    }
}

/// Gives a lease back on the way out. If that fails too, it expires: what went wrong first is what counts.
async fn given_back(store: &dyn Store, scope: &Scope, lease: &Lease, error: MoveError) -> MoveError {
    let _ = store.release(scope, lease).await;
    error
}

struct Moving<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    scope: &'a Scope,
    old: &'a Lease,
    new: &'a Lease,
}

impl Moving<'_> {
    async fn copy(&self) -> Result<Moved, MoveError> {
        let Moving { from, to, scope, .. } = *self;
        let snapshot = from.load(scope).await?;
        if !is_sealed_throughout(scope, &snapshot) {
            return Err(MoveError::Unsealed { location: from.location() });
        }
        let there = to.load(scope).await?;
        let keyring = from.keyring(scope).await?;
        let arrived = self.check_place(&snapshot, &there, keyring.as_deref()).await?;
        if let (Some(keyring), None) = (&keyring, to.keyring(scope).await?) {
            to.replace_keyring(scope, None, keyring).await?;
        }
        let runs = self.copy_history().await?;
        self.renew().await?;
        if !arrived {
            // As a whole: a stage of which half is recorded would have the other half created once more.
            let writes = snapshot.records.iter().map(|(record, _)| copied(record)).collect();
            let configurations = Some(snapshot.configurations.clone()).filter(|it| !it.is_empty());
            let outputs = snapshot.outputs.clone();
            let batch = Batch { writes, outputs, configurations, ..Batch::default() };
            to.commit(scope, self.new.token, &batch).await?;
        }
        self.renew().await?;
        self.verify(&snapshot, keyring.as_deref()).await?;
        Ok(Moved { records: snapshot.records.len(), runs })
    }

    async fn renew(&self) -> Result<(), MoveError> {
        self.from.renew(self.scope, self.old).await?;
        Ok(self.to.renew(self.scope, self.new).await?)
    }

    /// Whether all of it is there already, by a move that was cut off. Anything else there is in the way.
    async fn check_place(
        &self,
        snapshot: &Snapshot,
        there: &Snapshot,
        keyring: Option<&str>,
    ) -> Result<bool, MoveError> {
        let occupied = |what: String| MoveError::Occupied { location: self.to.location(), what };
        let sealed_there = self.to.keyring(self.scope).await?;
        if sealed_there.as_deref().is_some_and(|there| Some(there) != keyring) {
            return Err(occupied("its secrets have keys of their own".to_owned()));
        }
        if there.records.is_empty() && there.outputs.is_none() {
            return Ok(false);
        }
        difference(snapshot, there).map_or(Ok(true), |what| Err(occupied(what)))
    }

    /// Copies the runs, oldest first. A line that is there already is written once more in its place.
    async fn copy_history(&self) -> Result<usize, MoveError> {
        let Moving { from, to, scope, new, .. } = *self;
        let mut runs = from.runs(scope).await?;
        runs.reverse();
        for summary in &runs {
            self.renew().await?;
            let lines = from.history(scope, &summary.run).await?;
            for lines in lines.chunks(LINES) {
                to.commit(scope, new.token, &Batch { history: lines.to_vec(), ..Batch::default() }).await?;
            }
        }
        Ok(runs.len())
    }

    async fn verify(&self, snapshot: &Snapshot, keyring: Option<&str>) -> Result<(), MoveError> {
        let Moving { from, to, scope, .. } = *self;
        let unverified = |what: String| Err(MoveError::Unverified { location: to.location(), what });
        if let Some(what) = difference(snapshot, &to.load(scope).await?) {
            return unverified(what);
        }
        if keyring.is_some() && to.keyring(scope).await?.as_deref() != keyring {
            return unverified("the keys of its secrets differ".to_owned());
        }
        let (before, after) = (from.runs(scope).await?, to.runs(scope).await?);
        let lines = |runs: &[crate::RunSummary]| -> BTreeMap<String, u64> {
            runs.iter().map(|it| (it.run.clone(), it.lines)).collect()
        };
        match lines(&before) == lines(&after) {
            true => Ok(()),
            false => unverified("the history differs".to_owned()),
        }
    }
}

fn copied(record: &Arc<Record>) -> Write {
    let step = Step::Copied { record: Box::new(Record::clone(record)) };
    Write { expected: None, entry: Entry::new(record.id, step), record: Some(record.clone()) }
}

/// What differs between two snapshots, if anything does.
fn difference(left: &Snapshot, right: &Snapshot) -> Option<String> {
    let keyed = |snapshot: &Snapshot| -> BTreeMap<RecordId, Arc<Record>> {
        snapshot.records.iter().map(|(record, _)| (record.id, record.clone())).collect()
    };
    let (before, after) = (keyed(left), keyed(right));
    let differs = |(id, record): (&RecordId, &Arc<Record>)| {
        (after.get(id) != Some(record)).then(|| format!("the record of {}", record.address))
    };
    let beyond = || after.iter().find(|(id, _)| !before.contains_key(id));
    before
        .iter()
        .find_map(differs)
        .or_else(|| beyond().map(|(_, record)| format!("a record of {}", record.address)))
        .or_else(|| (left.outputs != right.outputs).then(|| "the outputs".to_owned()))
        .or_else(|| {
            let differ = left.configurations != right.configurations;
            differ.then(|| "the configurations of providers".to_owned())
        })
}
