//! The keyring: the data keys of a scope, wrapped by a key that is kept elsewhere.
//!
//! The first key seals; those after it are older ones that may still have to open something. What is written names the
//! kind of key that wraps, and what tells it from others, never where it is: that is for whoever opens it to know, and
//! a store that could name a file, a command to run or a server to send credentials to would be trusted too far.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::cipher::{KeyId, SealingKey};
use super::error::KeyError;
use super::place::parts_to_bytes;
use super::source::{KeyKind, KeySources, Lock, LockForm, Wrapped};
use crate::cause::Cause;
use crate::store::Scope;

/// The newest format this program knows. It writes the oldest one that can say what there is to say.
const FORMAT: u64 = 2;

/// The data keys of a scope as they are written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Keyring {
    version: u64,
    /// What wraps them; `None` if all keys were given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrapped_by: Option<LockForm>,
    /// The one that seals comes first.
    keys: Vec<WrappedKey>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct WrappedKey {
    id: String,
    wrapped: String,
    /// The name that a key service gave the key that wraps, for messages alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The data keys of a scope, ready to seal and open.
pub struct Keys {
    active: SealingKey,
    older: BTreeMap<KeyId, SealingKey>,
}

impl Keyring {
    /// Reads one.
    pub fn parse(text: &str) -> Result<Keyring, KeyError> {
        #[derive(Deserialize)]
        struct Header {
            version: u64,
        }
        let damaged = |error: serde_json::Error| KeyError::Keyring { why: Cause::new(error) };
        // The version first: what else a newer form holds is not for us to read.
        let Header { version } = serde_json::from_str(text).map_err(damaged)?;
        if version > FORMAT {
            return Err(KeyError::Format { found: version, known: FORMAT });
        }
        serde_json::from_str(text).map_err(damaged)
    }

    /// One without any key: what it had was given up.
    pub(super) fn empty() -> Keyring {
        Keyring { version: 1, wrapped_by: None, keys: Vec::new() }
    }

    /// As it is stored.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a keyring is plain data")
    }

    /// The kind of key that wraps it; `None` if it is empty.
    pub fn kind(&self) -> Option<KeyKind> {
        self.wrapped_by.as_ref().filter(|_| !self.keys.is_empty()).map(LockForm::kind)
    }

    /// Wraps these keys.
    pub(super) async fn of(keys: &Keys, lock: &Lock, scope: &Scope) -> Result<Keyring, KeyError> {
        let mut wrapped = Vec::new();
        for key in [&keys.active].into_iter().chain(keys.older.values()) {
            let Wrapped { text, by } = lock.wrap(scope, &place(scope, key.id()), key.bytes()).await?;
            wrapped.push(WrappedKey { id: key.id().to_string(), wrapped: text, by });
        }
        let form = lock.form().clone();
        Ok(Keyring { version: form.format(), wrapped_by: Some(form), keys: wrapped })
    }

    /// The keys in it; `None` if it is empty.
    pub async fn unlock(&self, sources: &KeySources, scope: &Scope) -> Result<Option<Keys>, KeyError> {
        let Some(form) = self.wrapped_by.as_ref().filter(|_| !self.keys.is_empty()) else { return Ok(None) };
        let lock = sources.find(form).await?;
        let mut keys = Vec::new();
        for WrappedKey { id, wrapped, by } in &self.keys {
            let id: KeyId = id
                .parse()
                .map_err(|()| KeyError::Keyring { why: format!("`{id}` is no id of a key").into() })?;
            let wrapped = Wrapped { text: wrapped.clone(), by: by.clone() };
            let key = SealingKey::new(lock.unwrap(scope, &place(scope, id), &wrapped).await?);
            if key.id() != id {
                let (found, wanted) = (key.id().to_string(), id.to_string());
                return Err(KeyError::Other { looked: lock.looked().to_owned(), found, wanted });
            }
            keys.push(key);
        }
        Ok(Keys::of(keys))
    }
}

impl Keys {
    /// A new key.
    pub(super) fn random() -> Keys {
        Keys { active: SealingKey::random(), older: BTreeMap::new() }
    }

    /// The first one seals.
    fn of(keys: Vec<SealingKey>) -> Option<Keys> {
        let mut keys = keys.into_iter();
        let active = keys.next()?;
        Some(Keys { active, older: keys.map(|key| (key.id(), key)).collect() })
    }

    /// A new key before all others, which stay to open what they sealed.
    pub(super) fn renewed(mut self) -> Keys {
        self.older.insert(self.active.id(), self.active);
        Keys { active: SealingKey::random(), older: self.older }
    }

    /// The one that seals, alone.
    pub(super) fn without_older(self) -> Keys {
        Keys { active: self.active, older: BTreeMap::new() }
    }

    /// The key that seals.
    pub(super) fn active(&self) -> &SealingKey {
        &self.active
    }

    /// Whether all of these are here.
    pub(super) fn have(&self, ids: &std::collections::BTreeSet<KeyId>) -> bool {
        ids.iter().all(|id| self.get(*id).is_ok())
    }

    pub(super) fn get(&self, id: KeyId) -> Result<&SealingKey, String> {
        let found = if self.active.id() == id { Some(&self.active) } else { self.older.get(&id) };
        found.ok_or_else(|| format!("is sealed by the key {id}, which the keyring does not have"))
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keys").field(&self.active.id()).finish_non_exhaustive()
    }
}

/// What is authenticated with a wrapped key.
fn place(scope: &Scope, id: KeyId) -> Vec<u8> {
    parts_to_bytes(&["trueup data key v1", &scope.stack, &scope.stage, &id.to_string()])
}

/// Thirty-two bytes from Base64 or hexadecimal digits; `None` if they are not.
pub(super) fn key_of_text(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let text = text.trim();
    let bytes = if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let digits = (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16));
        Zeroizing::new(digits.collect::<Result<Vec<u8>, _>>().ok()?)
    } else {
        Zeroizing::new(BASE64.decode(text).ok()?)
    };
    let mut key = Zeroizing::new([0; 32]);
    (bytes.len() == 32).then(|| key.copy_from_slice(&bytes))?;
    Some(key)
}

/// The same key as text.
pub(super) fn key_to_text(key: &Zeroizing<[u8; 32]>) -> Zeroizing<String> {
    Zeroizing::new(BASE64.encode(&key[..]))
}
