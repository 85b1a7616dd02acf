//! Where the key is that seals secrets: environment, then user configuration, then a file of the user's.

use std::path::PathBuf;
use std::sync::Arc;

use trueup_core::Secret;
use trueup_provider::Clock;
use trueup_state::sealing::{KeyKind, KeyServices, KeySources, NewKeyFile, ServiceKey, Variables};

use super::resolve::Source;
use super::{Environment, Resolved, UserSettings};
use crate::composition::{KeyServiceClients, KeyServiceRequest, MakeKeyService};

/// The names of one set of variables.
struct Names {
    key: &'static str,
    passphrase: &'static str,
    command: &'static str,
    kms: &'static str,
    vault: &'static str,
    file: &'static str,
}

const NAMES: Names = Names {
    key: "TRUEUP_KEY",
    passphrase: "TRUEUP_PASSPHRASE",
    command: "TRUEUP_KEY_COMMAND",
    kms: "TRUEUP_KEY_KMS",
    vault: "TRUEUP_KEY_VAULT",
    file: "TRUEUP_KEY_FILE",
};

/// What `state rekey` changes to.
const NEW_NAMES: Names = Names {
    key: "TRUEUP_NEW_KEY",
    passphrase: "TRUEUP_NEW_PASSPHRASE",
    command: "TRUEUP_NEW_KEY_COMMAND",
    kms: "TRUEUP_NEW_KEY_KMS",
    vault: "TRUEUP_NEW_KEY_VAULT",
    file: "TRUEUP_NEW_KEY_FILE",
};

/// Makes clients of key services from settings.
pub(crate) struct KeyServiceSetup<'a> {
    pub clients: &'a KeyServiceClients,
    pub environment: &'a Environment,
    pub clock: Arc<dyn Clock>,
}

impl KeyServiceSetup<'_> {
    /// The clients for these keys. What was built without a client says so, whether or not a key is named.
    fn services(&self, kms: Option<&str>, vault: Option<&str>) -> KeyServices {
        KeyServices {
            kms: self.service("kms", self.clients.kms.as_deref(), kms),
            vault: self.service("vault", self.clients.vault.as_deref(), vault),
        }
    }

    fn service(&self, feature: &str, make: Option<&MakeKeyService>, key: Option<&str>) -> ServiceKey {
        let Some(make) = make else {
            let why = format!(
                "this program was built without its client: use a release, or build with `--features {feature}`"
            );
            return ServiceKey::Unusable(why);
        };
        let Some(key) = key else { return ServiceKey::Unset };
        let (environment, clock) = (self.environment.variables(), self.clock.clone());
        match make(&KeyServiceRequest { key, environment, clock }) {
            Ok(service) => ServiceKey::Ready(service),
            Err(why) => ServiceKey::Unusable(why),
        }
    }
}

/// Where keys are, and which kind is taken where there is none yet.
pub(crate) fn key(setup: &KeyServiceSetup<'_>, user: &UserSettings) -> Resolved<KeySources> {
    let environment = setup.environment;
    let told = user.key.clone().unwrap_or_default();
    let kms = environment.get(NAMES.kms).or(told.kms.as_deref());
    let vault = environment.get(NAMES.vault).or(told.vault.as_deref());
    let services = setup.services(kms, vault);
    let own_file = || own_key_file(environment);
    let sources = KeySources {
        file: environment.get(NAMES.file).map(PathBuf::from).or(told.file).or_else(own_file),
        passphrase: secret(environment, NAMES.passphrase),
        env: secret(environment, NAMES.key),
        command: command(environment, NAMES.command).unwrap_or(told.command),
        services,
        ..KeySources::default()
    };
    let set = [
        (NAMES.key, KeyKind::Env),
        (NAMES.passphrase, KeyKind::Passphrase),
        (NAMES.command, KeyKind::Command),
        (NAMES.kms, KeyKind::Kms),
        (NAMES.vault, KeyKind::Vault),
        (NAMES.file, KeyKind::File),
    ];
    let by_environment = set.into_iter().find(|(name, _)| environment.is_set(name));
    let (chosen, from) = match (by_environment, told.kind) {
        (Some((name, kind)), _) => (kind, Source::Environment(name)),
        (None, Some(kind)) => (kind, Source::User),
        (None, None) => (KeyKind::File, Source::Default),
    };
    Resolved { value: KeySources { chosen, ..sources }, from }
}

/// The key file where nothing else is said: beside the user's configuration.
pub(crate) fn own_key_file(environment: &Environment) -> Option<PathBuf> {
    Some(environment.config_file()?.parent()?.join("key"))
}

/// Where the keys are that `state rekey` changes to: what is not said anew stays.
pub(crate) fn new_key(setup: &KeyServiceSetup<'_>, current: &KeySources, chosen: KeyKind) -> KeySources {
    let (environment, names) = (setup.environment, NEW_NAMES);
    let (kms, vault) = (environment.get(names.kms), environment.get(names.vault));
    let named = setup.services(kms, vault);
    let services = KeyServices {
        kms: if kms.is_some() { named.kms } else { current.services.kms.clone() },
        vault: if vault.is_some() { named.vault } else { current.services.vault.clone() },
    };
    let given = secret(environment, names.passphrase);
    let env = secret(environment, names.key);
    // Messages name the variable that counts.
    let variables = Variables {
        passphrase: if given.is_some() { names.passphrase } else { NAMES.passphrase },
        key: if env.is_some() { names.key } else { NAMES.key },
    };
    KeySources {
        chosen,
        file: environment.get(names.file).map(PathBuf::from).or_else(|| current.file.clone()),
        // Whoever names a place for a new key means one to be made there.
        new_file: match &current.new_file {
            NewKeyFile::Refuse if environment.is_set(names.file) => NewKeyFile::Make,
            policy => policy.clone(),
        },
        never_in: current.never_in.clone(),
        passphrase: given.or_else(|| current.passphrase.clone()),
        env: env.or_else(|| current.env.clone()),
        command: command(environment, names.command).unwrap_or_else(|| current.command.clone()),
        services,
        variables,
    }
}

fn secret(environment: &Environment, name: &str) -> Option<Secret<String>> {
    environment.get(name).map(|text| Secret::new(text.to_owned()))
}

fn command(environment: &Environment, name: &str) -> Option<Vec<String>> {
    environment.get(name).map(|text| text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::user::UserKey;
    use trueup_provider::RuntimeClock;

    #[test]
    fn environment_counts_more_than_the_user_and_a_file_is_the_default() {
        let home = [("HOME", "/home/ada")];
        let none = UserSettings::default();
        let of = |environment: &Environment, user: &UserSettings| {
            let (clients, clock) = (KeyServiceClients::default(), Arc::new(RuntimeClock::new()));
            key(&KeyServiceSetup { clients: &clients, environment, clock }, user)
        };
        let default = of(&Environment::of(home), &none);
        assert_eq!((default.value.chosen, default.from), (KeyKind::File, Source::Default));
        assert_eq!(default.value.file, Some("/home/ada/.config/trueup/key".into()));
        assert_eq!(of(&Environment::default(), &none).value.file, None);

        let told = UserKey {
            kind: Some(KeyKind::Command),
            command: vec!["vault-keys".to_owned()],
            file: Some("/k".into()),
            ..UserKey::default()
        };
        let user = UserSettings { key: Some(told), ..UserSettings::default() };
        let by_user = of(&Environment::of(home), &user);
        assert_eq!((by_user.value.chosen, by_user.from), (KeyKind::Command, Source::User));
        assert_eq!(by_user.value.command, ["vault-keys"]);

        let set =
            [("TRUEUP_PASSPHRASE", "hush"), ("TRUEUP_KEY_FILE", "/else"), ("TRUEUP_KEY_COMMAND", "a  b")];
        let by_environment = of(&Environment::of(set), &user);
        assert_eq!(by_environment.value.chosen, KeyKind::Passphrase);
        assert_eq!(by_environment.from, Source::Environment("TRUEUP_PASSPHRASE"));
        assert_eq!(by_environment.value.file, Some("/else".into()));
        assert_eq!(by_environment.value.command, ["a", "b"]);
    }
}
