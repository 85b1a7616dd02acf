//! The outcome of a failed call, and its form in headers.

use std::error::Error;
use std::fmt;

use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::host::GONE_HEADER;

pub(crate) const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
pub(crate) const GRPC_CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// A failed call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    code: Code,
    message: String,
    connection_lost: bool,
}

/// The kind of a failure, by gRPC's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The caller gave up.
    Cancelled = 1,
    /// None of the other kinds, or one that gRPC does not define.
    Unknown = 2,
    /// The request is invalid, whatever the state of the server.
    InvalidArgument = 3,
    /// The call took too long.
    DeadlineExceeded = 4,
    /// The object does not exist.
    NotFound = 5,
    /// The object exists already.
    AlreadyExists = 6,
    /// The caller is known, but not allowed to do this.
    PermissionDenied = 7,
    /// A quota is used up, or a message is too large.
    ResourceExhausted = 8,
    /// The server is not in the state that the call requires.
    FailedPrecondition = 9,
    /// The call conflicted with another one.
    Aborted = 10,
    /// A position is past the end.
    OutOfRange = 11,
    /// The server does not know the method.
    Unimplemented = 12,
    /// A broken invariant, or a broken protocol.
    Internal = 13,
    /// The server cannot be reached.
    Unavailable = 14,
    /// Data is lost for good.
    DataLoss = 15,
    /// The caller did not prove who they are.
    Unauthenticated = 16,
}

impl Code {
    const ALL: [Code; 16] = [
        Code::Cancelled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::ResourceExhausted,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
        Code::Unauthenticated,
    ];

    fn from_text(text: &[u8]) -> Self {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u16>().ok());
        let code = number.and_then(|number| Self::ALL.into_iter().find(|code| *code as u16 == number));
        code.unwrap_or(Code::Unknown)
    }
}

impl Status {
    /// A failure of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Status { code, message: message.into(), connection_lost: false }
    }

    /// The connection broke before the call was answered.
    pub(crate) fn connection_lost(error: &dyn Error) -> Self {
        Status { code: Code::Unavailable, message: with_causes(error), connection_lost: true }
    }

    /// The kind of failure.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether the connection broke, as opposed to a server that reports a failure.
    pub fn is_connection_lost(&self) -> bool {
        self.connection_lost
    }

    /// The outcome of a call according to its headers or trailers; `None` if they don't say.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Result<(), Self>> {
        let code = headers.get(GRPC_STATUS)?.as_bytes();
        if code == b"0" {
            return Some(Ok(()));
        }
        let message = headers.get(GRPC_MESSAGE).map(|text| percent_decoded(text.as_bytes()));
        Some(Err(Status {
            code: Code::from_text(code),
            message: message.unwrap_or_default(),
            connection_lost: headers.contains_key(GONE_HEADER),
        }))
    }

    /// A response without any message that reports this failure.
    pub fn into_response(self) -> Response<()> {
        let mut response = Response::new(());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
        headers.insert(GRPC_STATUS, HeaderValue::from(self.code as u16));
        if let Ok(message) = HeaderValue::try_from(percent_encoded(&self.message)) {
            headers.insert(GRPC_MESSAGE, message);
        }
        if self.connection_lost {
            headers.insert(GONE_HEADER, HeaderValue::from_static("true"));
        }
        response
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(formatter, "it gave no reason but the gRPC status {:?}", self.code),
            message => formatter.write_str(message),
        }
    }
}

impl Error for Status {}

/// An error with its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A message as its sender wrote it. Invalid escapes stay as they are, and invalid UTF-8 is replaced: a damaged message
/// says more than none.
fn percent_decoded(text: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, after @ ..] => hex(*high).zip(hex(*low)).map(|pair| (pair, after)),
            _ => None,
        };
        match escaped {
            Some(((high, low), after)) => {
                decoded.push(high << 4 | low);
                rest = after;
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b' '..=b'~' if byte != b'%' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(code: &'static str, message: &'static str) -> HeaderMap {
        let header = HeaderValue::from_static;
        HeaderMap::from_iter([(GRPC_STATUS, header(code)), (GRPC_MESSAGE, header(message))])
    }

    fn failure(code: &'static str, message: &'static str) -> Status {
        Status::from_headers(&headers(code, message)).unwrap().unwrap_err()
    }

    #[test]
    fn headers_say_how_a_call_went_or_do_not() {
        assert_eq!(Status::from_headers(&HeaderMap::new()), None);
        assert_eq!(Status::from_headers(&headers("0", "ignored")), Some(Ok(())));
        for code in Code::ALL {
            let text = (code as u16).to_string();
            assert_eq!(Code::from_text(text.as_bytes()), code);
        }
        for undefined in ["17", "00", "-1", "", "5 ", "99999999999999999999", "five"] {
            assert_eq!(failure(undefined, "").code(), Code::Unknown, "{undefined:?}");
        }
        let bytes = HeaderValue::from_bytes(b"\xff").unwrap();
        let status = Status::from_headers(&HeaderMap::from_iter([(GRPC_STATUS, bytes)]));
        assert_eq!(status.unwrap().unwrap_err().code(), Code::Unknown);
        assert_eq!(failure("5", "").to_string(), "it gave no reason but the gRPC status NotFound");
    }

    #[test]
    fn a_message_is_decoded_as_far_as_possible() {
        let check = |text: &[u8], expected: &str| assert_eq!(percent_decoded(text), expected);
        check(b"plain", "plain");
        check(b"a%20b%0Ac", "a b\nc");
        check(b"%c3%A9t%C3%a9", "été");
        check(b"100%", "100%");
        check(b"%4", "%4");
        check(b"%zz%+1%41", "%zz%+1A");
        check(b"%25%34%31", "%41");
        check(b"\xc3\xa9", "é");
        check(b"%ff|\xfe|", "\u{fffd}|\u{fffd}|");
    }

    #[test]
    fn a_lost_connection_is_told_from_an_unavailable_server() {
        let lost = Status::connection_lost(&std::io::Error::other("broken"));
        assert_eq!(Status::from_headers(lost.clone().into_response().headers()), Some(Err(lost)));
        let unavailable = Status::new(Code::Unavailable, "try later");
        let headers = unavailable.clone().into_response();
        assert_eq!(Status::from_headers(headers.headers()), Some(Err(unavailable)));
    }

    proptest! {
        #[test]
        fn any_message_survives_the_way_through_headers(message in ".*") {
            let status = Status::new(Code::Aborted, message);
            let response = status.clone().into_response();
            prop_assert_eq!(Status::from_headers(response.headers()), Some(Err(status)));
        }

        #[test]
        fn any_bytes_decode_to_a_message(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            percent_decoded(&bytes);
        }
    }
}
