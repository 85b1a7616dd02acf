//! INV-16: cancelling ends within a bound, with the lease released or expiring.

use std::time::Duration;

use super::model::Watch;
use super::{Judged, require};
use crate::log::Happened;

/// Once told to stop, a process begins nothing but what was on its way into the journal: no more than run at a time.
pub(super) fn nothing_new_starts(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, .. } = happened else { return Ok(()) };
    let Some(allowed) = watch.processes.get(process) else { return Ok(()) };
    let (begun, limit) = (allowed.begun_late.len() as u64, allowed.parallelism);
    require(begun <= limit, "INV-16", || format!("told to stop, process {process} began {begun} more"))
}

/// How long a process may last after it was told to stop: what is under way has its time-outs and retries.
pub(crate) fn cancelling_ends(told_for: Duration, bound: Duration, ended: bool) -> Judged {
    require(ended && told_for <= bound, "INV-16", || {
        format!("told to stop, it went on for {} s", told_for.as_secs())
    })
}
