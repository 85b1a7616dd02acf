//! A Rust value that must not be shown.

use std::fmt;

/// Wraps a field that is secret: the schema, the recorded value and everything printed treat it so.
///
/// ```
/// use trueup_core::Secret;
///
/// let password = Secret::new("hunter2".to_owned());
/// assert_eq!(format!("{password:?}"), "(secret)");
/// assert_eq!(password.expose(), "hunter2");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Makes a value secret.
    pub fn new(content: T) -> Self {
        Secret(content)
    }

    /// The content, for the call that needs it.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Takes the content out.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> From<T> for Secret<T> {
    fn from(content: T) -> Self {
        Secret(content)
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
