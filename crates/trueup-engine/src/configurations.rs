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
use trueup_provider::{Configured, Observed, Registry, provider_named};
use trueup_state::{Configuration, ConfigurationNumber, Configurations, Generation, Record};

use crate::mutations::planted;
use crate::planner::configure::{configured, unconfigured};

/// The configurations of a scope, as a run knows and uses them.
#[derive(Clone, Default)]
pub(crate) struct Recorded(Arc<Shared>);

#[derive(Default)]
struct Shared {
    known: Mutex<Known>,
    /// Providers made ready by them, or why they cannot be.
    ready: tokio::sync::Mutex<BTreeMap<(SmolStr, ConfigurationNumber), Result<Configured, Failure>>>,
}

#[derive(Default)]
struct Known {
    configurations: Configurations,
    /// Whether the store lacks some of them.
    unsaved: bool,
}

impl Recorded {
    pub(crate) fn new(configurations: Configurations) -> Self {
        let known = Known { configurations, unsaved: false };
        Recorded(Arc::new(Shared { known: Mutex::new(known), ..Shared::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
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

    /// All of them, once, if the store lacks some.
    pub(crate) fn take_unsaved(&self) -> Option<Configurations> {
        let mut known = self.lock();
        std::mem::take(&mut known.unsaved).then(|| known.configurations.clone())
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

    /// The configuration that a generation was made with, if it is another than this one.
    pub(crate) fn other_than(&self, config: &Configured, generation: &Generation) -> Option<Elsewhere> {
        let number = generation.configuration?;
        let made_with = self.lock().configurations.get(number)?.clone();
        let now = configuration(config);
        (made_with != now).then(|| Elsewhere { number, like: made_with.differs_in_secrets_alone(&now) })
    }

    /// Whether two generations were made in the same place, as far as their configurations tell.
    pub(crate) fn lead_to_one_place(&self, left: &Generation, right: &Generation) -> bool {
        let known = self.lock();
        let of = |generation: &Generation| known.configurations.get(generation.configuration?);
        let (left, right) = (of(left), of(right));
        left.zip(right).is_none_or(|(left, right)| left == right || left.differs_in_secrets_alone(right))
    }

    /// The provider of this name as it was when a generation was made.
    pub(crate) async fn ready(
        &self,
        registry: &Registry,
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
            Some(made_with) => made_ready(registry, name, &made_with).await,
            None => Err(missing(name, "is not recorded")),
        };
        ready.insert((name.clone(), number), outcome.clone());
        outcome
    }
}

/// A configuration other than the one in use, under which an object may still be.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere {
    pub(crate) number: ConfigurationNumber,
    /// Whether it differs in secrets alone, so that both look at the same place, most probably.
    pub(crate) like: bool,
}

impl Elsewhere {
    /// Whether an object was seen there. Where nobody can look, it may be: only if both lead to the same place, what was
    /// not found there is gone.
    pub(crate) fn is_seen(self, looked: Result<Observed, Failure>, provider: &str) -> Result<bool, Failure> {
        if planted!(TrustOtherPlace) {
            return Ok(false);
        }
        match looked {
            Ok(observed) => Ok(matches!(observed, Observed::Present(_))),
            Err(_) if self.like => Ok(false),
            Err(failure) => {
                let message = format!(
                    "it is not found, and the configuration of provider `{provider}` changed since it was made: {}",
                    failure.message
                );
                let told = Failure { message, ..failure };
                Err(told
                    .hint("restore the previous `provider` block and run again")
                    .hint("if the object no longer exists, remove it from state with `trueup state rm`"))
            }
        }
    }
}

/// What is kept of the configuration that a provider was made ready with.
fn configuration(config: &Configured) -> Configuration {
    Configuration::new(provider_named(config.provider()), config.value())
}

async fn made_ready(
    registry: &Registry,
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
    match configured(registry, name, written).await {
        Ok(Some(configured)) => Ok(configured),
        Ok(None) => Err(unconfigured(name, None)),
        Err(wrong) => Err(unconfigured(name, Some(wrong))),
    }
}

fn missing(name: &str, why: &str) -> Failure {
    let message = format!("the configuration of provider `{name}` that it was made with {why}");
    Failure::new(FailureClass::Invalid, message)
}
