//! Objects that were found: how they are looked for (`search`), which of them is a resource's own
//! (`slots`), and who holds it already (`holders`).

mod holders;
mod search;
mod slots;

pub(crate) use holders::{Holders, Moment, ObjectHolder, Spot};
pub(crate) use search::Search;
pub(crate) use slots::can_look;
