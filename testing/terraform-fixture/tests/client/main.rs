//! The client of the plugin protocol against a provider of our own, in real processes: through the engine, by the side of
//! Terraform, and where things go wrong.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says when it is skipped")]

mod bench;
mod lifecycle;
mod process;
mod referee;
mod schemas;
mod terraform;
mod trouble;
