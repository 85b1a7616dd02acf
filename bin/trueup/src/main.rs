//! The program `trueup`: Terraform's language on the built-in providers, with state in the stack's folder.
//!
//! It only puts together what others do: `trueup-lang` reads programs, `providers` manage things, `key_services` keep keys,
//! stores come with the command line. Started as the guard of a plugin, it becomes that plugin, as a host it serves one, and as the guard of a
//! command it ends that command with its run.

mod key_services;
mod plugin_guard;
mod plugin_host;
mod providers;
mod terraform;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use trueup_cli::{Composition, open_store};
use trueup_lang::TerraformLanguage;
use trueup_provider_std::guard_command;

/// Plans are many small pieces, on two threads: a tenth of their time, with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = arguments();
    let ended = plugin_guard::guarded(&arguments).or_else(|| plugin_host::hosted(&arguments));
    if let Some(ended) = ended.or_else(|| guard_command(arguments)) {
        return ended;
    }
    trueup_cli::main(Composition {
        name: "trueup",
        version: env!("CARGO_PKG_VERSION"),
        front_end: Box::new(TerraformLanguage),
        registry: Box::new(providers::registry),
        open_store: Arc::new(open_store),
        key_services: key_services::clients(),
    })
}

#[expect(clippy::disallowed_methods, reason = "guards and hosts are told by the first argument")]
fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}
