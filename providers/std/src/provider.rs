//! The providers and the names of their types.

use std::sync::Arc;

use trueup_provider::{Clock, Inputs, NativeProvider};

use crate::data::{EnvironmentVariable, ExistingFile, OutputsOfStack, StackOutputs};
use crate::directory::Directory;
use crate::exec::Exec;
use crate::file::File;
use crate::random::{RandomId, RandomInteger, RandomPassword, RandomPet, RandomString, RandomUuid};
use crate::surroundings::{Randomness, Surroundings};
use crate::terraform_data::TerraformData;

/// The configuration of the provider `std`.
#[derive(Inputs)]
pub struct Settings {
    /// Where relative paths begin and commands run, if not in the stack's own folder. A relative one begins there.
    folder: Option<String>,
}

/// The provider `std`, for a stack in these surroundings.
pub fn std_provider(surroundings: Surroundings) -> NativeProvider<Surroundings> {
    let guard = surroundings.command_guard().cloned();
    let wait_for_orphans = move |clock: Arc<dyn Clock>| {
        let guard = guard.clone();
        async move {
            match guard {
                Some(guard) => guard.wait_for_orphans(&*clock).await,
                None => Ok(false),
            }
        }
    };
    let configure = move |settings: Settings| {
        let surroundings = surroundings.clone();
        async move {
            Ok(match settings.folder {
                Some(folder) => surroundings.moved_to(&folder),
                None => surroundings,
            })
        }
    };
    let provider = NativeProvider::configured("std", configure)
        .versioned(env!("CARGO_PKG_VERSION"))
        .waiting_for_orphans(wait_for_orphans)
        .crud::<File>("file")
        .crud::<Directory>("directory")
        .converge::<Exec>("exec")
        .crud::<RandomString>("random_string")
        .crud::<RandomPassword>("random_password")
        .crud::<RandomId>("random_id")
        .crud::<RandomUuid>("random_uuid")
        .crud::<RandomInteger>("random_integer")
        .crud::<RandomPet>("random_pet")
        .data::<ExistingFile>("file")
        .data::<EnvironmentVariable>("env");
    #[cfg(feature = "http")]
    let provider = provider.converge::<crate::http::Http>("http").data::<crate::data::HttpAnswer>("http");
    #[cfg(feature = "tls")]
    let provider = provider.crud::<crate::tls::TlsKey>("tls_key").crud::<crate::tls::TlsCert>("tls_cert");
    provider
}

/// The provider `terraform`: `terraform_data`.
pub fn terraform_provider(randomness: Randomness) -> NativeProvider<Randomness> {
    let configure = move |_: NoSettings| {
        let randomness = randomness.clone();
        async move { Ok(randomness) }
    };
    NativeProvider::configured("terraform", configure)
        .versioned(env!("CARGO_PKG_VERSION"))
        .crud::<TerraformData>("data")
}

/// The provider `stack`, whose data source `stack_output` reads what other stacks give.
pub fn stack_provider(outputs: StackOutputs) -> NativeProvider<StackOutputs> {
    let configure = move |_: NoSettings| {
        let outputs = outputs.clone();
        async move { Ok(outputs) }
    };
    NativeProvider::configured("stack", configure)
        .versioned(env!("CARGO_PKG_VERSION"))
        .data::<OutputsOfStack>("output")
}

/// The configuration of a provider that has none to be written.
#[derive(Inputs)]
struct NoSettings {}
