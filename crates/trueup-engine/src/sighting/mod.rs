//! Sightings of objects: how a recorded one is looked at (`look`), how an unrecorded one is searched for (`search`), which of
//! those found is a resource's own (`slots`), and who holds it already (`holders`).

mod holders;
mod look;
mod search;
mod slots;

pub(crate) use holders::{Holders, Moment, ObjectHolder, Spot};
pub(crate) use look::Look;
pub(crate) use search::Search;
pub(crate) use slots::{Adopting, can_look};
