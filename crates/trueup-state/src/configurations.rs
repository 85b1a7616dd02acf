//! Configurations of providers, as recorded objects were made with them.
//!
//! A provider block may change or go while its objects stay. Whoever deletes them then must look where they were made, so
//! each distinct configuration is kept once, under a number that generations refer to. Values of one run alone are not
//! kept; secrets are, sealed as all others.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{Entries, Value};

/// What names a configuration within a scope.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigurationNumber(pub u64);

/// The configuration of a provider.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Configuration {
    /// The provider, without an alias.
    pub provider: SmolStr,
    /// What it was given, without what is of one run alone.
    #[serde(with = "trueup_core::recorded")]
    pub value: Value,
    /// The attributes that held something of one run alone, which is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<SmolStr>,
}

impl Configuration {
    /// What is kept of a configuration. What is null is as good as not there: newer versions of a provider know of more.
    pub fn new(provider: impl Into<SmolStr>, value: &Value) -> Self {
        let entries = || value.as_entries().into_iter().flat_map(Entries::iter);
        let of_one_run = |value: &Value| value.all_marks().is_ephemeral();
        let kept = entries().map(|(name, value)| (name.clone(), value.without_ephemeral()));
        Configuration {
            provider: provider.into(),
            value: Value::object(kept.filter(|(_, value)| !value.is_null())),
            left_out: entries()
                .filter(|(_, value)| of_one_run(value))
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Whether another one is the same but for its credentials and what is of one run alone: it leads to the same place, most
    /// probably, in the name of somebody else.
    pub fn is_alike_but_for(&self, credentials: &[SmolStr], other: &Configuration) -> bool {
        let counts = |name: &SmolStr| {
            !credentials.contains(name) && !self.left_out.contains(name) && !other.left_out.contains(name)
        };
        let rest = |it: &Configuration| -> Vec<(SmolStr, Value)> {
            let entries = it.value.as_entries().into_iter().flat_map(Entries::iter);
            entries
                .filter(|(name, _)| counts(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let (one, two) = (rest(self), rest(other));
        self.provider == other.provider && one.iter().all(|(_, value)| value.is_wholly_known()) && one == two
    }
}

/// The configurations that objects of a scope were made with.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Configurations(BTreeMap<ConfigurationNumber, Configuration>);

impl Configurations {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one of this number.
    pub fn get(&self, number: ConfigurationNumber) -> Option<&Configuration> {
        self.0.get(&number)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ConfigurationNumber, &Configuration)> {
        self.0.iter().map(|(number, configuration)| (*number, configuration))
    }

    /// The same values, to be sealed or opened.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (ConfigurationNumber, &mut Value)> {
        self.0.iter_mut().map(|(number, configuration)| (*number, &mut configuration.value))
    }

    /// The number of a configuration that is kept already.
    pub fn number(&self, configuration: &Configuration) -> Option<ConfigurationNumber> {
        self.iter().find(|(_, known)| *known == configuration).map(|(number, _)| number)
    }

    /// Keeps another one, under a number that none had before it.
    pub fn add(&mut self, configuration: Configuration) -> ConfigurationNumber {
        let last = self.0.last_key_value().map(|(ConfigurationNumber(last), _)| *last);
        let number = ConfigurationNumber(last.map_or(0, |last| last.saturating_add(1)));
        self.0.insert(number, configuration);
        number
    }

    /// Those of these numbers alone.
    #[must_use]
    pub fn only(&self, used: &BTreeSet<ConfigurationNumber>) -> Self {
        let kept = self.0.iter().filter(|(number, _)| used.contains(number));
        Configurations(kept.map(|(number, it)| (*number, it.clone())).collect())
    }
}
