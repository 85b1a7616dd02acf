//! INV-7 and INV-8: the journal is the state, whole at every point, and what was acknowledged stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trueup_state::{Record, RecordId, transition};

use super::model::Watch;
use super::{Judged, require};
use crate::log::Happened;

/// INV-7: each entry leads from the record before to the one written with it, and that one makes sense.
pub(super) fn every_prefix_is_valid(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { writes, .. } = happened else { return Ok(()) };
    let mut records: BTreeMap<RecordId, Option<Arc<Record>>> = BTreeMap::new();
    for write in writes {
        let id = write.entry.id;
        let before = records.get(&id).cloned().unwrap_or_else(|| watch.records.get(&id).cloned());
        let after = transition(before.map(Arc::unwrap_or_clone), &write.entry);
        let follows = after.as_ref().is_ok_and(|after| after.as_ref() == write.record.as_deref());
        require(follows, "INV-7", || format!("`{}` does not follow: {after:?}", write.entry.step.name()))?;
        if let Some(record) = &write.record {
            require(is_valid(record), "INV-7", || format!("generations are in disorder: {record:?}"))?;
        }
        records.insert(id, write.record.clone());
    }
    Ok(())
}

/// Generations are in order, and no two share a number or a name.
fn is_valid(record: &Record) -> bool {
    let numbers: Vec<_> = record.generations().map(|generation| generation.number).collect();
    let slots: BTreeSet<_> = record.generations().map(|generation| generation.slot).collect();
    numbers.windows(2).all(|pair| pair[0] < pair[1]) && slots.len() == numbers.len()
}

/// INV-8: all acknowledged writes are in what the store holds now, and nothing is there that was never written.
pub(crate) fn acknowledged_writes_survive(
    watch: &Watch,
    stored: &BTreeMap<RecordId, Arc<Record>>,
    journal: impl Fn(RecordId) -> Vec<trueup_state::Entry>,
) -> Judged {
    require(*stored == watch.records, "INV-8", || {
        "the store holds other records than were written".to_owned()
    })?;
    let mut written: BTreeMap<RecordId, Vec<trueup_state::Entry>> = BTreeMap::new();
    for write in watch.commits.values().flatten() {
        written.entry(write.entry.id).or_default().push(write.entry.clone());
    }
    for (id, entries) in &written {
        require(journal(*id) == *entries, "INV-8", || format!("the journal of {id} lost or gained entries"))?;
    }
    let lost = watch.acknowledged.iter().find(|sequence| !watch.commits.contains_key(sequence));
    require(lost.is_none(), "INV-8", || format!("commit {lost:?} was acknowledged and never durable"))
}
