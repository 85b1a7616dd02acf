//! What the memory store keeps of one scope.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use trueup_core::Value;

use crate::configurations::Configurations;
use crate::entry::{Entry, Step};
use crate::lease::{Acquired, FencingToken, HeldLease, Holder, Lease};
use crate::record::{Record, RecordId};
use crate::sealing::is_resealed;
use crate::store::{Batch, HistoryLine, RunSummary, Snapshot, StoreError, Version, Write};
use crate::transition::transition;

pub(super) const LOCATION: &str = "memory";

/// All that is kept of one scope.
#[derive(Default)]
pub(super) struct Contents {
    /// The version of the last commit.
    version: Version,
    records: BTreeMap<RecordId, (Arc<Record>, Version)>,
    journal: BTreeMap<RecordId, Vec<Entry>>,
    outputs: Option<Value>,
    configurations: Configurations,
    /// In the order in which their first lines came.
    runs: Vec<Run>,
    /// The highest token so far; stays when the lease is given back, so that tokens only grow.
    token: u64,
    held: Option<HeldLease>,
    keyring: Option<String>,
}

/// The history of one run.
struct Run {
    name: String,
    started: SystemTime,
    lines: BTreeMap<u64, HistoryLine>,
}

impl Contents {
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            records: self.records.values().cloned().collect(),
            outputs: self.outputs.clone(),
            configurations: self.configurations.clone(),
        }
    }

    pub(super) fn journal(&self, id: RecordId) -> Vec<Entry> {
        self.journal.get(&id).cloned().unwrap_or_default()
    }

    pub(super) fn keyring(&self) -> Option<String> {
        self.keyring.clone()
    }

    pub(super) fn replace_keyring(&mut self, expected: Option<&str>, keyring: &str) -> bool {
        let as_expected = self.keyring.as_deref() == expected;
        if as_expected {
            self.keyring = Some(keyring.to_owned());
        }
        as_expected
    }

    pub(super) fn holds_anything(&self) -> bool {
        !self.records.is_empty()
            || !self.journal.is_empty()
            || !self.runs.is_empty()
            || self.outputs.is_some()
    }

    pub(super) fn commit(&mut self, token: FencingToken, batch: &Batch) -> Result<Version, StoreError> {
        self.held_by(token)?;
        let changed = self.changed(&batch.writes)?;

        self.version = Version(self.version.0 + 1);
        for (id, record) in changed {
            match record {
                Some(record) => self.records.insert(id, (record, self.version)),
                None => self.records.remove(&id),
            };
        }
        for write in &batch.writes {
            // Most records have few entries, and room for more would weigh more than they do.
            let entries = self.journal.entry(write.entry.id).or_insert_with(|| Vec::with_capacity(1));
            entries.push(write.entry.clone());
        }
        for line in &batch.history {
            self.run(line).lines.insert(line.sequence, line.clone());
        }
        if let Some(outputs) = &batch.outputs {
            self.outputs = Some(outputs.clone());
        }
        if let Some(configurations) = &batch.configurations {
            self.configurations = configurations.clone();
        }
        Ok(self.version)
    }

    /// The records that the writes leave, if all of them may be written.
    fn changed(&self, writes: &[Write]) -> Result<BTreeMap<RecordId, Option<Arc<Record>>>, StoreError> {
        let mut changed: BTreeMap<RecordId, Option<Arc<Record>>> = BTreeMap::new();
        for write in writes {
            let id = write.entry.id;
            let before = match changed.get(&id) {
                Some(before) => before.clone(),
                None => {
                    let stored = self.records.get(&id);
                    if stored.map(|(_, version)| *version) != write.expected {
                        let address = stored.map(|(record, _)| record.address.to_string());
                        return Err(StoreError::Conflict {
                            address: address.unwrap_or_else(|| write.subject()),
                        });
                    }
                    stored.map(|(record, _)| record.clone())
                }
            };
            check_follows(before, write)?;
            changed.insert(id, write.record.clone());
        }
        Ok(changed)
    }

    fn run(&mut self, line: &HistoryLine) -> &mut Run {
        let at = self.runs.iter().position(|run| run.name == line.run).unwrap_or_else(|| {
            let lines = BTreeMap::new();
            self.runs.push(Run { name: line.run.clone(), started: line.at, lines });
            self.runs.len() - 1
        });
        &mut self.runs[at]
    }

    pub(super) fn runs(&self) -> Vec<RunSummary> {
        let summary = |run: &Run| RunSummary {
            run: run.name.clone(),
            started: run.started,
            lines: run.lines.len() as u64,
        };
        self.runs.iter().rev().map(summary).collect()
    }

    pub(super) fn history(&self, run: &str) -> Vec<HistoryLine> {
        let run = self.runs.iter().find(|it| it.name == run);
        run.map(|run| run.lines.values().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn forget_before_resealing(&mut self, token: FencingToken) -> Result<(), StoreError> {
        self.held_by(token)?;
        self.journal.retain(|id, _| self.records.contains_key(id));
        for entries in self.journal.values_mut() {
            let last = entries.iter().rposition(|entry| matches!(entry.step, Step::Resealed { .. }));
            entries.drain(..last.unwrap_or(0));
        }
        Ok(())
    }

    /// Forgets everything but the lease and what only grows, if there are no records.
    pub(super) fn forget(&mut self, token: FencingToken) -> Result<bool, StoreError> {
        self.held_by(token)?;
        if !self.records.is_empty() {
            return Ok(false);
        }
        let (version, token, held) = (self.version, self.token, self.held.take());
        *self = Contents { version, token, held, ..Contents::default() };
        Ok(true)
    }

    pub(super) fn prune(&mut self, keep_runs: usize) {
        self.runs.drain(..self.runs.len().saturating_sub(keep_runs));
        self.journal.retain(|id, _| self.records.contains_key(id));
    }
}

/// Leases.
impl Contents {
    pub(super) fn acquire(&mut self, holder: &Holder, term: Duration, now: SystemTime) -> Acquired {
        if let Some(held) = self.held(now) {
            return Acquired::Held(held);
        }
        self.token += 1;
        let token = FencingToken(self.token);
        self.held = Some(HeldLease { holder: holder.clone(), token, since: now, expires: after(now, term) });
        Acquired::Lease(Lease { token, term })
    }

    pub(super) fn held(&self, now: SystemTime) -> Option<HeldLease> {
        self.held.clone().filter(|held| now < held.expires)
    }

    pub(super) fn renew(&mut self, lease: &Lease, now: SystemTime) -> Result<(), StoreError> {
        self.held_by(lease.token)?.expires = after(now, lease.term);
        Ok(())
    }

    pub(super) fn release(&mut self, lease: &Lease) {
        self.held.take_if(|held| held.token == lease.token);
    }

    pub(super) fn unlock(&mut self, run: &str) -> Option<HeldLease> {
        self.held.take_if(|held| held.holder.run == run)
    }

    fn held_by(&mut self, token: FencingToken) -> Result<&mut HeldLease, StoreError> {
        self.held.as_mut().filter(|held| held.token == token).ok_or(StoreError::Superseded)
    }
}

/// The end of a term; a term without end lasts as long as it can be said.
fn after(now: SystemTime, term: Duration) -> SystemTime {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    now.checked_add(term.min(CENTURY)).unwrap_or(now)
}

/// Refuses a write whose record is not what its entry makes of the one before.
fn check_follows(before: Option<Arc<Record>>, write: &Write) -> Result<(), StoreError> {
    let why = match transition(before.map(Arc::unwrap_or_clone), &write.entry) {
        Ok(after) if after.as_ref() == write.record.as_deref() => return Ok(()),
        // How the secrets of a record are sealed changes with its keys, and with it alone.
        Ok(Some(after)) if write.record.as_ref().is_some_and(|it| is_resealed(&after, it)) => return Ok(()),
        Ok(_) => "the record written with it is another than it leads to".to_owned(),
        Err(illegal) => illegal.to_string(),
    };
    let what = format!("the write of `{}` to {} is wrong: {why}", write.entry.step.name(), write.subject());
    Err(StoreError::Damaged { location: LOCATION.to_owned(), what: what.into() })
}
