//! The cause of a failure: an error of a system or a library, kept with its kind and its own causes until it is shown.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why something failed, in words and as the error itself. Clones share it; two that say the same are equal.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// This error.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Cause(Arc::new(error))
    }

    /// This error, with what it is about.
    pub fn about(subject: impl Into<String>, error: impl Error + Send + Sync + 'static) -> Self {
        Cause::new(Context { subject: subject.into(), error: Cause::new(error) })
    }

    /// The error, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What it says, as of a text.
impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Cause(Arc::from(Box::<dyn Error + Send + Sync>::from(text)))
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        Cause::from(text.to_owned())
    }
}

/// An error with what it is about in front.
#[derive(Debug, thiserror::Error)]
#[error("{subject}: {error}")]
struct Context {
    subject: String,
    #[source]
    error: Cause,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_keeps_the_error_and_what_it_is_about() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let cause = Cause::new(full());
        assert_eq!(cause.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(cause, Cause::from(full().to_string()));
        let about = Cause::about("the log", full());
        assert_eq!(about.to_string(), format!("the log: {}", full()));
        let inner = about.source().and_then(|it| it.downcast_ref::<Cause>()).unwrap();
        assert!(inner.downcast_ref::<std::io::Error>().is_some());
    }
}
