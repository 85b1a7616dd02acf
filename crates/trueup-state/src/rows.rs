//! What stores that keep rows have in common: a batch as rows of text, times as numbers, and addresses that are read
//! many times and kept once.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use indexmap::IndexSet;
use trueup_core::{Address, JsonForm};

use crate::record::Record;
use crate::store::{Batch, Version, Write};

/// A batch as rows: bodies are JSON, as the types of this crate write them.
pub struct BatchRows {
    /// What each record is expected to be and becomes, by id.
    pub records: BTreeMap<String, RecordChange>,
    /// The id of a record, and an entry of its journal.
    pub journal: Vec<(String, String)>,
    /// The stack's outputs, if they are settled.
    pub outputs: Option<String>,
    /// The configurations that objects were made with, if they are others than before.
    pub configurations: Option<String>,
}

/// What becomes of a record.
pub struct RecordChange {
    /// The version it must have; `None` if there must be no such record.
    pub expected: Option<Version>,
    /// Names the resource to people when its record is not there.
    pub subject: String,
    /// The row; `None` if nothing is left.
    pub after: Option<RecordRow>,
}

/// A record as a row.
pub struct RecordRow {
    /// Its address, for queries and messages.
    pub address: String,
    /// All of it.
    pub body: String,
}

impl BatchRows {
    /// The rows of a batch.
    pub fn of(batch: &Batch) -> Result<BatchRows, serde_json::Error> {
        let mut journal = Vec::with_capacity(batch.writes.len());
        // The first write of a record says what is expected, the last what is kept.
        let mut ends: BTreeMap<String, (&Write, &Write)> = BTreeMap::new();
        for write in &batch.writes {
            let id = write.entry.id.to_string();
            journal.push((id.clone(), serde_json::to_string(&write.entry)?));
            ends.entry(id).or_insert((write, write)).1 = write;
        }
        let change = |(first, last): (&Write, &Write)| {
            let row = |record: &Record| {
                let body = serde_json::to_string(record)?;
                Ok::<_, serde_json::Error>(RecordRow { address: record.address.to_string(), body })
            };
            let after = last.record.as_deref().map(row).transpose()?;
            Ok(RecordChange { expected: first.expected, subject: first.subject(), after })
        };
        let records = ends.into_iter().map(|(id, ends)| Ok((id, change(ends)?)));
        let records = records.collect::<Result<_, serde_json::Error>>()?;
        let outputs = batch.outputs.as_ref().map(|outputs| outputs.to_json(JsonForm::RECORD));
        let configurations = batch.configurations.as_ref().map(serde_json::to_string).transpose()?;
        Ok(BatchRows { records, journal, outputs, configurations })
    }
}

/// The addresses that were read: each is kept once, however many records name it.
#[derive(Default)]
pub struct AddressPool(IndexSet<Address>);

impl AddressPool {
    /// Lets a record share its addresses with those that were read before.
    pub fn share(&mut self, record: &mut Record) {
        for dependencies in record.dependencies_mut() {
            dependencies.shrink_to_fit();
            dependencies.iter_mut().for_each(|address| self.share_address(address));
        }
        self.share_address(&mut record.address);
        self.share_address(&mut record.origin);
    }

    fn share_address(&mut self, address: &mut Address) {
        match self.0.get(address) {
            Some(known) => *address = known.clone(),
            None => drop(self.0.insert(address.clone())),
        }
    }
}

/// A time as nanoseconds since 1970: exact from 1678 to 2262, and held at those ends beyond them.
pub fn to_nanoseconds(time: SystemTime) -> i64 {
    let nanoseconds = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    }
}

/// The time that [`to_nanoseconds`] turned into this number; `None` if the system cannot say it.
pub fn from_nanoseconds(nanoseconds: i64) -> Option<SystemTime> {
    let duration = Duration::from_nanos(nanoseconds.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    if nanoseconds < 0 { epoch.checked_sub(duration) } else { epoch.checked_add(duration) }
}
