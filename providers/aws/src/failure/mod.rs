//! What AWS answers instead of success, as errors with a class.
//!
//! Which code means what is one table, in [`codes`]; here is only how an answer reaches it, and what it means when
//! there is none: of a call that changes something, nobody knows whether it went through.

mod codes;

use std::error::Error as StdError;
use std::fmt::Display;
use std::io;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sts::config::http::HttpResponse;
use aws_sdk_sts::error::{ProvideErrorMetadata, SdkError};
use trueup_core::FailureClass;
use trueup_provider::Error;

use codes::{Class, Meaning};

/// What to say and do about a failed call that changes something, such as ``create the queue `jobs` ``.
pub(crate) fn cannot<E: ProvideErrorMetadata + StdError + 'static>(
    doing: impl Display,
) -> impl FnOnce(SdkError<E>) -> Error {
    move |error| failed(&format!("cannot {doing}"), &error, Unanswered::MayHaveHappened)
}

/// The same for a call that only looks, which can always be repeated.
pub(crate) fn cannot_see<E: ProvideErrorMetadata + StdError + 'static>(
    what: impl Display,
) -> impl FnOnce(SdkError<E>) -> Error {
    move |error| failed(&format!("cannot look at {what}"), &error, Unanswered::Harmless)
}

/// Nothing, where what was looked at does not exist; other errors stay.
pub(crate) fn if_found<T>(seen: Result<T, Error>) -> Result<Option<T>, Error> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(error) if *error.class() == FailureClass::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a call that got no answer may have done.
#[derive(Clone, Copy)]
enum Unanswered {
    MayHaveHappened,
    Harmless,
}

impl Unanswered {
    fn error(self, message: String) -> Error {
        match self {
            Unanswered::MayHaveHappened => Error::indeterminate(message),
            Unanswered::Harmless => Error::retryable(message),
        }
    }
}

fn failed<E: ProvideErrorMetadata + StdError + 'static>(
    attempted: &str,
    error: &SdkError<E>,
    unanswered: Unanswered,
) -> Error {
    match error {
        SdkError::ServiceError(answer) => {
            let metadata = answer.err().meta();
            if answer.raw().status().is_success() && metadata.code().is_none() {
                return unanswered
                    .error(format!("{attempted}: no answer that makes sense: {}", causes(error)));
            }
            answered(attempted, metadata.code().unwrap_or(""), metadata.message().unwrap_or(""), answer.raw())
        }
        SdkError::DispatchFailure(_) if was_refused(error) => {
            Error::retryable(format!("{attempted}: nobody answers at the endpoint: {}", causes(error)))
                .hint("check the endpoint (`endpoint` of the provider, or AWS_ENDPOINT_URL) and the network")
        }
        _ if lacks_credentials(error) => {
            Error::denied(format!("{attempted}: {}", causes(error))).hint(CREDENTIALS)
        }
        // Nothing was sent.
        SdkError::ConstructionFailure(_) => Error::invalid(format!("{attempted}: {}", causes(error))),
        SdkError::TimeoutError(_) => unanswered.error(format!("{attempted}: no answer in time")),
        other => unanswered.error(format!("{attempted}: no answer that makes sense: {}", causes(other))),
    }
}

/// What to do where requests cannot be signed.
const CREDENTIALS: &str = "give credentials in one of the usual ways: AWS_PROFILE, AWS_ACCESS_KEY_ID with \
                           AWS_SECRET_ACCESS_KEY, or `profile` of the provider; `aws sts get-caller-identity` shows \
                           whether they work";

/// What an answer means.
fn answered(attempted: &str, code: &str, said: &str, answer: &HttpResponse) -> Error {
    let Meaning { class, hint } = codes::meaning(code, said, answer.status().as_u16());
    let message = match (code, said) {
        ("", "") => format!("{attempted}: status {}", answer.status().as_u16()),
        ("", said) => format!("{attempted}: {said}"),
        (code, "") => format!("{attempted}: {code}"),
        (code, said) => format!("{attempted}: {code}: {said}"),
    };
    let error = match class {
        Class::Retryable => Error::retryable(message),
        Class::Throttled => Error::throttled(retry_after(answer), message),
        Class::NotFound => Error::not_found(message),
        Class::AlreadyExists => Error::already_exists(message),
        Class::Conflict => Error::conflict(message),
        Class::Denied => Error::denied(message),
        Class::Invalid => Error::invalid(message),
        Class::Fatal => Error::fatal(message),
    };
    if hint.is_empty() { error } else { error.hint(hint) }
}

/// How long AWS asks to wait, if it says so.
fn retry_after(answer: &HttpResponse) -> Option<Duration> {
    let number = |header: &str| answer.headers().get(header)?.trim().parse::<u64>().ok();
    number("x-amz-retry-after")
        .map(Duration::from_millis)
        .or_else(|| number("retry-after").map(Duration::from_secs))
}

/// Whether the connection was refused, so that certainly nothing was sent.
fn was_refused(error: &(dyn StdError + 'static)) -> bool {
    any_cause(error, |cause| {
        let refused = |io: &io::Error| io.kind() == io::ErrorKind::ConnectionRefused;
        cause.downcast_ref::<io::Error>().is_some_and(refused)
    })
}

/// Whether there was nothing to sign the request with, so that certainly nothing was sent.
fn lacks_credentials(error: &(dyn StdError + 'static)) -> bool {
    any_cause(error, <dyn StdError>::is::<CredentialsError>)
}

fn any_cause(error: &(dyn StdError + 'static), holds: impl Fn(&(dyn StdError + 'static)) -> bool) -> bool {
    std::iter::successors(Some(error), |cause| (*cause).source()).any(holds)
}

/// What lies behind an error, as one line.
fn causes(error: &(dyn StdError + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let mut told: Vec<String> = Vec::new();
    for cause in causes.map(ToString::to_string) {
        if !told.last().is_some_and(|last| last.contains(&cause)) {
            told.push(cause);
        }
    }
    told.join(": ")
}
