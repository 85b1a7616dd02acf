//! Changing a record, durably.

use std::sync::{Arc, Mutex, OnceLock};

use trueup_core::Address;
use trueup_state::{Entry, Record, RecordId, Step, StoreError, Version, Write, transition};

use super::Run;

/// A record as the run knows it.
pub(crate) struct Held {
    /// Given to a new record by its first step, so that records which are made together have ids side by side.
    id: OnceLock<RecordId>,
    /// The address of first creation, kept over a replacement that deletes first.
    origin: Address,
    /// The next generation's number, kept likewise.
    next_number: u64,
    state: Mutex<(Option<Arc<Record>>, Option<Version>)>,
}

impl Held {
    /// The record of a resource, or the place for one.
    pub(crate) fn new(address: &Address, record: Option<(Arc<Record>, Version)>) -> Self {
        let id = record.as_ref().map_or_else(OnceLock::new, |(record, _)| record.id.into());
        let origin = record.as_ref().map_or(address, |(record, _)| &record.origin).clone();
        let next_number = record.as_ref().map_or(0, |(record, _)| record.next_number());
        let (record, version) =
            record.map_or((None, None), |(record, version)| (Some(record), Some(version)));
        Held { id, origin, next_number, state: Mutex::new((record, version)) }
    }

    /// The record as it is now.
    pub(crate) fn record(&self) -> Option<Arc<Record>> {
        self.state.lock().ok().and_then(|state| state.0.clone())
    }

    /// The address of first creation.
    pub(crate) fn origin(&self) -> &Address {
        &self.origin
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
        let (mut record, version) = self.state.lock().map(|state| state.clone()).unwrap_or_default();
        let mut writes = Vec::with_capacity(steps.len());
        for step in steps {
            let entry = Entry { id, step };
            let next = transition(record.map(Arc::unwrap_or_clone), &entry).map_err(|illegal| {
                StoreError::Damaged { location: self.origin.to_string(), what: illegal.to_string() }
            })?;
            record = next.map(Arc::new);
            writes.push(Write { expected: version, entry, record: record.clone() });
        }
        let version = run.journal.commit(writes).await?;
        if let Ok(mut state) = self.state.lock() {
            let version = record.as_ref().map(|_| version);
            *state = (record, version);
        }
        Ok(())
    }
}
