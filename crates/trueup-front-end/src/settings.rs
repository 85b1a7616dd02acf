//! Settings of the stack as a whole.

use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::{Origin, Value};
use trueup_program::RetrySettings;
use trueup_provider::ProviderAddress;

/// The settings of the stack as a whole: `stack { … }`.
#[derive(Clone, Debug, Default)]
pub struct StackSettings {
    /// The name of the stack; `None`: that of the folder, as it was when the stack was first deployed.
    pub name: Option<SmolStr>,
    /// Where its state is kept; `None`: as the user's settings say, else in the folder.
    pub state: Option<StateSettings>,
    /// The stages whose destruction asks for their name.
    pub protected_stages: Vec<SmolStr>,
    /// How many operations run at a time, unless the run says otherwise.
    pub parallelism: Option<usize>,
    /// How failed operations are repeated, unless the run, a type or a resource says otherwise.
    pub retry: RetrySettings,
    /// How long one operation may take, unless a resource says otherwise.
    pub timeout: Option<Duration>,
}

/// Where state is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct StateSettings {
    /// The kind of store: `sqlite`, `postgres`, `s3`.
    pub kind: SmolStr,
    /// An object with the settings of that kind; for `sqlite` its `path`, relative to the folder.
    pub settings: Value,
}

/// A provider that the text requires.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// Its name in the text.
    pub local: SmolStr,
    /// Where it comes from, if the text says so.
    pub source: Option<ProviderAddress>,
    /// Which versions will do, if the text says so: `~> 5.0`.
    pub versions: Option<SmolStr>,
    /// Where it is required.
    pub origin: Origin,
}
