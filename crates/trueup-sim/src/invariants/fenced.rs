//! INV-9: a stale fencing token cannot write.

use super::model::Watch;
use super::{Judged, require};
use crate::log::Happened;

/// Whoever writes was given the token it writes with, and nobody was given a newer one since.
pub(super) fn writers_hold_the_lease(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, token, .. } = happened else { return Ok(()) };
    let newest = watch.tokens.keys().next_back();
    let given = watch.tokens.get(token).is_some_and(|(owner, held)| owner == process && *held);
    require(given && newest == Some(token), "INV-9", || {
        format!("process {process} wrote with the token {}, which is not its own or stale", token.0)
    })
}
