//! What providers say is wrong, in our own vocabulary.

use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Path, Severity, Step};

use crate::grpc::{Code, Status};
use crate::planning::Violation;
use crate::protocol::attribute_path::step::Selector;
use crate::protocol::diagnostic::Severity as Sent;
use crate::protocol::{AttributePath, Deferred, Diagnostic as Message};
use crate::schema::SchemaError;
use crate::wire::WireError;

/// What was told with an answer.
pub(crate) fn diagnostics(messages: &[Message]) -> Diagnostics {
    let mut told = Diagnostics::new();
    told.extend(messages.iter().map(|message| {
        let mut diagnostic = match message.severity() {
            Sent::Warning => Diagnostic::warning(&message.summary),
            Sent::Error | Sent::Invalid => Diagnostic::error(&message.summary),
        };
        diagnostic.detail = Some(message.detail.clone()).filter(|detail| !detail.is_empty());
        diagnostic.path = message.attribute.as_ref().map(path).filter(|path| !path.is_root());
        diagnostic
    }));
    told
}

/// What an answer warns of; a failure of this class if it says that something is wrong.
pub(crate) fn warnings(messages: &[Message], class: FailureClass) -> Result<Diagnostics, Failure> {
    let told = diagnostics(messages);
    if told.has_errors() { Err(failure(told, class)) } else { Ok(told) }
}

/// A failure that says all of this.
pub(crate) fn failure(told: Diagnostics, class: FailureClass) -> Failure {
    let errors: Vec<&Diagnostic> = told.iter().filter(|it| it.severity == Severity::Error).collect();
    let texts: Vec<String> = errors
        .iter()
        .map(|error| match &error.detail {
            Some(detail) => format!("{}: {detail}", error.summary),
            None => error.summary.clone(),
        })
        .collect();
    let path = errors.first().and_then(|error| error.path.clone());
    Failure { path, diagnostics: told, ..Failure::new(class, texts.join("; ")) }
}

pub(crate) fn path(message: &AttributePath) -> Path {
    let step = |selector: &Selector| match selector {
        Selector::AttributeName(name) | Selector::ElementKeyString(name) => Step::key(name),
        Selector::ElementKeyInt(at) => u64::try_from(*at).map_or(Step::Any, Step::Index),
    };
    message.steps.iter().filter_map(|it| it.selector.as_ref().map(step)).collect()
}

/// A provider that puts something off, though nobody said that it may.
pub(crate) fn refuse_deferred(provider: &str, deferred: Option<&Deferred>) -> Result<(), Failure> {
    match deferred {
        None => Ok(()),
        Some(_) => {
            Err(mistake(provider, "it puts the resource off to a later run, which it was not allowed"))
        }
    }
}

/// A provider that does what it must not.
pub(crate) fn mistake(provider: &str, what: &str) -> Failure {
    Failure::new(FailureClass::Fatal, format!("the provider {provider} is at fault: {what}"))
        .hint("this is a mistake in the provider: report it there")
}

pub(crate) fn violated(provider: &str, attempted: &str, found: &[Violation]) -> Failure {
    let told: Vec<String> = found
        .iter()
        .map(|Violation { path, message }| match path.is_root() {
            true => message.clone(),
            false => format!("`{path}`: {message}"),
        })
        .collect();
    mistake(provider, &format!("{attempted}: {}", told.join("; ")))
}

pub(crate) fn unreadable(provider: &str, what: &str, error: &WireError) -> Failure {
    mistake(provider, &format!("{what} does not match its own schema: {error}"))
}

/// What we would send does not fit the schema: a record of another provider's version, or our own mistake.
pub(crate) fn unsendable(provider: &str, what: &str, error: &WireError) -> Failure {
    let message = format!("{what} does not fit the schema of the provider {provider}: {error}");
    Failure::new(FailureClass::Fatal, message)
}

pub(crate) fn bad_schema(provider: &str, what: &str, error: &SchemaError) -> Failure {
    mistake(provider, &format!("the schema of {what} cannot be used: {error}"))
}

/// A call that failed as such, without an answer.
pub(crate) fn unanswered(provider: &str, method: &str, status: &Status, class: FailureClass) -> Failure {
    let why = match status.code() {
        Code::Unimplemented => "it does not know the call".to_owned(),
        _ => status.to_string(),
    };
    Failure::new(class, format!("the provider {provider} failed to {method}: {why}"))
}
