//! INV-12: what a targeted run leaves out stays byte-identical.

use super::model::Watch;
use super::{Judged, require};
use crate::cloud::Who;
use crate::log::Happened;

/// No record of what was left out is written.
pub(super) fn records_stay_identical(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, writes, .. } = happened else { return Ok(()) };
    let Some(plan) = watch.processes.get(process).and_then(|it| it.plan.as_ref()) else { return Ok(()) };
    for write in writes {
        let before = watch.records.get(&write.entry.id);
        let address = before.or(write.record.as_ref()).map(|record| &record.address);
        let left_out = address.is_some_and(|address| plan.left_out.contains(address));
        let changed = before.map(|it| serialised(it)) != write.record.as_ref().map(|it| serialised(it));
        require(!(left_out && changed), "INV-12", || {
            format!("the record of {} was written, which the run leaves out", write.subject())
        })?;
    }
    Ok(())
}

/// No object of what was left out is touched.
pub(super) fn objects_stay_untouched(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Effect { who: Who::Engine(caller), object, .. } = happened else { return Ok(()) };
    let Some(plan) = watch.processes.get(&caller.process).and_then(|it| it.plan.as_ref()) else {
        return Ok(());
    };
    let left_out = plan.left_out.contains(&caller.address);
    require(!left_out, "INV-12", || format!("{object} was changed, which the run leaves out ({caller})"))
}

fn serialised(record: &trueup_state::Record) -> String {
    serde_json::to_string(record).unwrap_or_default()
}
