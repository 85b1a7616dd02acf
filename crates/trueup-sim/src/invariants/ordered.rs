//! INV-10: dependency order holds in both directions.

use super::model::{Watch, object_of};
use super::{Judged, require};
use crate::cloud::{Asking, Caller};
use crate::log::Happened;

/// The engine asks for no delete of what something of its own still uses.
pub(super) fn nothing_in_use_is_deleted(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Asked { caller, asking: Asking::Delete, object: Some(object), .. } = happened else {
        return Ok(());
    };
    let mut users = watch.live().filter(|(_, known)| known.made_for.is_some() && !known.forgotten);
    let user = users.find(|(id, known)| known.uses.contains(object) && !is_unrecorded_use(watch, caller, id));
    require(user.is_none(), "INV-10", || {
        let user = user.map(|(id, _)| id.as_str()).unwrap_or_default();
        format!("{object} is to be deleted while {user} uses it ({caller})")
    })
}

/// A known gap: a record says what the current generation depends on, not what deposed ones did. If a run ends between a
/// replacement and its clean-up, what only the old generation used may be asked to go before it; the cloud refuses, and the
/// next deploy succeeds.
fn is_unrecorded_use(watch: &Watch, caller: &Caller, user: &str) -> bool {
    let allowed = watch.processes.get(&caller.process);
    let mut deposed = allowed.into_iter().flat_map(|it| it.baseline.values()).flat_map(|it| &it.deposed);
    deposed.any(|generation| object_of(generation).as_deref() == Some(user))
}

/// The engine makes nothing before what it uses is there. What someone took away is not the engine's fault.
pub(super) fn nothing_missing_is_used(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Asked { caller, what, uses, .. } = happened else { return Ok(()) };
    let excused = |id: &String| watch.objects.get(id).is_some_and(|it| it.live || it.deleted_by_hand);
    let missing = uses.iter().find(|id| !excused(id));
    require(missing.is_none(), "INV-10", || {
        format!("{} is not there for: {what} ({caller})", missing.map(String::as_str).unwrap_or_default())
    })
}
