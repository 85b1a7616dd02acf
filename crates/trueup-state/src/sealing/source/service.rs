//! Keys that a key service holds: AWS KMS, or the transit engine of Vault and OpenBao.
//!
//! [`KeyService`] is the seam: clients implement it, and nothing here knows of HTTP or of any vendor. Which key, at which
//! server, with which credentials comes from the user's settings alone. A keyring names none of these, so whoever can
//! write to the store cannot direct a request, and the credentials with it, elsewhere.
//!
//! The service wraps 64 bytes: the data key, and a digest by that key of the place it belongs to. A wrapped key that was
//! moved to another stack or stage is refused, whether or not the service can authenticate a context.

use std::fmt;
use std::sync::Arc;

use trueup_provider::BoxFuture;
use zeroize::Zeroizing;

use super::{KeyBytes, KeyError, KeyKind};
use crate::store::Scope;

const KEY_LENGTH: usize = 32;
const PAYLOAD_LENGTH: usize = 2 * KEY_LENGTH;

/// The longest wrapped key, and the longest name of a key, that a keyring may hold.
const TEXT_MAX: usize = 16 * 1024;

/// One key of a key service, as the user's settings name it.
pub trait KeyService: fmt::Debug + Send + Sync {
    /// The service and its key, for people: `AWS KMS alias/trueup`.
    fn location(&self) -> String;

    /// Encrypts a few bytes. A service that authenticates a context binds them to the scope.
    fn wrap<'a>(
        &'a self,
        plaintext: &'a [u8],
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<WrappedText, KeyServiceError>>;

    /// Decrypts what [`KeyService::wrap`] returned, for the same scope.
    fn unwrap<'a>(
        &'a self,
        wrapped: &'a str,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, KeyServiceError>>;
}

/// Bytes as a key service wrapped them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrappedText {
    /// The ciphertext, as text on one line.
    pub text: String,
    /// The key that the service used, as the service names it. Shown when the text does not open, and never used to
    /// reach a service.
    pub by: String,
}

/// A key service's refusal. Neither text holds key material or credentials.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyServiceError {
    /// The service can't be reached, or doesn't let us use the key now. The key is not lost.
    #[error("{0}")]
    Unavailable(String),
    /// The key does not exist, or did not wrap this.
    #[error("{0}")]
    Unusable(String),
}

/// The keys of all services.
#[derive(Clone, Debug, Default)]
pub struct KeyServices {
    /// The one in AWS KMS.
    pub kms: ServiceKey,
    /// The one in the transit engine of Vault or OpenBao.
    pub vault: ServiceKey,
}

/// The key of one service.
#[derive(Clone, Debug, Default)]
pub enum ServiceKey {
    /// The settings name none.
    #[default]
    Unset,
    /// It can't be used from here: the reason, such as a program built without the client.
    Unusable(String),
    /// Ready to be used.
    Ready(Arc<dyn KeyService>),
}

impl KeyServices {
    /// The client for a kind of key, or an error that says what to set.
    pub(super) fn get(&self, kind: KeyKind) -> Result<Arc<dyn KeyService>, KeyError> {
        let (key, title, variable) = match kind {
            KeyKind::Kms => (&self.kms, "AWS KMS", "TRUEUP_KEY_KMS"),
            KeyKind::Vault => (&self.vault, "Vault's transit engine", "TRUEUP_KEY_VAULT"),
            KeyKind::File | KeyKind::Passphrase | KeyKind::Env | KeyKind::Command => {
                panic!("a key of kind {kind} is not with a key service")
            }
        };
        match key {
            ServiceKey::Unset => {
                Err(KeyError::Missing { looked: format!("{title}: {variable} does not name one") })
            }
            ServiceKey::Unusable(why) => {
                Err(KeyError::Unavailable { looked: title.to_owned(), why: why.as_str().into() })
            }
            ServiceKey::Ready(service) => Ok(service.clone()),
        }
    }
}

/// Wraps a data key for a place.
pub(super) async fn wrap(
    service: &dyn KeyService,
    (scope, place): (&Scope, &[u8]),
    key: &KeyBytes,
) -> Result<WrappedText, KeyError> {
    let payload = Zeroizing::new([&key[..], &place_digest(key, place)].concat());
    let wrapped = service.wrap(&payload, scope).await.map_err(|error| failed(service, error, None))?;
    for text in [&wrapped.text, &wrapped.by] {
        check(text).map_err(|why| KeyError::Unusable { looked: service.location(), why: why.into() })?;
    }
    Ok(wrapped)
}

/// Unwraps a data key, and checks that it belongs to this place.
pub(super) async fn unwrap(
    service: &dyn KeyService,
    (scope, place): (&Scope, &[u8]),
    wrapped: &WrappedText,
) -> Result<KeyBytes, KeyError> {
    for text in [&wrapped.text, &wrapped.by] {
        check(text).map_err(|why| KeyError::Keyring { why: why.into() })?;
    }
    let opened = service.unwrap(&wrapped.text, scope).await;
    let payload = opened.map_err(|error| failed(service, error, Some(&wrapped.by)))?;
    let moved = || KeyError::Keyring { why: "a key in it was changed, or belongs to another stack".into() };
    if payload.len() != PAYLOAD_LENGTH {
        return Err(moved());
    }
    let mut key = KeyBytes::default();
    key.copy_from_slice(&payload[..KEY_LENGTH]);
    // Whoever could tell how far two digests agree would have to have the key already.
    if payload[KEY_LENGTH..] == place_digest(&key, place) { Ok(key) } else { Err(moved()) }
}

/// The digest that binds a data key to its place.
fn place_digest(key: &KeyBytes, place: &[u8]) -> [u8; KEY_LENGTH] {
    let own = Zeroizing::new(blake3::derive_key("trueup data key place v1", &key[..]));
    *blake3::keyed_hash(&own, place).as_bytes()
}

/// Texts that come out of a keyring end up on a terminal.
fn check(text: &str) -> Result<(), String> {
    let is_sound =
        !text.is_empty() && text.len() <= TEXT_MAX && text.bytes().all(|it| (b' '..=b'~').contains(&it));
    if is_sound {
        Ok(())
    } else {
        Err("a wrapped key is not a line of printable ASCII characters".to_owned())
    }
}

fn failed(service: &dyn KeyService, error: KeyServiceError, by: Option<&str>) -> KeyError {
    let looked = service.location();
    // An alias may name another key by now.
    let by = by.filter(|by| !looked.contains(by)).map(|by| format!("; the data key was wrapped by {by}"));
    let by = by.unwrap_or_default();
    match error {
        KeyServiceError::Unavailable(why) => {
            KeyError::Unavailable { looked, why: format!("{why}{by}").into() }
        }
        KeyServiceError::Unusable(why) => KeyError::Unusable { looked, why: format!("{why}{by}").into() },
    }
}
