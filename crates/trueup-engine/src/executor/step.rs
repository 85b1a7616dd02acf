//! Changing a record, durably.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use trueup_core::Address;
use trueup_state::{Entry, Generation, Record, RecordId, Step, StoreError, Version, Write, transition};

use super::Run;

/// A record as the run knows it.
pub(crate) struct Held {
    /// Given to a new record by its first step, so that records which are made together have ids side by side.
    id: OnceLock<RecordId>,
    /// The next generation's number, kept likewise.
    next_number: u64,
    state: Mutex<Known>,
}

/// What is known of a record.
#[derive(Clone)]
struct Known {
    /// The address of first creation, kept over a replacement that deletes first.
    origin: Address,
    record: Option<Arc<Record>>,
    version: Option<Version>,
    /// Older generations that the plan did not know of: only another plan may delete them.
    unplanned: Vec<u64>,
    /// What the store holds, and the steps from there to the record: they go with the first step that is made. What
    /// stays as it is, is not written only because a new release reads it differently.
    behind: Option<(Arc<Record>, Vec<Step>)>,
}

impl Held {
    /// The record of a resource, or the place for one. `behind` is what the store holds instead, with the steps from there.
    pub(crate) fn new(
        origin: Address,
        record: Option<(Arc<Record>, Version)>,
        behind: Option<(Arc<Record>, Vec<Step>)>,
    ) -> Self {
        let id = record.as_ref().map_or_else(OnceLock::new, |(record, _)| record.id.into());
        let next_number = record.as_ref().map_or(0, |(record, _)| record.next_number());
        let (record, version) = record.unzip();
        let unplanned = Vec::new();
        Held { id, next_number, state: Mutex::new(Known { origin, record, version, unplanned, behind }) }
    }

    /// The record as it is now.
    pub(crate) fn record(&self) -> Option<Arc<Record>> {
        self.lock().record.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of first creation.
    pub(crate) fn origin(&self) -> Address {
        self.lock().origin.clone()
    }

    /// Keeps older generations that were found during the run for another plan.
    pub(crate) fn keep_unplanned(&self, numbers: impl IntoIterator<Item = u64>) {
        self.lock().unplanned.extend(numbers);
    }

    /// The older generations that the plan knew of, or that this run has replaced.
    pub(crate) fn deposed(&self) -> Vec<Generation> {
        let known = self.lock();
        let deposed = known.record.iter().flat_map(|record| &record.deposed);
        deposed.filter(|generation| !known.unplanned.contains(&generation.number)).cloned().collect()
    }

    /// The number of the next generation, never one that was used before.
    pub(crate) fn next_number(&self) -> u64 {
        self.record().map_or(0, |record| record.next_number()).max(self.next_number)
    }

    /// Makes a step durable.
    pub(crate) async fn step(&self, run: &Run<'_>, step: Step) -> Result<(), StoreError> {
        self.steps(run, vec![step]).await
    }

    /// Makes several steps durable, all or none.
    pub(crate) async fn steps(&self, run: &Run<'_>, steps: Vec<Step>) -> Result<(), StoreError> {
        let id = *self.id.get_or_init(|| run.fresh_record_id());
        let Known { mut origin, mut record, version, unplanned, behind } = self.lock().clone();
        let mut all = Vec::new();
        if let Some((stored, migrations)) = behind.filter(|_| !steps.is_empty()) {
            record = Some(stored);
            all = migrations;
        }
        all.extend(steps);
        let mut writes = Vec::with_capacity(all.len());
        for step in all {
            let entry = Entry::new(id, step).at(run.clock.now());
            let next = transition(record.map(Arc::unwrap_or_clone), &entry).map_err(|illegal| {
                StoreError::Damaged { location: origin.to_string(), what: illegal.to_string() }
            })?;
            record = next.map(Arc::new);
            writes.push(Write { expected: version, entry, record: record.clone() });
        }
        let version = run.journal.commit(writes).await?;
        if let Some(record) = &record {
            origin = record.origin.clone();
        }
        let version = record.as_ref().map(|_| version);
        *self.lock() = Known { origin, record, version, unplanned, behind: None };
        Ok(())
    }
}
