//! What the server's refusals mean: one table from SQLSTATE to the class of a failure and what to do about it.

use std::error::Error as _;

use tokio_postgres::error::{DbError, ErrorPosition};
use trueup_core::Failure;
use trueup_core::FailureClass::{self, AlreadyExists, Conflict, Denied, Fatal, Invalid, Retryable};
use trueup_postgres_client::ConnectError;
use trueup_provider::Error;

/// What was under way when something went wrong, which decides what a lost connection means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// Nothing was changed yet, or only in a transaction that is gone with the connection.
    Harmless,
    /// A commit, or a statement that takes effect by itself.
    Deciding,
}

/// Codes, or classes of codes, with their meaning; the first that fits counts.
const MEANINGS: &[(&str, FailureClass, &str)] = &[
    // Another one got in the way, or there is no room at the moment.
    ("40001", Retryable, ""),
    ("40P01", Retryable, ""),
    ("55P03", Retryable, "another session holds a lock on it: see pg_stat_activity"),
    ("53300", Retryable, "wait until others disconnect, or raise the server's max_connections"),
    ("53200", Retryable, "make room on the server"),
    ("57P03", Retryable, "the server is starting or stopping"),
    // Not allowed to.
    (
        "28",
        Denied,
        "check the user and the password, in the provider's configuration or in PGUSER and PGPASSWORD",
    ),
    ("42501", Denied, "grant it to the provider's user, or connect as another"),
    ("25006", Denied, "this server or user may only read: connect to the primary, as a user that may write"),
    // In use, or needed by others.
    ("55006", Conflict, "disconnect whoever uses it"),
    ("2BP01", Conflict, "delete what depends on it first"),
    ("55", Conflict, ""),
    ("57014", Conflict, "it took longer than the server allows"),
    // Of that name there is one.
    ("42710", AlreadyExists, ""),
    ("42P04", AlreadyExists, ""),
    ("42P06", AlreadyExists, ""),
    ("42P07", AlreadyExists, ""),
    ("42723", AlreadyExists, ""),
    ("23505", AlreadyExists, ""),
    // It refers to something that is not there. Never *not found*: that is said of the object itself alone.
    ("3D000", Invalid, "create it first, and refer to it so that it comes first"),
    ("3F000", Invalid, "create it first, and refer to it so that it comes first"),
    ("42704", Invalid, "create it first, and refer to it so that it comes first"),
    ("42883", Invalid, "create it first, and refer to it so that it comes first"),
    ("42P01", Invalid, "create it first, and refer to it so that it comes first"),
    // It can never succeed as it stands.
    ("0A", Invalid, ""),
    ("0L", Invalid, ""),
    ("0P", Invalid, ""),
    ("22", Invalid, ""),
    ("23", Invalid, ""),
    ("42", Invalid, ""),
    ("58P01", Invalid, "install it on the server's machine"),
    ("53100", Fatal, "make room on the server's disk"),
];

/// What a refusal or a lost connection means.
pub(crate) fn error(error: &tokio_postgres::Error, doing: Doing) -> Error {
    match error.as_db_error() {
        Some(refusal) => refused(refusal, doing),
        None if is_lost(error) => lost(&chain(error), doing),
        None => Failure::new(Fatal, chain(error)).into(),
    }
}

/// What a failed attempt to connect means: nothing was done.
pub(crate) fn connecting(error: &ConnectError, location: &str) -> Error {
    let (class, cause, refusal) = match error {
        ConnectError::NoAnswer => (Retryable, error.to_string(), None),
        // Who cannot be reached may be reachable soon; a certificate that does not fit never will.
        ConnectError::Failed(error) if is_lost(error) => (Retryable, chain(error), None),
        ConnectError::Failed(error) => (Denied, chain(error), error.as_db_error()),
    };
    let Some(refusal) = refusal else {
        let failure = Failure::new(class, format!("cannot connect to {location}: {cause}"));
        return failure.hint("check the address, that the server runs, and who may connect to it").into();
    };
    let (failure, _) = refused(refusal, Doing::Harmless).into_parts();
    let class = match refusal.code().code() {
        // The database of an object is gone, and the object with it.
        "3D000" => FailureClass::NotFound,
        _ => failure.class.clone(),
    };
    let message = format!("cannot connect to {location}: {}", failure.message);
    Failure { class, message, ..failure }.into()
}

fn refused(refusal: &DbError, doing: Doing) -> Error {
    let code = refusal.code().code();
    if ends_connection(code) {
        return lost(refusal.message(), doing);
    }
    let meaning = MEANINGS.iter().find(|(known, _, _)| code.starts_with(known));
    let (class, advice) = meaning.map_or((Fatal, ""), |(_, class, advice)| (class.clone(), *advice));
    // Two changed one row of the catalogue at a time, and the server has no code of its own for that.
    let collided = code == "XX000" && refusal.message().starts_with("tuple concurrently");
    let class = if collided { Retryable } else { class };
    let mut failure = Failure::new(class, told(refusal));
    // Of dependents the server would say CASCADE, which no program can write.
    failure.hints.extend(refusal.hint().filter(|_| code != "2BP01").map(str::to_owned));
    failure.hints.extend(Some(advice.to_owned()).filter(|advice| !advice.is_empty()));
    failure.into()
}

/// The server's words, with where in a text of several lines they apply. Details are left out where they quote rows.
fn told(refusal: &DbError) -> String {
    let mut text = refusal.message().to_owned();
    if let Some(detail) = refusal.detail().filter(|_| matches!(refusal.code().code(), "2BP01" | "55006")) {
        text = format!("{text}: {}", detail.replace('\n', "; "));
    }
    if let Some(ErrorPosition::Original(position)) = refusal.position() {
        text = format!("{text}, at character {position}");
    }
    format!("{text} (SQLSTATE {})", refusal.code().code())
}

fn lost(cause: &str, doing: Doing) -> Error {
    match doing {
        Doing::Harmless => Error::retryable(format!("the connection to the server was lost: {cause}")),
        Doing::Deciding => Error::indeterminate(format!(
            "the connection to the server was lost before it said whether it did it: {cause}"
        )),
    }
}

/// Whether the server ends connections for this reason.
fn ends_connection(code: &str) -> bool {
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P05" | "25P03")
}

/// Whether an error that the server did not send is one of the connection.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// An error with its causes; none of them knows a password.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The same failure of another class.
pub(crate) fn of_class(error: Error, from: &FailureClass, to: FailureClass) -> Error {
    if error.class() != from {
        return error;
    }
    let (failure, _) = error.into_parts();
    Failure { class: to, ..failure }.into()
}
