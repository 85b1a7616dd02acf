//! Failures: how an operation on the outside world went wrong, as data that journal, events and plans can hold.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostics;
use crate::path::Path;
use crate::value::Value;

/// A failed operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure, which decides what the engine does next.
    pub class: FailureClass,
    /// The provider's words. Never holds a secret.
    pub message: String,
    /// The input at fault, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// All that was wrong, where it is more than one thing or has a place in the source.
    #[serde(default, skip_serializing_if = "Diagnostics::is_empty")]
    pub diagnostics: Diagnostics,
    /// The request never left: a refused connection, a program that cannot be started. Whatever it was for did not happen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
}

/// The classes of failures (RETRY-1).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "kebab-case")]
pub enum FailureClass {
    /// Nothing happened, or repeating is harmless: tried again with back-off.
    Retryable,
    /// Too many requests: tried again, after this delay if given, with fewer at a time.
    Throttled {
        /// How long the other side asked to wait.
        delay: Option<Duration>,
    },
    /// Begun and not yet finished: asked again after the delay, with the context handed back.
    Pending {
        /// How long to wait before asking again.
        delay: Option<Duration>,
        /// What the next attempt needs to go on.
        context: Value,
    },
    /// The object does not exist.
    NotFound,
    /// An object of that identity exists already.
    AlreadyExists,
    /// The object is not in a state that allows this, or someone else changed it.
    Conflict,
    /// Not allowed to.
    Denied,
    /// The request can never succeed as it stands.
    Invalid,
    /// Anything else that repeating would not help.
    Fatal,
    /// It may or may not have happened: a time-out, a lost response, a dead plugin. Looked into, never just repeated.
    Indeterminate,
}

impl FailureClass {
    /// Whether the engine tries again by itself.
    pub fn is_retried(&self) -> bool {
        matches!(
            self,
            FailureClass::Retryable | FailureClass::Throttled { .. } | FailureClass::Pending { .. }
        )
    }

    /// The word by which people and machines know the class.
    pub fn name(&self) -> &'static str {
        match self {
            FailureClass::Retryable => "retryable",
            FailureClass::Throttled { .. } => "throttled",
            FailureClass::Pending { .. } => "pending",
            FailureClass::NotFound => "not-found",
            FailureClass::AlreadyExists => "already-exists",
            FailureClass::Conflict => "conflict",
            FailureClass::Denied => "denied",
            FailureClass::Invalid => "invalid",
            FailureClass::Fatal => "fatal",
            FailureClass::Indeterminate => "indeterminate",
        }
    }
}

impl Failure {
    /// A failure of this class.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        let diagnostics = Diagnostics::new();
        let (path, hints, unsent) = (None, Vec::new(), false);
        Failure { class, message: message.into(), path, hints, diagnostics, unsent }
    }

    /// Says which input is at fault.
    #[must_use]
    pub fn at(mut self, path: Path) -> Self {
        self.path = Some(path);
        self
    }

    /// Says that the request never left.
    #[must_use]
    pub fn unsent(mut self) -> Self {
        self.unsent = true;
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.name(), self.message)
    }
}

impl std::error::Error for Failure {}
