//! INV-2: no object is created twice for one address and generation.

use super::model::Watch;
use super::{Judged, require};
use crate::cloud::{Effect, Who};
use crate::log::Happened;

/// Nothing is made for a generation while it has an object that lives. What was gone may be made again.
pub(super) fn nothing_is_made_twice(watch: &Watch, happened: &Happened) -> Judged {
    let Happened::Effect { who: Who::Engine(caller), object, effect: Effect::Created { .. } } = happened
    else {
        return Ok(());
    };
    let own = Some((caller.origin.clone(), caller.generation));
    let other = watch.live().find(|(_, known)| known.made_for == own && !known.forgotten);
    require(other.is_none(), "INV-2", || {
        let (other, _) = other.unwrap_or_else(|| unreachable!("there is another"));
        format!("{object} was made beside {other} ({caller})")
    })
}
