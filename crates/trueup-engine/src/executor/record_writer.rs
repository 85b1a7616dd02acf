//! Writing a record: each step by which it changes is made durable before the run goes on.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smol_str::SmolStr;
use trueup_core::Address;
use trueup_provider::{Configured, GenerationNumber};
use trueup_state::{
    Cause, ConfigurationNumber, Entry, Generation, Record, RecordId, Step, StoreError, Version, Write,
    transition,
};

use super::Run;

/// A record as the run knows it, and changes it.
pub(crate) struct RecordWriter {
    /// Given to a new record by its first step, so that records which are made together have ids side by side.
    id: OnceLock<RecordId>,
    /// The next generation's number, kept likewise.
    next_number: GenerationNumber,
    state: Mutex<RecordState>,
    /// The provider by whose configuration steps happen from now on, and that configuration's number once it is used.
    by: Mutex<Option<(Configured, Option<ConfigurationNumber>)>>,
}

/// The state of a record.
#[derive(Clone)]
struct RecordState {
    /// The address of first creation, kept over a replacement that deletes first.
    origin: Address,
    record: Option<Arc<Record>>,
    version: Option<Version>,
    /// Older generations that the plan did not know of: only another plan may delete them.
    unplanned: Vec<GenerationNumber>,
    /// What the store holds, and the steps from there to the record: they go with the first step that is made. What
    /// stays as it is, is not written only because a new release reads it differently.
    behind: Option<(Arc<Record>, Vec<Step>)>,
}

impl RecordWriter {
    /// The record of a resource, or the place for one. `behind` is what the store holds instead, with the steps from there.
    pub(crate) fn new(
        origin: Address,
        record: Option<(Arc<Record>, Version)>,
        behind: Option<(Arc<Record>, Vec<Step>)>,
    ) -> Self {
        let id = record.as_ref().map_or_else(OnceLock::new, |(record, _)| record.id.into());
        let next_number = record.as_ref().map_or(GenerationNumber::FIRST, |(record, _)| record.next_number());
        let (record, version) = record.unzip();
        let unplanned = Vec::new();
        let state = Mutex::new(RecordState { origin, record, version, unplanned, behind });
        RecordWriter { id, next_number, state, by: Mutex::default() }
    }

    /// Notes by which provider objects are made and seen from now on.
    pub(crate) fn work_by(&self, config: &Configured) {
        *self.by.lock().unwrap_or_else(PoisonError::into_inner) = Some((config.clone(), None));
    }

    /// The number of the configuration by which steps happen now.
    pub(crate) fn configuration(&self, run: &Run<'_>) -> Option<ConfigurationNumber> {
        let mut by = self.by.lock().unwrap_or_else(PoisonError::into_inner);
        let (config, number) = by.as_mut()?;
        if number.is_none() {
            *number = run.recorded.number(config);
        }
        *number
    }

    /// The same, for steps that tell what it was used for.
    fn configuration_of(&self, run: &Run<'_>, step: &Step) -> Option<ConfigurationNumber> {
        match step {
            Step::CreateBegun { .. }
            | Step::Adopted { .. }
            | Step::Settled { .. }
            | Step::Refreshed { .. } => self.configuration(run),
            _ => None,
        }
    }

    /// The record as it is now.
    pub(crate) fn record(&self) -> Option<Arc<Record>> {
        self.lock().record.clone()
    }

    fn lock(&self) -> MutexGuard<'_, RecordState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the provider that manages it.
    pub(crate) fn provider(&self) -> SmolStr {
        self.lock().record.as_ref().map(|record| record.meta.provider.clone()).unwrap_or_default()
    }

    /// The address of first creation.
    pub(crate) fn origin(&self) -> Address {
        self.lock().origin.clone()
    }

    /// Keeps older generations that were found during the run for another plan.
    pub(crate) fn keep_unplanned(&self, numbers: impl IntoIterator<Item = GenerationNumber>) {
        self.lock().unplanned.extend(numbers);
    }

    /// The older generations that the plan knew of, or that this run has replaced.
    pub(crate) fn deposed(&self) -> Vec<Generation> {
        let known = self.lock();
        let deposed = known.record.iter().flat_map(|record| &record.deposed);
        deposed.filter(|generation| !known.unplanned.contains(&generation.number)).cloned().collect()
    }

    /// The number of the next generation, never one that was used before.
    pub(crate) fn next_number(&self) -> GenerationNumber {
        self.record().map_or(GenerationNumber::FIRST, |record| record.next_number()).max(self.next_number)
    }

    /// Makes a step durable.
    pub(crate) async fn step(&self, run: &Run<'_>, step: Step) -> Result<(), StoreError> {
        self.steps(run, vec![step]).await
    }

    /// Makes several steps durable, all or none.
    pub(crate) async fn steps(&self, run: &Run<'_>, steps: Vec<Step>) -> Result<(), StoreError> {
        let id = *self.id.get_or_init(|| run.fresh_record_id());
        let RecordState { mut origin, mut record, version, unplanned, behind } = self.lock().clone();
        let mut all = Vec::new();
        if let Some((stored, migrations)) = behind.filter(|_| !steps.is_empty()) {
            record = Some(stored);
            all = migrations;
        }
        all.extend(steps);
        let mut writes = Vec::with_capacity(all.len());
        for step in all {
            let configuration = self.configuration_of(run, &step);
            let entry = Entry::new(id, step).at(run.calls.clock.now()).by(configuration);
            let next = transition(record.map(Arc::unwrap_or_clone), &entry).map_err(|illegal| {
                StoreError::Damaged { location: origin.to_string(), what: Cause::new(illegal) }
            })?;
            record = next.map(Arc::new);
            writes.push(Write { expected: version, entry, record: record.clone() });
        }
        let version = run.journal.commit(writes).await?;
        if let Some(record) = &record {
            origin = record.origin.clone();
        }
        let version = record.as_ref().map(|_| version);
        *self.lock() = RecordState { origin, record, version, unplanned, behind: None };
        Ok(())
    }
}
