//! Providers written in Rust as plugins of Terraform.
//!
//! [`serve`] is all of a provider's `main`. It speaks plugin protocol 6, or 5 with older clients, to Terraform, OpenTofu or
//! trueup.
//!
//! - `invitation`, `listening`, `encryption`, `grpc`: from the environment to a call
//! - `methods`: dispatch; `service`: a file per call
//! - `surface`: a type's Terraform schema and values; `record`: private state; `diagnostics`: errors for Terraform
//! - `calls`: retries, timeouts and panics around a type's methods
//!
//! Like the command line, this crate reads the environment: clients configure plugins by it.

mod calls;
mod diagnostics;
mod encryption;
mod grpc;
mod invitation;
mod listening;
mod log;
mod methods;
mod record;
mod server;
mod service;
mod surface;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use trueup_core::KnownSecrets;
use trueup_provider::{NativeProvider, Provider, Registry};

use invitation::{Invitation, InvitationError};
use listening::ListenError;
pub use server::Server;
use service::Service;
pub use service::UnservableProvider;
pub use surface::UnservableType;

/// Serves a provider to the client that started this process, until the client shuts it down.
///
/// Run by hand, it prints how to use the binary and returns a failure.
pub fn serve<C: Send + Sync + 'static>(provider: NativeProvider<C>) -> ExitCode {
    let name = provider.name().to_owned();
    let version = provider.version().to_owned();
    let registry = Registry::new().with(provider);
    match served(&registry, &name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Refusal::InvitationError(InvitationError::ByHand)) => {
            log::say(&by_hand(&name, &version));
            ExitCode::FAILURE
        }
        Err(refusal) => {
            log::say(&format!("error: the provider `{name}` cannot serve: {refusal}"));
            ExitCode::FAILURE
        }
    }
}

/// A provider that cannot be served.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    InvitationError(#[from] InvitationError),
    #[error(transparent)]
    Build(#[from] UnservableProvider),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("there is no runtime: {0}")]
    Runtime(std::io::Error),
}

fn served(registry: &Registry, name: &str) -> Result<(), Refusal> {
    let invitation = match Invitation::read(variable) {
        Ok(invitation) => invitation,
        Err(refusal) => {
            if matches!(refusal, InvitationError::Versions(_)) {
                // From this line the client learns our version and reports the mismatch.
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

#[expect(clippy::disallowed_methods, reason = "clients configure plugins by the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Panic messages may hold secrets (SECRET-5). The log gets the location, and with `RUST_BACKTRACE` the scrubbed text.
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
