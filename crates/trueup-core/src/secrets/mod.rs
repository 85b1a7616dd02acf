//! Secrets in what others say and answer.
//!
//! A provider, server, command or plugin may repeat any secret that it was given, as it is or encoded. Text that comes back
//! is scrubbed: `(secret)` takes the place of every secret ([`KnownSecrets`]). Values that come back are never altered: one
//! that contains a secret is marked as secret itself ([`SecretTexts::mark`]).
//!
//! A call is often given a text that was made of a secret, such as `Bearer …`. Whoever makes such texts reports what they
//! are made of to [`KnownSecrets::learn`], so that the secret is found without the text around it.
//!
//! Secrets shorter than [`SECRET_LENGTH_MIN`] cannot be told from ordinary text and are not searched for in texts.

mod decode;
mod dumps;
mod forms;
mod index;
mod known;
#[cfg(test)]
mod tests;
mod views;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use smol_str::SmolStr;

pub use forms::SECRET_LENGTH_MIN;
use index::Index;
pub use known::KnownSecrets;

use crate::value::{Entries, Kind, Value};

/// The shortest secret number that marks an equal one.
const NUMBER_LENGTH_MIN: usize = 3;

/// The texts at secret positions of some values.
#[derive(Clone, Default)]
pub struct SecretTexts {
    texts: BTreeSet<SmolStr>,
    /// Keys at secret positions.
    keys: BTreeSet<SmolStr>,
    /// Those of them that are data, not names that someone chose for a field. They count as secret only as a whole.
    data_keys: BTreeSet<SmolStr>,
    index: OnceLock<Index>,
}

impl SecretTexts {
    /// Collects those of these values, numbers included.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut found = SecretTexts::default();
        values.into_iter().for_each(|value| found.collect(value, false));
        found
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.keys.is_empty()
    }

    /// The same value, with a mark on each position that repeats one of the secrets. A text that is one as a whole counts
    /// however short it is. A map with a secret among its keys is marked as a whole.
    #[must_use]
    pub fn mark(&self, value: &Value) -> Value {
        if self.is_empty() || !self.is_repeated_in(value) {
            return value.clone();
        }
        if self.repeats_here(value) {
            return value.clone().into_secret();
        }
        let items = |items: &[Value]| items.iter().map(|item| self.mark(item)).collect::<Vec<_>>();
        let entries = |entries: &Entries| {
            let marked = entries.iter().map(|(key, item)| (key.clone(), self.mark(item)));
            marked.collect::<Vec<_>>()
        };
        let marked = match value.kind() {
            Kind::List(inner) => Value::list(items(inner)),
            Kind::Set(inner) => Value::set(items(inner)),
            Kind::Map(inner) => Value::map(entries(inner)),
            Kind::Object(inner) => Value::object(entries(inner)),
            _ => return value.clone(),
        };
        let marked = marked.with_marks(value.marks());
        value.origin().map_or(marked.clone(), |origin| marked.with_origin(origin))
    }

    /// Whether a position of the value that is not secret yet repeats one of the secrets.
    fn is_repeated_in(&self, value: &Value) -> bool {
        !value.is_secret()
            && (self.repeats_here(value) || value.children().any(|child| self.is_repeated_in(child)))
    }

    fn repeats_here(&self, value: &Value) -> bool {
        match value.kind() {
            Kind::String(text) => !text.is_empty() && self.texts.contains(text) || self.is_in(text),
            // Digits occur by accident: a number counts only as a whole.
            Kind::Number(number) => is_telling(number) && self.texts.contains(number.to_string().as_str()),
            Kind::Map(entries) | Kind::Object(entries) => entries.keys().any(|key| self.has_key(key)),
            // The type of an object tells its keys.
            Kind::Unknown(ty) => self.is_in(&ty.to_string()),
            _ => false,
        }
    }

    fn collect(&mut self, value: &Value, inside_secret: bool) {
        if !inside_secret && !value.contains_secret() {
            return;
        }
        let secret = inside_secret || value.is_secret();
        match value.kind() {
            Kind::String(text) if secret => drop(self.texts.insert(text.clone())),
            Kind::Number(number) if secret => drop(self.texts.insert(number.to_string().into())),
            Kind::Map(entries) if secret => {
                self.keys.extend(entries.keys().cloned());
                self.data_keys.extend(entries.keys().filter(|key| !key.is_empty()).cloned());
            }
            Kind::Object(entries) if secret => {
                self.keys.extend(entries.keys().cloned());
                self.data_keys.extend(entries.keys().filter(|key| !is_name(key)).cloned());
            }
            _ => {}
        }
        value.children().for_each(|child| self.collect(child, secret));
    }

    /// Whether a key of a map repeats one of the secrets.
    pub fn has_key(&self, key: &str) -> bool {
        self.data_keys.contains(key) || self.is_in(key)
    }

    /// Whether a text contains one of the secrets, in some form, or a long piece of one.
    pub fn is_in(&self, text: &str) -> bool {
        !self.index().ranges(text).is_empty()
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            self.texts.iter().enumerate().for_each(|(number, text)| index.insert(text, number));
            index
        })
    }
}

impl Extend<SmolStr> for SecretTexts {
    fn extend<T: IntoIterator<Item = SmolStr>>(&mut self, texts: T) {
        self.texts.extend(texts);
        self.index = OnceLock::new();
    }
}

impl std::fmt::Debug for SecretTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.texts.len())
    }
}

/// Whether a number is too long to come up by accident.
fn is_telling(number: &crate::value::Number) -> bool {
    number.to_string().len() >= NUMBER_LENGTH_MIN
}

/// Whether a key of an object reads like the name of a field: `password`, `api_key`.
fn is_name(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}
