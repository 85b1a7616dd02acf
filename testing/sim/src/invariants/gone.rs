//! INV-15: denied, out of order and timed out are never taken for gone.

use trueup_state::Step;

use super::model::{Watch, object_of};
use super::{Judged, require};
use crate::log::Happened;

/// A record lets go of an object as gone only if the cloud said that it is.
pub(super) fn only_what_was_told_gone_is_gone(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { writes, .. } = happened else { return Ok(()) };
    for write in writes {
        let Some(record) = watch.records.get(&write.entry.id) else { continue };
        let number = match &write.entry.step {
            // The same generation once more: its object counts as gone.
            Step::CreateBegun { number, .. } | Step::Deleted { number } => *number,
            _ => continue,
        };
        let Some(object) = record.generation(number).and_then(object_of) else { continue };
        require(watch.told_gone.contains(&object), "INV-15", || {
            format!("{} takes {object} for gone, and nobody said so", record.address)
        })?;
    }
    Ok(())
}
