//! What a command line is made of: the binary that knows front ends, providers and stores hands them over here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use trueup_core::Diagnostics;
use trueup_front_end::{FrontEnd, RequiredProvider, StateSettings};
use trueup_provider::{BoxFuture, Clock, Registry};
use trueup_state::sealing::KeyService;
use trueup_state::{Store, StoreError};

use crate::settings::Environment;

/// All that a command line is made of.
pub struct Composition {
    /// The name by which the binary is called, for usage and hints.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What reads programs.
    pub front_end: Box<dyn FrontEnd>,
    /// Makes the providers for a stack.
    pub registry: Box<MakeRegistry>,
    /// Opens the store that settings name.
    pub open_store: Arc<OpenStore>,
    /// The key services that it was built with.
    pub key_services: KeyServiceClients,
}

/// What makes clients of key services; `None` for those that the binary was built without.
#[derive(Default)]
pub struct KeyServiceClients {
    /// For AWS KMS.
    pub kms: Option<Box<MakeKeyService>>,
    /// For the transit engine of Vault and OpenBao.
    pub vault: Option<Box<MakeKeyService>>,
}

/// Makes the client for one key of a key service, or says what is wrong with its settings. Sends nothing yet.
pub type MakeKeyService = dyn Fn(&KeyServiceRequest) -> Result<Arc<dyn KeyService>, String> + Send + Sync;

/// Which key of a key service, and the environment that says where the service is and who asks.
pub struct KeyServiceRequest<'a> {
    /// The key, as the settings name it.
    pub key: &'a str,
    /// The environment.
    pub environment: &'a BTreeMap<String, String>,
    /// By what pauses are measured.
    pub clock: Arc<dyn Clock>,
}

/// Makes the providers for the stack that a request names.
pub type MakeRegistry = dyn Fn(&RegistryRequest) -> Registry + Send + Sync;

/// What providers may know of the stack that they are for.
#[derive(Clone)]
pub struct RegistryRequest {
    /// The folder of the stack.
    pub folder: PathBuf,
    /// Where its state is kept.
    pub state: StateSettings,
    /// The providers that its program asks for.
    pub providers: Vec<RequiredProvider>,
    /// By what leases expire.
    pub clock: Arc<dyn Clock>,
    /// Opens stores.
    pub open_store: Arc<OpenStore>,
    /// The environment.
    pub environment: Environment,
    /// A person at the terminal can answer prompts.
    pub interactive: bool,
    /// Shows a line to people while a command runs.
    pub notify: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Opens the store that a request names.
pub type OpenStore =
    dyn Fn(StoreRequest) -> BoxFuture<'static, Result<Arc<dyn Store>, OpenError>> + Send + Sync;

/// A store that could not be opened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The settings are wrong.
    #[error("{}", .0.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>().join("; "))]
    Settings(Diagnostics),
    /// The store itself failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<Diagnostics> for OpenError {
    fn from(diagnostics: Diagnostics) -> Self {
        OpenError::Settings(diagnostics)
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        OpenError::Store(error)
    }
}

/// Which store is to be opened.
#[derive(Clone)]
pub struct StoreRequest {
    /// The folder of the stack, to which paths are relative.
    pub folder: PathBuf,
    /// Which store.
    pub state: StateSettings,
    /// By what leases expire.
    pub clock: Arc<dyn Clock>,
    /// The environment, which says what the settings leave out.
    pub environment: Environment,
}
