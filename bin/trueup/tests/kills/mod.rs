//! The real binary in real trouble: killed or stopped at random instants, on a full disk, with its store gone, its
//! state taken away or another clock. Then it is run again, and what exists is compared with what is recorded.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "how much it does is said from outside")]
#![allow(clippy::print_stdout, reason = "what it did is worth a line")]

mod bench;
mod chance;
mod full_disk;
mod killed;
mod server;
#[cfg(target_os = "linux")]
mod stopped;
mod stores;
mod taken_away;
