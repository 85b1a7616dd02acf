//! Providers as planner and executor use them: made ready by the program (`configured`) or as recorded objects were made
//! (`recorded`), where they lead (`places`), and what earlier runs left under way in them (`orphans`).

mod configured;
mod orphans;
mod places;
mod recorded;

pub(crate) use configured::{configured, expected, is_opened, unknown_configuration, written, written_now};
pub(crate) use orphans::wait_for_orphans;
pub(crate) use places::{Place, Places, out_of_reach, place, respelled};
pub(crate) use recorded::RecordedConfigurations;
