//! The servers themselves: they start, answer, and are gone with the test.

mod emulator;
mod postgres;
