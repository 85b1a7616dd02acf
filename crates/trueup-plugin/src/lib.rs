//! Providers written in Rust as plugins of Terraform.
//!
//! [`serve`] is the whole of a provider's `main`. The process then speaks version 6 of the plugin protocol, or 5 with old
//! clients, to whoever started it: Terraform, OpenTofu or trueup.
//!
//! - `invitation`, `listening`, `encryption`, `grpc`: the process, from its environment to one call
//! - `methods`: the calls by their names; `service`: a file for each
//! - `surface`: a type as Terraform sees it; `record`: what goes beside a state; `told`: diagnostics
//! - `calls`: what the engine does around a call of a type
//!
//! This crate and the command line are the ones that read the environment: a plugin is told by it what to do.

mod calls;
mod encryption;
mod grpc;
mod invitation;
mod listening;
mod log;
mod methods;
mod record;
mod service;
mod surface;
mod told;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use trueup_core::KnownSecrets;
use trueup_provider::{NativeProvider, Provider, Registry};

use invitation::{Invitation, Uninvited};
use listening::ListenError;
use service::{BuildError, Service};

/// Serves a provider to the client that started this process, until that asks for the end.
///
/// Started by anyone else, the process says what it is and fails.
pub fn serve<C: Send + Sync + 'static>(provider: NativeProvider<C>) -> ExitCode {
    let name = provider.name().to_owned();
    let version = provider.version().to_owned();
    let registry = Registry::new().with(provider);
    match served(&registry, &name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Refusal::Uninvited(Uninvited::ByHand)) => {
            log::say(&by_hand(&name, &version));
            ExitCode::FAILURE
        }
        Err(refusal) => {
            log::say(&format!("error: the provider `{name}` cannot serve: {refusal}"));
            ExitCode::FAILURE
        }
    }
}

/// Why a provider does not serve.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Uninvited(#[from] Uninvited),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("there is no runtime: {0}")]
    Runtime(std::io::Error),
}

fn served(registry: &Registry, name: &str) -> Result<(), Refusal> {
    let invitation = match Invitation::read(variable) {
        Ok(invitation) => invitation,
        Err(refusal) => {
            if matches!(refusal, Uninvited::Versions(_)) {
                // The client reads it, and tells its user which versions there are.
                let _ = writeln!(std::io::stdout(), "1|6|unix|-|grpc|");
            }
            return Err(refusal.into());
        }
    };
    show_only_places_of_panics(name, registry.secrets().clone());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Refusal::Runtime)?;
    let temporary = variable("TMPDIR").filter(|folder| !folder.is_empty()).unwrap_or_else(|| "/tmp".into());
    runtime.block_on(async {
        let service = Service::new(registry, name, invitation.version).await?;
        listening::serve(service, invitation, PathBuf::from(temporary)).await?;
        Ok(())
    })
}

#[expect(clippy::disallowed_methods, reason = "a plugin is told by its environment what to do")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What a panic says may hold secrets (SECRET-5): the log gets the place, and the text without secrets if
/// `RUST_BACKTRACE` asks for it.
fn show_only_places_of_panics(name: &str, secrets: KnownSecrets) {
    let wants_text = variable("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0");
    let name = name.to_owned();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("an unknown place".to_owned(), ToString::to_string);
        log::say(&format!("the provider `{name}` panicked at {place}"));
        if wants_text {
            log::say(&secrets.scrubbed(&panic.to_string()));
        }
    }));
}

fn by_hand(name: &str, version: &str) -> String {
    let version = if version.is_empty() { String::new() } else { format!(" {version}") };
    format!(
        "This is the provider `{name}`{version}, a plugin of Terraform. It is not meant to be run by hand.\n\nTerraform, OpenTofu \
         and trueup start it when a stack needs it. To use this binary, name its folder in the CLI configuration:\n\n  \
         provider_installation {{\n    dev_overrides {{\n      \"example.com/me/{name}\" = \"/path/to/this/folder\"\n    }}\n    \
         direct {{}}\n  }}"
    )
}
