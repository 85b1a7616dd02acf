//! A Rust value that may or may not be secret, and remembers it.

use std::fmt;

use crate::field::{FieldError, FieldSchema, FieldType};
use crate::value::Value;

/// A field that keeps the secret mark of the value it was read from. For types that take open and secret values in the
/// same field, such as the content of a file, and hand on what derives from them.
///
/// ```
/// use trueup_core::{FieldType, Marked, value};
///
/// let header = Marked::<String>::decode(&value!("hunter2").into_secret())?;
/// assert_eq!(format!("{header:?}"), "(secret)");
/// assert!(header.map(str::len).is_secret());
/// # Ok::<(), trueup_core::FieldError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Marked<T> {
    content: T,
    secret: bool,
}

impl<T> Marked<T> {
    /// A value that everyone may see.
    pub fn open(content: T) -> Self {
        Marked { content, secret: false }
    }

    /// A value that is secret if `secret` holds.
    pub fn new(content: T, secret: bool) -> Self {
        Marked { content, secret }
    }

    /// Whether it must not be shown.
    pub fn is_secret(&self) -> bool {
        self.secret
    }

    /// The content, for the call that needs it.
    pub fn expose(&self) -> &T {
        &self.content
    }

    /// What derives from a secret is secret.
    pub fn map<U, D: ?Sized>(&self, derive: impl FnOnce(&D) -> U) -> Marked<U>
    where
        T: AsRef<D>,
    {
        Marked { content: derive(self.content.as_ref()), secret: self.secret }
    }
}

impl<T: fmt::Debug> fmt::Debug for Marked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.secret { f.write_str("(secret)") } else { self.content.fmt(f) }
    }
}

impl<T: FieldType> FieldType for Marked<T> {
    fn field_schema() -> FieldSchema {
        T::field_schema()
    }

    fn encode(&self) -> Result<Value, FieldError> {
        Ok(self.content.encode()?.into_secret_if(self.secret))
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        Ok(Marked { content: T::decode(value)?, secret: value.contains_secret() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    /// UNKNOWN-11
    #[test]
    fn a_mark_survives_the_way_there_and_back() {
        for value in [value!("open"), value!("hunter2").into_secret()] {
            let field = Marked::<String>::decode(&value).unwrap();
            assert_eq!(field.encode().unwrap(), value);
            assert_eq!(field.is_secret(), value.is_secret());
        }
        assert_eq!(format!("{:?}", Marked::open(1)), "1");
    }

    /// SECRET-1: a list with one secret in it is shown as a whole or not at all.
    #[test]
    fn a_collection_with_a_secret_inside_counts_as_secret() {
        let value = Value::list([value!("open"), value!("hunter2").into_secret()]);
        let field = Marked::<Vec<String>>::decode(&value).unwrap();
        assert_eq!(format!("{field:?}"), "(secret)");
    }
}
