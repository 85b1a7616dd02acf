//! What the commits and pieces of a scope come to: its records and outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trueup_core::{JsonError, read_json};
use trueup_state::rows::AddressPool;
use trueup_state::{Record, RecordId, Snapshot, StoreError, Version, Write};

use crate::head::{Change, CommitLine, Head, Outputs, Run};

/// The records and outputs of a scope, at a version.
#[derive(Default)]
pub(crate) struct Contents {
    pub(crate) version: u64,
    records: BTreeMap<RecordId, (Arc<Record>, Version)>,
    outputs: Option<Outputs>,
    /// The runs that were read, and what is in each.
    runs: Vec<(Run, Named)>,
    addresses: AddressPool,
}

/// What a run of pieces says something of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Named {
    pub(crate) ids: BTreeSet<RecordId>,
    pub(crate) outputs: bool,
}

/// A line in a piece of records.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line<R> {
    /// A record, and the version of the commit that left it so.
    Record(u64, R),
    /// A record that is gone.
    Gone(RecordId),
    Outputs(Outputs),
}

impl Contents {
    /// Nothing, until the runs are read that make up this version.
    pub(crate) fn at(version: u64) -> Self {
        Contents { version, ..Contents::default() }
    }

    /// What is recorded, by the head that these are the contents of.
    pub(crate) fn snapshot(&self, head: &Head) -> Snapshot {
        let outputs = self.outputs.as_ref().map(|outputs| outputs.value.clone());
        let configurations = head.configurations.clone();
        Snapshot { records: self.records.values().cloned().collect(), outputs, configurations }
    }

    pub(crate) fn versions(&self) -> Vec<(RecordId, Version)> {
        self.records.iter().map(|(id, (_, version))| (*id, *version)).collect()
    }

    pub(crate) fn has(&self, id: RecordId) -> bool {
        self.records.contains_key(&id)
    }

    pub(crate) fn count(&self) -> u64 {
        self.records.len() as u64
    }

    pub(crate) fn has_outputs(&self) -> bool {
        self.outputs.is_some()
    }

    /// The runs that these contents were read from or written to.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().map(|(run, _)| run)
    }

    /// Refuses writes of records that are not what the writer knows.
    pub(crate) fn check(&self, writes: &[Write]) -> Result<(), StoreError> {
        let mut seen = BTreeSet::new();
        for write in writes.iter().filter(|write| seen.insert(write.entry.id)) {
            let stored = self.records.get(&write.entry.id);
            if stored.map(|(_, version)| *version) != write.expected {
                let address = stored.map(|(record, _)| record.address.to_string());
                return Err(StoreError::Conflict { address: address.unwrap_or_else(|| write.subject()) });
            }
        }
        Ok(())
    }

    pub(crate) fn apply(&mut self, commit: &CommitLine) {
        self.version = commit.version;
        for Change { id, record } in &commit.records {
            match record {
                Some(record) => self.records.insert(*id, (record.clone(), Version(commit.version))),
                None => self.records.remove(id),
            };
        }
        if let Some(outputs) = &commit.outputs {
            self.outputs = Some(outputs.clone());
        }
    }

    /// Adds what the pieces of the next run say.
    pub(crate) fn read(&mut self, run: &Run, texts: &[String]) -> Result<(), JsonError> {
        let mut named = Named::default();
        for line in texts.iter().flat_map(|text| text.lines()) {
            match read_json::<Line<Record>>(line)? {
                Line::Record(version, mut record) => {
                    self.addresses.share(&mut record);
                    named.ids.insert(record.id);
                    self.records.insert(record.id, (Arc::new(record), Version(version)));
                }
                Line::Gone(id) => {
                    named.ids.insert(id);
                    self.records.remove(&id);
                }
                Line::Outputs(outputs) => {
                    named.outputs = true;
                    self.outputs = Some(outputs);
                }
            }
        }
        self.runs.push((run.clone(), named));
        Ok(())
    }

    /// What the last runs name, together with some commits.
    pub(crate) fn named<'a>(
        &self,
        last_runs: usize,
        commits: impl IntoIterator<Item = &'a CommitLine>,
    ) -> Named {
        let mut all = Named::default();
        for (_, named) in &self.runs[self.runs.len() - last_runs..] {
            all.ids.extend(&named.ids);
            all.outputs |= named.outputs;
        }
        for commit in commits {
            all.ids.extend(commit.records.iter().map(|change| change.id));
            all.outputs |= commit.outputs.is_some();
        }
        all
    }

    /// The lines that say all that is named as it is now. Where nothing is older, there is nothing to say of what is gone.
    pub(crate) fn lines(&self, named: &Named, oldest: bool) -> Result<Vec<String>, serde_json::Error> {
        let record = |id: &RecordId| match self.records.get(id) {
            Some((record, version)) => Some(Line::Record(version.0, record.clone())),
            None if oldest => None,
            None => Some(Line::Gone(*id)),
        };
        let outputs = self.outputs.clone().filter(|_| named.outputs).map(Line::Outputs);
        let lines = named.ids.iter().filter_map(record).chain(outputs);
        lines.map(|line| serde_json::to_string(&line)).collect()
    }

    /// A run took the place of the last ones.
    pub(crate) fn replace_runs(&mut self, last_runs: usize, run: Run, named: Named) {
        self.runs.truncate(self.runs.len() - last_runs);
        if !run.is_empty() {
            self.runs.push((run, named));
        }
    }
}
