//! Configurations of providers that recorded objects were made with, and providers made ready by them again.
//!
//! What the program says of a provider counts, as long as it says anything. Where it does not, or where it no longer leads
//! to an object, the configuration that is recorded does: *not found* proves nothing when somebody looks in another
//! region than the object was made in (DELETE-11).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;
use trueup_core::{Failure, FailureClass};
use trueup_program::Evaluated;
use trueup_provider::{Configured, provider_named};
use trueup_state::{Configuration, ConfigurationNumber, Configurations, Generation, Record};

use super::{configured, unknown_configuration};
use crate::call::Caller;
use crate::mutations::planted;

/// The configurations of a scope, as a run knows and uses them.
#[derive(Clone, Default)]
pub(crate) struct RecordedConfigurations(Arc<Shared>);

#[derive(Default)]
struct Shared {
    known: Mutex<KnownConfigurations>,
    /// Providers made ready by them, or why they cannot be.
    ready: tokio::sync::Mutex<BTreeMap<(SmolStr, ConfigurationNumber), Result<Configured, Failure>>>,
}

#[derive(Default)]
struct KnownConfigurations {
    configurations: Configurations,
    /// Whether the store lacks some of them.
    unsaved: bool,
}

impl RecordedConfigurations {
    pub(crate) fn new(configurations: Configurations) -> Self {
        let known = KnownConfigurations { configurations, unsaved: false };
        RecordedConfigurations(Arc::new(Shared { known: Mutex::new(known), ..Shared::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, KnownConfigurations> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the configuration that a provider was made ready with. A new one is to be saved with whatever names
    /// it.
    pub(crate) fn number(&self, config: &Configured) -> Option<ConfigurationNumber> {
        if planted!(ForgetConfiguration) {
            return None;
        }
        let configuration = configuration(config);
        let mut known = self.lock();
        let number = known.configurations.number(&configuration);
        Some(number.unwrap_or_else(|| {
            known.unsaved = true;
            known.configurations.add(configuration)
        }))
    }

    /// The same, if it is known already.
    pub(crate) fn known_number(&self, config: &Configured) -> Option<ConfigurationNumber> {
        self.lock().configurations.number(&configuration(config))
    }

    /// All of them, once, if the store lacks some.
    pub(crate) fn take_unsaved(&self) -> Option<Configurations> {
        let mut known = self.lock();
        std::mem::take(&mut known.unsaved).then(|| known.configurations.clone())
    }

    /// The store still lacks those that were taken: their commit failed.
    pub(crate) fn save_again(&self) {
        self.lock().unsaved = true;
    }

    /// Those that are still used, if they are fewer than there are.
    pub(crate) fn without_unused<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
    ) -> Option<Configurations> {
        let known = self.lock();
        if known.configurations.is_empty() {
            return None;
        }
        let generations = records.into_iter().flat_map(Record::generations);
        let used: BTreeSet<_> = generations.filter_map(|generation| generation.configuration).collect();
        let left = known.configurations.only(&used);
        (left != known.configurations).then_some(left)
    }

    /// The configuration that a generation was made with.
    pub(crate) fn made_with(&self, generation: &Generation) -> Option<(ConfigurationNumber, Configuration)> {
        let number = generation.configuration?;
        Some((number, self.lock().configurations.get(number)?.clone()))
    }

    /// Whether a generation was made with a configuration other than this one, or with one of which too little is recorded
    /// to tell.
    pub(crate) fn may_differ(&self, config: &Configured, generation: &Generation) -> bool {
        let known = self.lock();
        let made_with = generation.configuration.and_then(|number| known.configurations.get(number));
        made_with.is_some_and(|it| !it.left_out.is_empty() || *it != configuration(config))
    }

    /// The provider of this name as it was when a generation was made.
    pub(crate) async fn ready(
        &self,
        calls: &Caller<'_>,
        name: &SmolStr,
        number: ConfigurationNumber,
    ) -> Result<Configured, Failure> {
        // Whoever comes first makes it ready for all.
        let mut ready = self.0.ready.lock().await;
        if let Some(known) = ready.get(&(name.clone(), number)) {
            return known.clone();
        }
        let made_with = self.lock().configurations.get(number).cloned();
        let outcome = match made_with {
            Some(made_with) => made_ready(calls, name, &made_with).await,
            None => Err(missing(name, "is not recorded")),
        };
        ready.insert((name.clone(), number), outcome.clone());
        outcome
    }
}

/// What is kept of the configuration that a provider was made ready with.
pub(crate) fn configuration(config: &Configured) -> Configuration {
    Configuration::new(provider_named(config.provider()), config.value())
}

async fn made_ready(
    calls: &Caller<'_>,
    name: &SmolStr,
    made_with: &Configuration,
) -> Result<Configured, Failure> {
    let Configuration { value, left_out, .. } = made_with;
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|name| format!("`{name}`")).collect();
        return Err(missing(name, &format!("is recorded without {}, which was ephemeral", names.join(", "))));
    }
    if !value.is_wholly_known() {
        return Err(missing(name, "is recorded with secrets that were given up"));
    }
    let written = Evaluated { value: value.clone(), diagnostics: trueup_core::Diagnostics::new() };
    match configured(calls, name, written).await? {
        Some(configured) => Ok(configured),
        None => Err(unknown_configuration(name)),
    }
}

fn missing(name: &str, why: &str) -> Failure {
    let message = format!("the configuration of provider `{name}` that it was made with {why}");
    Failure::new(FailureClass::Invalid, message)
}
