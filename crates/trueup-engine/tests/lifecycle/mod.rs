//! The life of resources under the engine, one file per section of the specification: together they are the
//! specification in executable form.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod admission;
mod adopt;
mod apply;
mod bind;
mod bounded;
mod crash;
mod crash_table;
mod cycles;
mod delete;
mod drift;
mod event;
mod event_faults;
pub(crate) mod failing;
mod foreign;
mod functions;
mod half_deleted;
mod hand;
mod in_records;
mod kept;
mod late_blocks;
mod late_deletes;
mod migrate;
mod mixed_orders;
mod moves;
mod places;
mod plan;
mod planfile;
mod read_back;
mod record_changes;
mod replace;
mod retry;
mod scripted;
mod sightings;
mod spellings;
mod state;
mod stub;
mod target;
mod unknown;
mod window;
pub(crate) mod world;
