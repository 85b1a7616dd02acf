//! The program as people have it: its language, its providers and its store, run in folders and watched in terminals.
//!
//! What the command line does by itself is tested on smaller binaries; here stands what shows only when all is put
//! together.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod bounds;
mod commands;
mod console;
mod crashes;
mod drift;
mod first_deploys;
mod gate;
#[cfg(target_os = "linux")]
mod hostile_servers;
mod hostile_text;
mod interruptions;
#[cfg(target_os = "linux")]
mod killed_commands;
mod killed_rekeys;
mod killed_stubs;
mod large;
mod late_answers;
mod mistakes;
mod plan_files;
mod plans;
mod policies;
mod profiles;
mod provider_blocks;
mod reports;
mod sealing;
mod secrets;
mod settings;
mod spellings;
mod state_file;
mod taint;
mod terminal;
mod terraform;
mod undelivered;

use trueup_cli_harness::Folder;

/// An empty folder.
fn empty() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_trueup"))
}

/// A folder with this text as its `main.tf`.
fn stack(text: &str) -> Folder {
    let folder = empty();
    folder.write("main.tf", text);
    folder
}
