//! Failed calls, sorted by the one question that matters afterwards: can AWS have carried the request out?
//!
//! Texts hold neither credentials nor signatures nor bodies: they come from the transport, the credentials chain, or the
//! error document that AWS sent.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use aws_smithy_runtime_api::client::result::ConnectorError;

use super::Answer;

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The request could not be built. Nothing was sent.
    NotSent(String),
    /// No credentials to sign with. Nothing was sent.
    NoCredentials(String),
    /// The endpoint refused the connection. Nothing was sent.
    Refused(String),
    /// No answer within the timeout. The request may have been carried out.
    TimedOut,
    /// A broken connection, or an answer that makes no sense. The request may have been carried out.
    Unintelligible(String),
    /// An answer other than success.
    Answered(ErrorAnswer),
}

/// An answer other than success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorAnswer {
    pub(crate) status: u16,
    /// The service's code, such as `NoSuchBucket`; empty if it sent none.
    pub(crate) code: String,
    /// The service's message; empty if it sent none.
    pub(crate) message: String,
    /// The delay that the service asks for.
    pub(crate) retry_after: Option<Duration>,
}

impl CallError {
    pub(super) fn answered(answer: &Answer, code: &str, message: &str) -> Self {
        CallError::Answered(ErrorAnswer {
            status: answer.status,
            code: code.to_owned(),
            message: message.to_owned(),
            retry_after: retry_after(answer),
        })
    }

    /// A failure between here and AWS.
    pub(super) fn of_transport(error: &ConnectorError) -> Self {
        if was_refused(error) {
            CallError::Refused(causes(error))
        } else {
            CallError::Unintelligible(causes(error))
        }
    }
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let number = |header: &str| answer.header(header)?.trim().parse::<u64>().ok();
    number("x-amz-retry-after")
        .map(Duration::from_millis)
        .or_else(|| number("retry-after").map(Duration::from_secs))
}

fn was_refused(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|cause| {
        let refused = |io: &io::Error| io.kind() == io::ErrorKind::ConnectionRefused;
        cause.downcast_ref::<io::Error>().is_some_and(refused)
    })
}

/// An error and its causes as one line.
pub(super) fn causes(error: &(dyn StdError + 'static)) -> String {
    let mut line: Vec<String> = Vec::new();
    for cause in chain(error).map(ToString::to_string) {
        if !line.last().is_some_and(|last| last.contains(&cause)) {
            line.push(cause);
        }
    }
    line.join(": ")
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RETRY-1: only a refused connection proves that nothing was sent.
    #[test]
    fn only_a_refused_connection_proves_that_nothing_was_sent() {
        let of = |kind: io::ErrorKind| {
            CallError::of_transport(&ConnectorError::io(Box::new(io::Error::new(kind, "os error"))))
        };
        assert_eq!(of(io::ErrorKind::ConnectionRefused), CallError::Refused("io error: os error".to_owned()));
        for kind in [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe, io::ErrorKind::UnexpectedEof]
        {
            assert!(matches!(of(kind), CallError::Unintelligible(_)), "{kind}");
        }
        let slow = ConnectorError::timeout("no connection within 3.1 s".into());
        assert!(matches!(CallError::of_transport(&slow), CallError::Unintelligible(_)));
    }

    /// RETRY-2
    #[test]
    fn the_delay_that_a_service_asks_for_is_read() {
        let of = |name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.to_owned())];
            retry_after(&Answer { status: 503, headers, body: Vec::new() })
        };
        assert_eq!(of("x-amz-retry-after", "250"), Some(Duration::from_millis(250)));
        assert_eq!(of("retry-after", " 3 "), Some(Duration::from_secs(3)));
        assert_eq!(of("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"), None);
        assert_eq!(of("date", "3"), None);
    }
}
