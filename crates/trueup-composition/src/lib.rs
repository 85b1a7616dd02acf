//! The program `trueup` as a library: Terraform's language on the built-in providers, Terraform's own and whatever a team
//! adds, with state in the stack's folder.
//!
//! It only puts together what others do: `trueup-lang` reads programs, `providers` manage things, `key_services` keep keys,
//! stores come with the command line. Started as the guard of a plugin, a program becomes that plugin, as a host it serves
//! one, and as the guard of a command it ends that command with its run.

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
use trueup_provider::Registry;
use trueup_provider_std::guard_command;

/// Runs the program under this name; what `main` returns. The function adds providers of its own to those that are built
/// in.
///
/// The program starts itself once more to guard what it starts, so nothing may come before this in `main`.
pub fn main(
    name: &'static str,
    version: &'static str,
    extend: impl Fn(Registry) -> Registry + Send + Sync + 'static,
) -> ExitCode {
    let arguments = arguments();
    let ended = plugin_guard::guarded(&arguments).or_else(|| plugin_host::hosted(&arguments));
    if let Some(ended) = ended.or_else(|| guard_command(arguments)) {
        return ended;
    }
    trueup_cli::main(Composition {
        name,
        version,
        front_end: Box::new(TerraformLanguage),
        registry: Box::new(move |request| providers::registry(request, &extend)),
        open_store: Arc::new(open_store),
        key_services: key_services::clients(),
    })
}

#[expect(clippy::disallowed_methods, reason = "guards and hosts are told by the first argument")]
fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}
