//! INV-3 and INV-6: what happens was planned, and no more than that.

use trueup_engine::Action;
use trueup_state::{Status, Step};

use super::model::{Allowed, Watch, object_of};
use super::{Judged, require};
use crate::cloud::{Asking, Caller, Effect, Kind, Who};
use crate::log::Happened;

/// INV-3: the plan said that this resource loses this generation, and it is not protected.
pub(super) fn deletes_are_planned(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Effect { who: Who::Engine(caller), object, effect: Effect::Deleted } = happened else {
        return Ok(());
    };
    let Some(allowed) = watch.processes.get(&caller.process) else { return Ok(()) };
    let planned = allowed.action(&caller.address).is_some_and(|planned| {
        let goes = matches!(planned.action, Action::Delete | Action::Replace | Action::MayReplace);
        let unfinished = allowed.generation(&caller.address, caller.generation);
        let finished = unfinished.is_some_and(|it| it.status == Status::Deleting);
        goes || finished || planned.deposed.contains(&caller.generation)
    });
    require(planned, "INV-3", || format!("{object} was deleted, and no plan said so ({caller})"))?;
    let protected = allowed.protected.contains(&caller.address.to_string());
    // What was given up before it became protected goes on going: a replaced generation, an unfinished delete.
    let given_up = allowed.generation(&caller.address, caller.generation);
    let given_up = given_up.is_some_and(|it| it.status == Status::Deleting)
        || allowed.action(&caller.address).is_some_and(|it| it.deposed.contains(&caller.generation));
    require(!protected || given_up, "INV-3", || format!("{object} was deleted, and is protected ({caller})"))
}

/// INV-3: what the engine neither made nor adopted, it does not touch.
pub(super) fn foreign_objects_are_left_alone(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Effect { who: Who::Engine(caller), object, effect } = happened else { return Ok(()) };
    // Whoever makes a pool where there is one gets that one.
    let is_shared = Kind::Pool.is_of(object) && matches!(effect, Effect::Changed { .. });
    if matches!(effect, Effect::Created { .. }) || is_shared {
        return Ok(());
    }
    let own = watch.records.values().filter(|record| record.origin == caller.origin);
    let mut own = own.flat_map(|record| record.generations()).filter_map(object_of);
    let known = watch.objects.get(object);
    let ours =
        known.is_some_and(|it| it.made_for.as_ref().is_some_and(|(origin, _)| *origin == caller.origin));
    require(ours || own.any(|id| id == *object), "INV-3", || {
        format!("{object} is not of {}, and was changed ({effect:?}, {caller})", caller.origin)
    })
}

/// INV-3: what another resource holds is not deleted. One that is only being made or changed may come too late.
pub(super) fn shared_objects_are_left_alone(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Effect { who: Who::Engine(caller), object, effect: Effect::Deleted } = happened else {
        return Ok(());
    };
    let mut others = watch.records.values().filter(|record| record.origin != caller.origin);
    let holder = others.find(|record| {
        let current = record.current.as_ref().filter(|it| it.status == Status::Ready);
        current.and_then(object_of).as_ref() == Some(object)
    });
    require(holder.is_none(), "INV-3", || {
        let holder = holder.map(|it| it.address.to_string()).unwrap_or_default();
        format!("{object} was deleted, and {holder} holds it ({caller})")
    })
}

/// INV-3: what someone else made becomes the engine's only where it was asked to take such things over.
pub(super) fn adoptions_are_asked_for(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Committed { process, writes, .. } = happened else { return Ok(()) };
    let orders = watch.processes.get(process).map(|it| it.orders).unwrap_or_default();
    for write in writes {
        let Step::Adopted { object, .. } = &write.entry.step else { continue };
        let id = object.outputs.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        let foreign = watch.objects.get(id).is_some_and(|known| known.made_for.is_none());
        require(!foreign || orders.adopts, "INV-3", || {
            format!("{id} is someone else's, and was taken over by {}", write.subject())
        })?;
    }
    Ok(())
}

/// INV-6: what is asked of the cloud is within what was approved.
pub(super) fn changes_are_granted(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Asked { caller, asking, what, .. } = happened else { return Ok(()) };
    let Some(allowed) = watch.processes.get(&caller.process) else { return Ok(()) };
    let granted = allowed.action(&caller.address).is_some_and(|planned| match (asking, planned.action) {
        // A create whose outcome is unknown is repeated with its token, to find what is to be deleted.
        (Asking::Create, Action::Delete) => repeats(watch, caller),
        (Asking::Create, Action::Create) => replaces_nothing(watch, allowed, caller),
        (Asking::Create, action) => matches!(action, Action::Replace | Action::MayReplace),
        (Asking::Update, action) => matches!(
            action,
            Action::Update | Action::MayUpdate | Action::Create | Action::Replace | Action::MayReplace
        ),
        // Judged by INV-3, with the generation.
        (Asking::Delete, _) => true,
    });
    require(granted, "INV-6", || format!("not approved: {what} ({caller})"))
}

/// Whether the resource has no object beside the one that is made, but those that were there when the plan was approved.
fn replaces_nothing(watch: &Watch, allowed: &Allowed, caller: &Caller) -> bool {
    let own = watch.records.values().filter(|record| record.origin == caller.origin);
    let mut others = own.flat_map(|record| record.generations()).filter(|it| it.number != caller.generation);
    others.all(|other| allowed.generation(&caller.address, other.number).is_some())
}

/// Whether a create of this generation was under way when the plan was approved.
fn repeats(watch: &Watch, caller: &Caller) -> bool {
    let before = watch.processes.get(&caller.process);
    let before = before.and_then(|it| it.generation(&caller.address, caller.generation));
    before.is_some_and(|it| matches!(it.status, Status::Creating(_)) && it.object.is_none())
}
