//! INV-11: at most one live generation per address, and deposed ones stay recorded until their delete is confirmed.

use std::collections::BTreeSet;

use trueup_state::Step;

use super::model::{Watch, object_of};
use super::{Judged, require};
use crate::log::Happened;

/// A generation is recorded as deleted only when its object is.
pub(super) fn deletes_are_confirmed(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { writes, .. } = happened else { return Ok(()) };
    for write in writes {
        let (Step::Deleted { number }, Some(record)) =
            (&write.entry.step, watch.records.get(&write.entry.id))
        else {
            continue;
        };
        let Some(object) = record.generation(*number).and_then(object_of) else { continue };
        let live = watch.objects.get(&object).is_some_and(|known| known.live);
        // An object that the cloud denies to have may come back into sight; INV-1 tells if it does.
        require(!live || watch.told_gone.contains(&object), "INV-11", || {
            format!("{} generation {number} is recorded as deleted, and {object} lives", record.address)
        })?;
    }
    Ok(())
}

/// What the engine has deleted is not adopted again, though it may be seen for a while.
pub(super) fn deleted_objects_are_not_adopted(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { writes, .. } = happened else { return Ok(()) };
    for write in writes {
        let Step::Adopted { object, .. } = &write.entry.step else { continue };
        let id = object.outputs.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        let deleted = watch.objects.get(id).is_some_and(|known| !known.live && !known.deleted_by_hand);
        require(!deleted, "INV-11", || format!("{id} was deleted, and was adopted by {}", write.subject()))?;
    }
    Ok(())
}

/// No two records are of one address, so that no address has two current generations.
pub(super) fn one_record_each(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { writes, .. } = happened else { return Ok(()) };
    let mut records = watch.records.clone();
    for write in writes {
        match &write.record {
            Some(record) => records.insert(write.entry.id, record.clone()),
            None => records.remove(&write.entry.id),
        };
    }
    let mut seen = BTreeSet::new();
    let twice = records.values().find(|record| !seen.insert(&record.address));
    require(twice.is_none(), "INV-11", || {
        format!("two records are of {}", twice.map(|it| it.address.to_string()).unwrap_or_default())
    })
}
