//! The types of the standard provider: each by the conformance kit, and through the engine, with real files, processes
//! and connections.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod crash;
mod cycles;
mod data;
mod directory;
mod exec;
mod exec_limits;
mod exec_outcomes;
mod file;
mod file_atomic;
mod http;
mod http_answers;
mod http_outcomes;
mod random;
mod reference;
mod server;
mod terraform_data;
mod tls;
mod typed;
mod unfinished;
mod window;
