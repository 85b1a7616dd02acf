//! INV-10: dependency order holds in both directions.

use trueup_state::{Generation, Status};

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

/// A known gap: what a record depends on is written when an operation begins, for the resource as a whole. If a run ends
/// between a replacement and its clean-up, or in the middle of an update or create, nothing says any more what the object
/// uses that is there; what it uses may be asked to go before it. This cloud refuses, and a later deploy succeeds.
fn is_unrecorded_use(watch: &Watch, caller: &Caller, user: &str) -> bool {
    let allowed = watch.processes.get(&caller.process);
    let mut records = allowed.into_iter().flat_map(|it| it.baseline.values());
    let made_for = watch.objects.get(user).and_then(|known| known.made_for.as_ref());
    records.any(|record| {
        let interrupted = |it: &Generation| it.status != Status::Ready || record.deposed.contains(it);
        let own = |it: &Generation| {
            let unknown = it.object.is_none() && made_for == Some(&(record.origin.clone(), it.number));
            unknown || object_of(it).as_deref() == Some(user)
        };
        record.generations().any(|it| own(it) && interrupted(it))
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
