//! A Terraform provider of our own: every form of schema, and every kind of trouble that a provider can make.
//!
//! It keeps its objects as files in a folder that its configuration names, so that whoever tests can see what is true.
//! Trouble is asked for in configurations (`trouble`), so that each test has its own.
//!
//! - `schemas`: the types; `objects`: the files
//! - `lifecycle`: planning and applying; `trouble`: going wrong
//! - `service`: the calls of both versions; `listening`: the handshake and the encryption

mod extras;
mod lifecycle;
mod listening;
mod objects;
mod schemas;
mod service;
mod tickets;
mod trouble;

use std::process::ExitCode;

use trueup_terraform::Version;

/// Serves until it is told to end.
pub fn main(version: Version) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    match runtime.block_on(listening::serve(version)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            listening::complain(&format!("cannot serve: {error}"));
            ExitCode::FAILURE
        }
    }
}
