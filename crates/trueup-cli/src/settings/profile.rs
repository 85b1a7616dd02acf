//! Profiles: variables of the environment and settings of providers, kept in the user's configuration under a name.

use std::collections::BTreeMap;

use serde::Deserialize;
use smol_str::SmolStr;
use trueup_core::nearest;
use trueup_front_end::{Premise, PremiseKind};
use trueup_provider::{Preset, Registry};

use super::env_file::is_variable_name;
use super::resolve::{Source, from_toml};
use super::{Environment, Resolved, UserSettings};
use crate::failure::{CommandError, CommandResult};

/// What the user's configuration says of a profile.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserProfile {
    /// Variables of the environment. They count more than those that are set: who names a profile means it.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Configuration of providers, by their names; it counts where the program says nothing.
    #[serde(default)]
    pub providers: BTreeMap<SmolStr, toml::Table>,
}

/// The profile that was named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    /// Its name, and who named it.
    pub name: Resolved<SmolStr>,
    /// What it says.
    pub says: UserProfile,
}

impl Profile {
    /// The profile that is named by the flag or by `TRUEUP_PROFILE`, if either is.
    pub(crate) fn named(
        flag: Option<&str>,
        environment: &Environment,
        user: &Result<UserSettings, String>,
    ) -> CommandResult<Option<Self>> {
        let named = flag.map(|name| (name, Source::Flag("--profile")));
        let named = named
            .or_else(|| Some((environment.get("TRUEUP_PROFILE")?, Source::Environment("TRUEUP_PROFILE"))));
        let Some((name, from)) = named else { return Ok(None) };
        let user = user.as_ref().map_err(|wrong| CommandError::new(wrong.clone(), "correct the file"))?;
        let says = user.profile.get(name).ok_or_else(|| unknown(name, environment, user))?.clone();
        let refused = says.environment.keys().find(|name| !may_be_set(name));
        if let Some(variable) = refused {
            // What is no name may be anything.
            let summary = match is_variable_name(variable) {
                true => format!("the profile `{name}` cannot set `{variable}`"),
                false => format!("the profile `{name}` sets something that is not the name of a variable"),
            };
            return Err(CommandError::new(summary, "remove it from the profile"));
        }
        Ok(Some(Profile { name: Resolved { value: name.into(), from }, says }))
    }

    /// Its variables that are not set as it says.
    pub(crate) fn unset_variables(&self, environment: &Environment) -> Vec<(String, String)> {
        let mut variables = self.says.environment.clone();
        variables.retain(|name, value| environment.exact(name) != Some(value));
        variables.into_iter().collect()
    }

    /// The providers, with its settings for them.
    pub(crate) fn configured(&self, registry: Registry) -> Registry {
        let from = format!("profile `{}`", self.name.value);
        self.says.providers.iter().fold(registry, |registry, (provider, settings)| {
            let values = from_toml(&toml::Value::Table(settings.clone()));
            registry.preset(provider.clone(), Preset { values, from: from.clone() })
        })
    }

    /// What plans follow from that are made with it. Its variables are not among them: credentials come and go.
    pub(crate) fn premises(&self) -> Vec<Premise> {
        let premise = |(provider, settings): (&SmolStr, &toml::Table)| {
            let content = serde_json::to_vec(settings).unwrap_or_default();
            Premise { secret: true, ..Premise::of(PremiseKind::Profile, provider.as_str(), &content) }
        };
        self.says.providers.iter().map(premise).collect()
    }

    /// What it sets, by names alone: values may be secrets.
    pub(crate) fn told(&self) -> String {
        let UserProfile { environment, providers } = &self.says;
        let variables = environment.keys().map(String::as_str);
        let providers = providers.keys().map(|name| format!("provider {name}"));
        let set: Vec<String> = variables.map(str::to_owned).chain(providers).collect();
        match set.is_empty() {
            true => format!("{} (sets nothing)", self.name.value),
            false => format!("{} (sets {})", self.name.value, set.join(", ")),
        }
    }
}

/// Whether a variable can be one of a profile: those that say which profile is meant cannot.
fn may_be_set(variable: &str) -> bool {
    is_variable_name(variable) && !matches!(variable, "TRUEUP_CONFIG" | "TRUEUP_PROFILE")
}

fn unknown(name: &str, environment: &Environment, user: &UserSettings) -> CommandError {
    let known: Vec<&str> = user.profile.keys().map(String::as_str).collect();
    let file = environment
        .config_file()
        .map_or("the user configuration".to_owned(), |file| file.display().to_string());
    let hint = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => format!("write it as [profile.{name}] in {file}"),
        None => format!("{file} has `{}`", known.join("`, `")),
    };
    CommandError::new(format!("there is no profile `{name}`"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Result<UserSettings, String> {
        let text =
            "[profile.prod.environment]\nA = \"1\"\nB = \"\"\n[profile.prod.providers.pg]\nport = 5433\n";
        Ok(toml::from_str(text).unwrap())
    }

    #[test]
    fn a_flag_counts_more_than_the_environment() {
        let environment = Environment::of([("TRUEUP_PROFILE", "other")]);
        let named = Profile::named(Some("prod"), &environment, &user()).unwrap().unwrap();
        assert_eq!((named.name.value.as_str(), named.name.from), ("prod", Source::Flag("--profile")));
        assert!(Profile::named(None, &environment, &user()).is_err());
        assert!(Profile::named(None, &Environment::default(), &user()).unwrap().is_none());
    }

    #[test]
    fn a_profile_does_not_say_which_profile_is_meant() {
        for variable in ["TRUEUP_PROFILE", "TRUEUP_CONFIG", "A=B", ""] {
            let environment = [(variable.to_owned(), "x".to_owned())].into();
            let profile = UserProfile { environment, ..UserProfile::default() };
            let user =
                UserSettings { profile: [("a".to_owned(), profile)].into(), ..UserSettings::default() };
            assert!(Profile::named(Some("a"), &Environment::default(), &Ok(user)).is_err(), "{variable}");
        }
    }

    /// Otherwise the process would begin again for ever.
    #[test]
    fn nothing_is_unset_once_it_is_set() {
        let profile = Profile::named(Some("prod"), &Environment::default(), &user()).unwrap().unwrap();
        let unset = |environment: &Environment| profile.unset_variables(environment).len();
        assert_eq!(unset(&Environment::default()), 2);
        assert_eq!(unset(&Environment::of([("A", "2"), ("B", "")])), 1);
        assert_eq!(unset(&Environment::of([("A", "1"), ("B", "")])), 0);
        assert_eq!(profile.told(), "prod (sets A, B, provider pg)");
    }
}
