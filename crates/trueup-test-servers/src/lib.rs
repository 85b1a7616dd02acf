//! Real servers for tests: found or installed, started on this machine, gone with the test.

mod emulator;

pub use emulator::{Emulator, NoEmulator, RunningEmulator};
