//! Secrets that a provider was given, for what it prints outside of any call.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trueup_core::{SecretTexts, Value};

/// All secrets that a provider was given so far. A clone is the same set.
///
/// A plugin prints to its log whenever it likes, and nobody can tell for which call: its lines are concealed by the
/// secrets of all of them. A provider that answers these from [`Provider::known_secrets`](crate::Provider) is guarded
/// so that they are complete before it is called.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<Mutex<SecretTexts>>);

impl KnownSecrets {
    /// Adds the secrets in these values.
    pub fn learn<'a>(&self, values: impl IntoIterator<Item = &'a Value>) {
        let found = SecretTexts::of(values);
        if !found.is_empty() {
            self.lock().add(found);
        }
    }

    /// A text without them.
    pub fn concealed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.lock().concealed_text(text)
    }

    fn lock(&self) -> MutexGuard<'_, SecretTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
