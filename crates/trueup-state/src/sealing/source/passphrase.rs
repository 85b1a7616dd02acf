//! A key from a passphrase, by Argon2id. What the derivation takes stands in the keyring, so that it can be made harder
//! for new ones.

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};

use super::super::cipher::random_bytes;
use super::{KeyBytes, KeyError, from_base64, to_base64};
use crate::cause::Cause;

/// The second of the two choices that RFC 9106 recommends, but for a single lane: a fraction of a second.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
/// What a keyring may ask for at most: whoever can write one must not be able to exhaust who reads it.
const MEMORY_KIB_MAX: u32 = 1024 * 1024;
const PASSES_MAX: u32 = 100;

/// How a key comes from a passphrase.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in super::super) struct Derivation {
    salt: String,
    memory_kib: u32,
    passes: u32,
}

impl Derivation {
    /// One for a new keyring.
    pub(super) fn new() -> Self {
        let salt = to_base64(&random_bytes::<16>()[..]);
        Derivation { salt, memory_kib: MEMORY_KIB, passes: PASSES }
    }

    /// The key that a passphrase gives.
    pub(super) fn key(&self, passphrase: &str, looked: &str) -> Result<KeyBytes, KeyError> {
        if passphrase.is_empty() {
            let why = "it is empty".into();
            return Err(KeyError::Unusable { looked: looked.to_owned(), why });
        }
        let damaged = |why: &str| KeyError::Keyring { why: why.into() };
        if self.memory_kib > MEMORY_KIB_MAX || self.passes > PASSES_MAX {
            return Err(damaged("it asks for more work than is sensible"));
        }
        let salt = from_base64(&self.salt).ok_or_else(|| damaged("its salt is garbled"))?;
        let mut key = KeyBytes::default();
        let parameters = Params::new(self.memory_kib, self.passes, 1, Some(key.len()));
        let derived = parameters.and_then(|parameters| {
            let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
            argon.hash_password_into(passphrase.as_bytes(), &salt, &mut key[..])
        });
        derived.map_err(|error| KeyError::Keyring { why: Cause::new(error) })?;
        Ok(key)
    }
}
