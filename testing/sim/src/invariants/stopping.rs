//! INV-16: cancelling ends within a bound, with the lease released or expiring.

use std::time::Duration;

use super::model::Watch;
use super::{Judged, require};
use crate::log::Happened;

/// How long a lease may outlast its process: its term, and what is added for clocks that disagree.
const LEASE_MAX: Duration = Duration::from_secs(90);

/// Once told to stop, a process begins nothing but what was on its way into the journal: no more than run at a time.
pub(super) fn nothing_new_starts(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, .. } = happened else { return Ok(()) };
    let Some(allowed) = watch.processes.get(process) else { return Ok(()) };
    let (begun, limit) = (allowed.begun_late.len() as u64, allowed.orders.parallelism);
    require(begun <= limit, "INV-16", || format!("told to stop, process {process} began {begun} more"))
}

/// How long a process may last after it was told to stop: what is under way has its time-outs and retries.
pub(crate) fn cancelling_ends(told_for: Duration, bound: Duration, ended: bool) -> Judged {
    require(ended && told_for <= bound, "INV-16", || {
        format!("told to stop, it went on for {} s", told_for.as_secs())
    })
}

/// A process that ends, told to stop or not, leaves no lease, or one that ends by itself soon.
pub(super) fn leases_end(watch: &Watch, now: Duration, happened: &Happened) -> Judged {
    let Happened::Ended { process, .. } = happened else { return Ok(()) };
    let left = watch.leases.values().find(|given| given.process == *process && given.held);
    require(left.is_none_or(|given| given.until <= now + LEASE_MAX), "INV-16", || {
        format!("process {process} is gone, and its lease is not")
    })
}
