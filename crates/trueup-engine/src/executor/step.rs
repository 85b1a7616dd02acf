//! Changing a record, durably.

use std::sync::Mutex;

use trueup_core::Address;
use trueup_state::{Entry, Record, RecordId, Step, StoreError, Version, Write, transition};

use super::Run;

/// A record as the run knows it.
pub(crate) struct Held {
    id: RecordId,
    /// The address of first creation, kept over a replacement that deletes first.
    origin: Address,
    /// The next generation's number, kept likewise.
    next_number: u64,
    state: Mutex<(Option<Record>, Option<Version>)>,
}

impl Held {
    /// The record of a resource, or the place for one.
    pub(crate) fn new(address: &Address, record: Option<(Record, Version)>, fresh_id: RecordId) -> Self {
        let id = record.as_ref().map_or(fresh_id, |(record, _)| record.id);
        let origin = record.as_ref().map_or(address, |(record, _)| &record.origin).clone();
        let next_number = record.as_ref().map_or(0, |(record, _)| record.next_number());
        let (record, version) =
            record.map_or((None, None), |(record, version)| (Some(record), Some(version)));
        Held { id, origin, next_number, state: Mutex::new((record, version)) }
    }

    /// The record as it is now.
    pub(crate) fn record(&self) -> Option<Record> {
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
        let (mut record, version) = self.state.lock().map(|state| state.clone()).unwrap_or_default();
        let mut writes = Vec::with_capacity(steps.len());
        for step in steps {
            let entry = Entry { id: self.id, step };
            record = transition(record, &entry).map_err(|illegal| StoreError::Damaged {
                location: self.origin.to_string(),
                what: illegal.to_string(),
            })?;
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
