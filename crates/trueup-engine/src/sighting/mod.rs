//! Objects that were found: which of them is a resource's own (`slots`), and who holds it already (`holders`).

mod holders;
mod slots;

pub(crate) use holders::{Holders, ObjectHolder, Spot};
pub(crate) use slots::{Chosen, SlotSightings, can_look, chosen, may_be, sole};
