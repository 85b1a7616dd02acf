//! INV-1: every live object is in state, in an open intent, or forgotten on purpose.

use std::collections::BTreeMap;
use std::sync::Arc;

use trueup_engine::Action;
use trueup_state::{Record, RecordId, Status, Step, Write};

use super::model::{Watch, object_of};
use super::{Judged, Violation, require};
use crate::cloud::Asking;
use crate::log::Happened;

/// Judged when nothing runs and nothing travels.
pub(crate) fn every_object_is_held(watch: &Watch) -> Judged {
    for (id, known) in watch.live() {
        let Some((origin, generation)) = &known.made_for else { continue };
        let intended = watch.records.values().any(|record| {
            let current =
                record.current.as_ref().filter(|it| it.number == *generation && it.object.is_none());
            record.origin == *origin && current.is_some_and(|it| matches!(it.status, Status::Creating(_)))
        });
        let held = known.forgotten || known.lost || watch.is_recorded(id) || intended;
        require(held, "INV-1", || {
            format!("{id}, made for {origin} generation {generation}, is in no record and no intent")
        })?;
    }
    Ok(())
}

/// The engine asks for no change in the cloud without having said so in the store before: whatever is cut off then is
/// known.
pub(super) fn calls_follow_intents(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Asked { caller, what, asking, .. } = happened else { return Ok(()) };
    let mut records = watch.records.values().filter(|record| record.origin == caller.origin);
    let intended = records.any(|record| {
        record.generation(caller.generation).is_some_and(|it| match asking {
            Asking::Create | Asking::Update => it.attempt().is_some(),
            Asking::Delete => it.status == Status::Deleting,
        })
    });
    require(intended, "INV-1", || format!("no intent stands in the store for: {what} ({caller})"))
}

/// A record lets go of an object only if the program says so, or someone else has it.
pub(super) fn nothing_is_dropped_silently(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, writes, .. } = happened else { return Ok(()) };
    for (at, write) in writes.iter().enumerate() {
        let (Step::Dropped { number }, Some(record)) =
            (&write.entry.step, watch.records.get(&write.entry.id))
        else {
            continue;
        };
        let Some(generation) = record.generation(*number) else { continue };
        let allowed = watch.processes.get(process);
        let by_hand = allowed.is_some_and(|it| it.orders.by_hand);
        let meant = allowed.is_some_and(|it| {
            let planned = it.action(&record.address).is_some_and(|it| it.action == Action::Forget);
            planned || it.retained.contains(&record.address.to_string())
        });
        let Some(object) = object_of(generation) else {
            // An intent is let go only if nothing came of it, or whatever did is to be left alone.
            let left = watch.live().find(|(_, it)| it.made_for == Some((record.origin.clone(), *number)));
            if let (Some((id, _)), false) = (left, meant) {
                return Err(Violation {
                    invariant: "INV-1",
                    what: format!("the intent of {} was dropped, and {id} had come of it", record.address),
                });
            }
            continue;
        };
        let elsewhere = records_after(watch, &writes[..at]).values().any(|other| {
            let others = other.generations().filter(|it| other.id != record.id || it.number > *number);
            others.filter_map(object_of).any(|it| it == object)
        });
        let live = watch.objects.get(&object).is_some_and(|known| known.live);
        require(!live || by_hand || meant || elsewhere, "INV-1", || {
            format!("{} dropped {object}, which lives and was not to be kept", record.address)
        })?;
    }
    Ok(())
}

/// The records after some writes of a commit: a write before in the same commit may have given an object to another resource.
fn records_after(watch: &Watch, writes: &[Write]) -> BTreeMap<RecordId, Arc<Record>> {
    let mut records = watch.records.clone();
    for write in writes {
        match &write.record {
            Some(record) => records.insert(write.entry.id, record.clone()),
            None => records.remove(&write.entry.id),
        };
    }
    records
}
