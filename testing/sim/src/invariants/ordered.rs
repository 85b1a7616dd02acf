//! INV-10: dependency order holds in both directions.

use super::model::{Known, Watch};
use super::{Judged, require};
use crate::cloud::Asking;
use crate::log::Happened;

/// The engine asks for no delete of what something of its own still uses. What someone took away is used by nothing.
pub(super) fn nothing_in_use_is_deleted(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Asked { caller, asking: Asking::Delete, object: Some(object), .. } = happened else {
        return Ok(());
    };
    if !watch.objects.get(object).is_some_and(|it| it.live) {
        return Ok(());
    }
    let is_recorded = |known: &Known| !known.forgotten && !known.lost && !known.found;
    let known = |known: &Known| known.made_for.is_some() && is_recorded(known);
    let mut users = watch.live().filter(|(_, it)| known(it));
    let user = users.find(|(_, known)| known.uses.contains(object));
    require(user.is_none(), "INV-10", || {
        let user = user.map(|(id, _)| id.as_str()).unwrap_or_default();
        format!("{object} is to be deleted while {user} uses it ({caller})")
    })
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
