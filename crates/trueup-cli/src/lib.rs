//! The command line: what people type, and what they are shown.
//!
//! - [`Composition`], [`main`]: what a binary hands over (front end, providers, stores), and what runs it
//! - [`cli`]: the same command line for a stack that is declared in Rust
//!
//! Data takes this way: `arguments` become a command, `settings` and the front end make a `workplace` of the folder,
//! `commands` ask the engine, `render` turns its answers into text, `progress` shows runs while they last, and `ui`
//! writes everything. Every failure goes through `failure`.
//!
//! Only this crate reads the environment, the home directory and the terminal, and hands them on as data
//! ([`Environment`]). It decides nothing about infrastructure: that is the engine's.

mod advised;
mod approval;
mod arguments;
mod ci;
mod commands;
mod completion;
mod composition;
mod console;
mod entry;
mod exit;
mod failure;
mod graph;
mod interrupt;
mod keys;
mod log_file;
mod panics;
mod plan_files;
mod policies;
mod progress;
mod recorded_scope;
mod reference;
mod refreshing;
mod render;
mod running;
mod rust_program;
mod session;
mod settings;
mod stages;
mod stores;
#[cfg(feature = "terraform")]
pub mod terraform;
mod ui;
mod unmade_store;
mod watch;
mod whole_file;
mod workplace;

pub use composition::{
    Composition, KeyServiceClients, KeyServiceRequest, MakeKeyService, MakeRegistry, OpenError, OpenStore,
    RegistryRequest, StoreRequest,
};
pub use entry::main;
pub use exit::Exit;
pub use failure::store_failure;
pub use rust_program::{Declaration, Deployment, cli, cli_with, composition};
pub use settings::Environment;
pub use stores::{open_store, sqlite_file, sqlite_path, state_in_own_folder};
