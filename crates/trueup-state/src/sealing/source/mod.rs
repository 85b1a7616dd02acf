//! Where the keys are that wrap data keys: never in the store.
//!
//! [`KeySources`] says for each kind of key where it is, and which kind is taken for new keyrings. A keyring names its
//! own kind, so that those who share a store need not all be set up alike. A [`Lock`] is a key that was found.

mod command;
mod file;
mod passphrase;
mod service;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trueup_core::Secret;

use super::cipher::{KeyBytes, KeyId, SealingKey, random_bytes};
use super::error::KeyError;
use super::keyring::{key_of_text, key_to_text};
use crate::store::Scope;
use passphrase::Derivation;
pub use service::{KeyService, KeyServiceError, KeyServices, ServiceKey, WrappedText};

/// The kinds of keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// In a file of the user's.
    #[default]
    File,
    /// Derived from a passphrase.
    Passphrase,
    /// In a variable of the environment.
    Env,
    /// Kept by a service that a command asks.
    Command,
    /// In AWS KMS.
    Kms,
    /// In the transit engine of Vault or OpenBao.
    Vault,
}

impl KeyKind {
    /// All of them.
    pub const ALL: [KeyKind; 6] =
        [KeyKind::File, KeyKind::Passphrase, KeyKind::Env, KeyKind::Command, KeyKind::Kms, KeyKind::Vault];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::File => "file",
            KeyKind::Passphrase => "passphrase",
            KeyKind::Env => "env",
            KeyKind::Command => "command",
            KeyKind::Kms => "kms",
            KeyKind::Vault => "vault",
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for KeyKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = KeyKind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| {
            format!("`{text}` is no kind of key: use file, passphrase, env, command, kms or vault")
        })
    }
}

/// What is done about a key file that is chosen for a new keyring and is not there.
#[derive(Clone, Default)]
pub enum NewKeyFile {
    /// It is made.
    #[default]
    Make,
    /// It is made, and announced: whoever loses it loses the secrets.
    Announce(Arc<dyn Fn(&Path) + Send + Sync>),
    /// It is not made: nobody would know of it.
    Refuse,
}

impl fmt::Debug for NewKeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NewKeyFile::Make => "Make",
            NewKeyFile::Announce(_) => "Announce",
            NewKeyFile::Refuse => "Refuse",
        })
    }
}

/// Where keys are. All of it is handed in: nothing here reads the environment or asks anyone.
#[derive(Clone, Debug, Default)]
pub struct KeySources {
    /// The kind that new keyrings are wrapped by.
    pub chosen: KeyKind,
    /// The key file; `None` if there is no place for one.
    pub file: Option<PathBuf>,
    /// What is done if it is not there when it is first needed.
    pub new_file: NewKeyFile,
    /// Folders in which a key file is never made: those of the state and of the stack.
    pub never_in: Vec<PathBuf>,
    /// The passphrase.
    pub passphrase: Option<Secret<String>>,
    /// The key in the environment, as Base64 or hexadecimal digits of 32 bytes.
    pub env: Option<Secret<String>>,
    /// What wraps and unwraps: a program and its arguments.
    pub command: Vec<String>,
    /// The keys of key services.
    pub services: KeyServices,
    /// The names under which the environment has passphrase and key, for messages.
    pub variables: Variables,
}

/// Names of environment variables.
#[derive(Clone, Copy, Debug)]
pub struct Variables {
    /// That of the passphrase.
    pub passphrase: &'static str,
    /// That of the key.
    pub key: &'static str,
}

impl Default for Variables {
    fn default() -> Self {
        Variables { passphrase: "TRUEUP_PASSPHRASE", key: "TRUEUP_KEY" }
    }
}

/// What a keyring says of the key that wraps it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum LockForm {
    File { key: String },
    Passphrase { key: String, derivation: Derivation },
    Env { key: String },
    Command,
    Kms,
    Vault,
}

impl LockForm {
    pub(super) fn kind(&self) -> KeyKind {
        match self {
            LockForm::File { .. } => KeyKind::File,
            LockForm::Passphrase { .. } => KeyKind::Passphrase,
            LockForm::Env { .. } => KeyKind::Env,
            LockForm::Command => KeyKind::Command,
            LockForm::Kms => KeyKind::Kms,
            LockForm::Vault => KeyKind::Vault,
        }
    }

    /// The first format of keyrings that knows of it. Older programs then ask for a newer one, rather than call the
    /// keyring damaged.
    pub(super) fn format(&self) -> u64 {
        match self.kind() {
            KeyKind::File | KeyKind::Passphrase | KeyKind::Env | KeyKind::Command => 1,
            KeyKind::Kms | KeyKind::Vault => 2,
        }
    }
}

/// A key that wraps others.
pub(super) struct Lock {
    form: LockForm,
    looked: String,
    holder: Holder,
}

enum Holder {
    Key(SealingKey),
    Command(Vec<String>),
    Service(Arc<dyn KeyService>),
}

/// A data key as a lock wrapped it.
pub(super) struct Wrapped {
    pub(super) text: String,
    /// The service's name of the key that wraps, where one does.
    pub(super) by: Option<String>,
}

impl KeySources {
    /// The key for new keyrings; makes the key file if that is to hold it and is not there.
    pub(super) async fn choose(&self) -> Result<Lock, KeyError> {
        let lock = |form: &dyn Fn(String) -> LockForm, looked: String, key: KeyBytes| {
            let key = SealingKey::new(key);
            Lock { form: form(key.id().to_string()), looked, holder: Holder::Key(key) }
        };
        match self.chosen {
            KeyKind::File => {
                let path = self.file_path()?;
                let key = file::read_or_make(path, &self.never_in, &self.new_file)?;
                Ok(lock(&|key| LockForm::File { key }, path.display().to_string(), key))
            }
            KeyKind::Passphrase => {
                let derivation = Derivation::new();
                let key = derivation.key(self.given_passphrase()?, self.variables.passphrase)?;
                let form = |key| LockForm::Passphrase { key, derivation: derivation.clone() };
                Ok(lock(&form, self.variables.passphrase.to_owned(), key))
            }
            KeyKind::Env => {
                Ok(lock(&|key| LockForm::Env { key }, self.variables.key.to_owned(), self.env_key()?))
            }
            KeyKind::Command => self.command_lock(),
            KeyKind::Kms => self.service_lock(LockForm::Kms),
            KeyKind::Vault => self.service_lock(LockForm::Vault),
        }
    }

    /// Makes a key file where none is; `false` if there is one.
    pub fn make_file(&self) -> Result<bool, KeyError> {
        let path = self.file_path()?;
        match file::read(path) {
            Ok(_) => Ok(false),
            Err(KeyError::Missing { .. }) => file::make_at(path, &self.never_in),
            Err(error) => Err(error),
        }
    }

    /// The key that a keyring was wrapped by. Makes none.
    pub(super) async fn find(&self, form: &LockForm) -> Result<Lock, KeyError> {
        let (looked, wanted, bytes) = match form {
            LockForm::File { key } => {
                let path = self.file_path()?;
                (path.display().to_string(), key, file::read(path)?)
            }
            LockForm::Passphrase { key, derivation } => {
                let name = self.variables.passphrase;
                (name.to_owned(), key, derivation.key(self.given_passphrase()?, name)?)
            }
            LockForm::Env { key } => (self.variables.key.to_owned(), key, self.env_key()?),
            LockForm::Command => return self.command_lock(),
            LockForm::Kms | LockForm::Vault => return self.service_lock(form.clone()),
        };
        let key = SealingKey::new(bytes);
        if key.id().to_string() != *wanted {
            let (found, wanted) = (key.id().to_string(), wanted.clone());
            return Err(KeyError::Other { looked, found, wanted });
        }
        Ok(Lock { form: form.clone(), looked, holder: Holder::Key(key) })
    }

    fn file_path(&self) -> Result<&Path, KeyError> {
        let looked = || "a key file: nothing says where it is, and there is no home folder".to_owned();
        self.file.as_deref().ok_or_else(|| KeyError::Missing { looked: looked() })
    }

    fn given_passphrase(&self) -> Result<&str, KeyError> {
        let given = self.passphrase.as_ref().map(|given| given.expose().as_str());
        let looked = || format!("{}, nor a terminal to ask for a passphrase in", self.variables.passphrase);
        given.ok_or_else(|| KeyError::Missing { looked: looked() })
    }

    fn env_key(&self) -> Result<KeyBytes, KeyError> {
        let looked = || self.variables.key.to_owned();
        let text = self.env.as_ref().ok_or_else(|| KeyError::Missing { looked: looked() })?;
        let why = "it is not 32 bytes in Base64 or hexadecimal digits";
        key_of_text(text.expose()).ok_or_else(|| KeyError::Unusable { looked: looked(), why: why.into() })
    }

    fn command_lock(&self) -> Result<Lock, KeyError> {
        if self.command.is_empty() {
            let looked = "a command that keeps keys: none is set".to_owned();
            return Err(KeyError::Missing { looked });
        }
        let (looked, holder) =
            (format!("`{}`", self.command.join(" ")), Holder::Command(self.command.clone()));
        Ok(Lock { form: LockForm::Command, looked, holder })
    }

    fn service_lock(&self, form: LockForm) -> Result<Lock, KeyError> {
        let service = self.services.get(form.kind())?;
        Ok(Lock { form, looked: service.location(), holder: Holder::Service(service) })
    }
}

impl Lock {
    pub(super) fn form(&self) -> &LockForm {
        &self.form
    }

    /// Where it is, for people.
    pub(super) fn looked(&self) -> &str {
        &self.looked
    }

    /// A key as text that only this lock unwraps.
    pub(super) async fn wrap(
        &self,
        scope: &Scope,
        place: &[u8],
        key: &KeyBytes,
    ) -> Result<Wrapped, KeyError> {
        let text = match &self.holder {
            Holder::Key(own) => to_base64(&own.seal(place, &key[..])),
            Holder::Command(command) => command::wrap(command, &key_to_text(key)).await?,
            Holder::Service(service) => {
                let WrappedText { text, by } = service::wrap(&**service, (scope, place), key).await?;
                return Ok(Wrapped { text, by: Some(by) });
            }
        };
        Ok(Wrapped { text, by: None })
    }

    pub(super) async fn unwrap(
        &self,
        scope: &Scope,
        place: &[u8],
        wrapped: &Wrapped,
    ) -> Result<KeyBytes, KeyError> {
        match &self.holder {
            Holder::Key(own) => {
                let opened = from_base64(&wrapped.text).and_then(|sealed| own.open(place, &sealed));
                let key = opened.and_then(|bytes| Some(KeyBytes::new(bytes[..].try_into().ok()?)));
                let why = "a key in it was changed, or belongs to another stack";
                key.ok_or_else(|| KeyError::Keyring { why: why.into() })
            }
            Holder::Command(command) => command::unwrap(command, &wrapped.text).await,
            Holder::Service(service) => {
                let by = wrapped.by.clone().unwrap_or_else(|| "a key without a name".to_owned());
                let wrapped = WrappedText { text: wrapped.text.clone(), by };
                service::unwrap(&**service, (scope, place), &wrapped).await
            }
        }
    }
}

fn to_base64(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes)
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    base64::Engine::decode(&base64::prelude::BASE64_STANDARD, text).ok()
}

/// A new key, and what tells it.
fn new_key() -> (KeyBytes, KeyId) {
    let key = random_bytes();
    let id = KeyId::of(&key);
    (key, id)
}
