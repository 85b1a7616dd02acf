//! INV-9: a stale fencing token cannot write, and whoever has no lease any more changes nothing.

use std::time::Duration;

use super::model::Watch;
use super::{Judged, require};
use crate::log::Happened;

/// Whoever writes was given the token it writes with, and nobody was given a newer one since.
pub(super) fn writers_hold_the_lease(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, token, .. } = happened else { return Ok(()) };
    let newest = watch.leases.keys().next_back();
    let given = watch.leases.get(token).is_some_and(|given| given.process == *process && given.held);
    require(given && newest == Some(token), "INV-9", || {
        format!("process {process} wrote with the token {}, which is not its own or stale", token.0)
    })
}

/// No change is asked of the cloud by a process whose lease has run out: a successor may be at it. One whose lease was
/// taken away before its time learns of that with its next renewal.
pub(super) fn callers_hold_the_lease(watch: &Watch, now: Duration, happened: &Happened) -> Judged {
    let Happened::Asked { caller, what, .. } = happened else { return Ok(()) };
    let own = watch.leases.values().rfind(|given| given.process == caller.process);
    require(own.is_some_and(|given| now < given.until), "INV-9", || {
        format!("process {} has no lease any more, and yet: {what} ({caller})", caller.process)
    })
}
