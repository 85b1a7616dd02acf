//! What a provider's code fails with.

use std::any::Any;
use std::fmt;
use std::io;
use std::time::Duration;

use trueup_core::{Failure, FailureClass, FieldError, FieldType, Path, Value};

/// The result of a provider's method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a provider's method failed: the class decides what the engine does, the message is for people.
///
/// Any error converts with `?`: those of the operating system by their kind, all others as *fatal*. That the object
/// itself is missing is never guessed: say so with [`Error::not_found`] or [`OrAbsent`]. What has happened
/// already is not lost: [`Error::with_partial`] hands on what is known of a half-made object.
pub struct Error(Box<Parts>);

struct Parts {
    failure: Failure,
    partial: Option<Result<Value, FieldError>>,
    /// Whether the partial outputs are of an object that has the inputs it was to be made with.
    is_whole: bool,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $class:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Error::of($class, message)
        }
    )*};
}

impl Error {
    constructors! {
        /// Nothing happened, or repeating is harmless: the engine tries again with back-off.
        retryable => FailureClass::Retryable;
        /// The object does not exist.
        not_found => FailureClass::NotFound;
        /// An object of that identity exists already.
        already_exists => FailureClass::AlreadyExists;
        /// The object is not in a state that allows this.
        conflict => FailureClass::Conflict;
        /// Not allowed to.
        denied => FailureClass::Denied;
        /// The request can never succeed as it stands.
        invalid => FailureClass::Invalid;
        /// Anything else that repeating would not help.
        fatal => FailureClass::Fatal;
        /// It may or may not have happened: the engine looks before it does anything.
        indeterminate => FailureClass::Indeterminate;
    }

    /// Too many requests; the other side may have said how long to wait.
    pub fn throttled(delay: Option<Duration>, message: impl Into<String>) -> Self {
        Error::of(FailureClass::Throttled { delay }, message)
    }

    /// Begun and not finished: the method is called again after the delay, and finds `context` in
    /// [`CallContext::pending`](crate::CallContext::pending).
    pub fn pending(delay: Option<Duration>, context: Value, message: impl Into<String>) -> Self {
        Error::of(FailureClass::Pending { delay, context }, message)
    }

    fn of(class: FailureClass, message: impl Into<String>) -> Self {
        Failure::new(class, message).into()
    }

    /// Says which input is at fault: a name or path such as `listeners[0].port`, or a field such as `File::FIELDS.path`.
    #[must_use]
    pub fn at(mut self, field: impl AsRef<str>) -> Self {
        let field = field.as_ref();
        self.0.failure.path = Some(field.parse().unwrap_or_else(|_| Path::attribute(field)));
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.failure.hints.push(hint.into());
        self
    }

    /// Says that the request never left, so that nothing came of it: a refused connection, a program that cannot be
    /// started. A create that fails so is not recorded, whatever its class.
    #[must_use]
    pub fn unsent(mut self) -> Self {
        self.0.failure.unsent = true;
        self
    }

    /// Adds what is already known of an object whose making did not finish, so that it can be resumed or removed.
    #[must_use]
    pub fn with_partial(mut self, outputs: &impl FieldType) -> Self {
        self.0.partial = Some(outputs.encode());
        self
    }

    /// The same for a new object that has the inputs it was to be made with, and only has to become ready. If the run ends
    /// here, the next one compares inputs as it does for any other object.
    #[must_use]
    pub fn with_unready(self, outputs: &impl FieldType) -> Self {
        let mut error = self.with_partial(outputs);
        error.0.is_whole = true;
        error
    }

    /// Whether the known outputs are of an object that has its inputs.
    pub(crate) fn is_of_whole_object(&self) -> bool {
        self.0.is_whole
    }

    /// The class.
    pub fn class(&self) -> &FailureClass {
        &self.0.failure.class
    }

    /// Takes the error apart: the failure, and the outputs known so far.
    pub fn into_parts(self) -> (Failure, Option<Value>) {
        let Parts { mut failure, partial, .. } = *self.0;
        match partial.transpose() {
            Ok(outputs) => (failure, outputs),
            // An object exists of which nothing can be kept: someone has to look.
            Err(error) => {
                failure.message = format!("{}; its partial output {error}", failure.message);
                failure.class = FailureClass::Indeterminate;
                (failure, None)
            }
        }
    }
}

impl From<Failure> for Parts {
    fn from(failure: Failure) -> Self {
        Parts { failure, partial: None, is_whole: false }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let any: &dyn Any = &error;
        let failure = if let Some(failure) = any.downcast_ref::<Failure>() {
            failure.clone()
        } else if let Some(io) = any.downcast_ref::<io::Error>() {
            Failure::new(class_of(io), chain(&error))
        } else if let Some(field) = any.downcast_ref::<FieldError>() {
            Failure::new(FailureClass::Invalid, field.to_string()).at(field.path().clone())
        } else {
            Failure::new(FailureClass::Fatal, chain(&error))
        };
        Error(Box::new(failure.into()))
    }
}

/// An error with its causes, as one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Many errors repeat their cause in their own words.
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// The class of an error of the operating system. Never *not found*: a missing program or socket is not a missing
/// object, and taking it for one would forget the object. See [`OrAbsent`].
fn class_of(error: &io::Error) -> FailureClass {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FailureClass::Denied,
        ErrorKind::InvalidInput | ErrorKind::InvalidFilename => FailureClass::Invalid,
        ErrorKind::DirectoryNotEmpty | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            FailureClass::Conflict
        }
        ErrorKind::ConnectionRefused | ErrorKind::Interrupted | ErrorKind::ResourceBusy => {
            FailureClass::Retryable
        }
        ErrorKind::TimedOut
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => FailureClass::Indeterminate,
        _ => FailureClass::Fatal,
    }
}

/// Says that what was not found is the object itself.
pub trait OrAbsent<T> {
    /// Turns "no such file" into the class *not found*, and "exists already" into *already exists*. For calls on the
    /// object alone.
    fn or_absent(self) -> Result<T>;
}

impl<T> OrAbsent<T> for io::Result<T> {
    fn or_absent(self) -> Result<T> {
        self.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::not_found(error.to_string()),
            io::ErrorKind::AlreadyExists => Error::already_exists(error.to_string()),
            _ => error.into(),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.failure.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.failure.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_convert_by_what_they_are() {
        let io = |kind| Error::from(io::Error::new(kind, "no")).class().name();
        assert_eq!(io(io::ErrorKind::NotFound), "fatal");
        assert_eq!(io(io::ErrorKind::PermissionDenied), "denied");
        assert_eq!(io(io::ErrorKind::TimedOut), "indeterminate");
        assert_eq!(io(io::ErrorKind::Other), "fatal");
        assert_eq!(Error::from(Failure::new(FailureClass::Conflict, "busy")).class().name(), "conflict");
        assert_eq!(Error::from("x".parse::<u8>().unwrap_err()).class().name(), "fatal");
    }
}
