//! What AWS answers instead of success, as errors with a class.
//!
//! Which code means what is one table, in [`codes`]; here is only how an answer reaches it, and what it means when
//! there is none: of a call that changes something, nobody knows whether it went through.

mod codes;

use std::fmt::Display;

use trueup_core::FailureClass;
use trueup_provider::Error;

use crate::client::{CallError, ErrorAnswer};
use codes::{Class, Meaning};

/// What to say and do about a failed call that changes something, such as ``create the queue `jobs` ``.
pub(crate) fn cannot(doing: impl Display) -> impl FnOnce(CallError) -> Error {
    move |error| failed(&format!("cannot {doing}"), error, Unanswered::MayHaveHappened)
}

/// The same for a call that only looks, which can always be repeated.
pub(crate) fn cannot_see(what: impl Display) -> impl FnOnce(CallError) -> Error {
    move |error| failed(&format!("cannot look at {what}"), error, Unanswered::Harmless)
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

fn failed(attempted: &str, error: CallError, unanswered: Unanswered) -> Error {
    match error {
        CallError::Answered(answer) => answered(attempted, &answer),
        CallError::Refused(why) => {
            Error::retryable(format!("{attempted}: nobody answers at the endpoint: {why}"))
                .hint("check the endpoint (`endpoint` of the provider, or AWS_ENDPOINT_URL) and the network")
        }
        CallError::NoCredentials(why) => Error::denied(format!("{attempted}: {why}")).hint(CREDENTIALS),
        CallError::NotSent(why) => Error::invalid(format!("{attempted}: {why}")),
        CallError::TimedOut => unanswered.error(format!("{attempted}: no answer in time")),
        CallError::Unintelligible(why) => {
            unanswered.error(format!("{attempted}: no answer that makes sense: {why}"))
        }
    }
}

/// What to do where requests cannot be signed.
const CREDENTIALS: &str = "give credentials in one of the usual ways: AWS_PROFILE, AWS_ACCESS_KEY_ID with \
                           AWS_SECRET_ACCESS_KEY, or `profile` of the provider; `aws sts get-caller-identity` shows \
                           whether they work";

/// What an answer means.
fn answered(attempted: &str, answer: &ErrorAnswer) -> Error {
    let (code, said) = (answer.code.as_str(), answer.message.as_str());
    let Meaning { class, hint } = codes::meaning(code, said, answer.status);
    let message = match (code, said) {
        ("", "") => format!("{attempted}: status {}", answer.status),
        ("", said) => format!("{attempted}: {said}"),
        (code, "") => format!("{attempted}: {code}"),
        (code, said) => format!("{attempted}: {code}: {said}"),
    };
    let error = match class {
        Class::Retryable => Error::retryable(message),
        Class::Throttled => Error::throttled(answer.retry_after, message),
        Class::NotFound => Error::not_found(message),
        Class::AlreadyExists => Error::already_exists(message),
        Class::Conflict => Error::conflict(message),
        Class::Denied => Error::denied(message),
        Class::Invalid => Error::invalid(message),
        Class::Fatal => Error::fatal(message),
    };
    if hint.is_empty() { error } else { error.hint(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, code: &str, message: &str) -> CallError {
        let (code, message) = (code.to_owned(), message.to_owned());
        CallError::Answered(ErrorAnswer { status, code, message, retry_after: None })
    }

    /// RETRY-1, CRASH-1: whether a change may have happened decides what a failed call means.
    #[test]
    fn a_change_that_may_have_happened_is_indeterminate() {
        let because = || "why".to_owned();
        for (error, changing, looking) in [
            (CallError::NotSent(because()), FailureClass::Invalid, FailureClass::Invalid),
            (CallError::NoCredentials(because()), FailureClass::Denied, FailureClass::Denied),
            (CallError::Refused(because()), FailureClass::Retryable, FailureClass::Retryable),
            (CallError::TimedOut, FailureClass::Indeterminate, FailureClass::Retryable),
            (CallError::Unintelligible(because()), FailureClass::Indeterminate, FailureClass::Retryable),
            (answer(500, "InternalError", ""), FailureClass::Retryable, FailureClass::Retryable),
            (answer(404, "", ""), FailureClass::NotFound, FailureClass::NotFound),
        ] {
            let told = format!("{error:?}");
            let class = |unanswered, error| failed("cannot do it", error, unanswered).class().clone();
            assert_eq!(class(Unanswered::MayHaveHappened, error.clone()), changing, "{told}");
            assert_eq!(class(Unanswered::Harmless, error), looking, "{told}");
        }
    }
}
