//! What goes wrong with requests: whether it may pass, and what people are told of it.

use std::error::Error as _;

use object_store::Error;

use crate::bounded::is_of_bounds;

/// Whether an error may pass by itself. The library does not give the status of those it has no name for, but its text.
pub(crate) fn passes(error: &Error) -> bool {
    match error {
        Error::Generic { .. } if is_of_bounds(&innermost(error)) => false,
        Error::Generic { .. } => {
            !matches!(status(&error.to_string()), Some(400..=407 | 409..=428 | 430..=499))
        }
        Error::JoinError { .. } => true,
        _ => false,
    }
}

/// What people are told: what the service says, and what to do where that is known.
pub(crate) fn said(error: &Error) -> String {
    let text = innermost(error);
    let answer = element(&text, "Code").map(|code| match element(&text, "Message") {
        Some(message) => format!("the service says {code}: {message}"),
        None => format!("the service says {code}"),
    });
    let status = status(&text).map(|status| format!("the service answers with status {status}"));
    let said = answer.or(status).unwrap_or(text.clone());
    let advice = match (error, element(&text, "Code")) {
        (_, Some("NoSuchBucket")) => "make the bucket, or name another",
        (_, Some("RequestTimeTooSkewed")) => "set the clock of this machine",
        (_, Some("ExpiredToken" | "TokenRefreshRequired")) => "get new credentials",
        (_, Some("PermanentRedirect" | "AuthorizationHeaderMalformed")) => "name the region of the bucket",
        (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, _) => {
            "check the credentials (AWS_ACCESS_KEY_ID and so on) and what they may do in the bucket"
        }
        _ if text.contains("incorrectly configured region") => "name the region of the bucket",
        _ if text.contains("169.254.169.254") => {
            "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        }
        _ => return said,
    };
    format!("{said}; {advice}")
}

/// What stands at the end of the chain of causes, with the whole where that says more.
fn innermost(error: &Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        texts.push(error.to_string());
        source = error.source();
    }
    let last = texts.pop().unwrap_or_default();
    let whole = texts.into_iter().next().unwrap_or_default();
    if whole.contains("<Code>") || whole.contains("status code: ") || whole.contains("169.254.") {
        return whole;
    }
    last
}

/// The status in a text of the library.
fn status(text: &str) -> Option<u16> {
    let (_, status) = text.split_once("status code: ")?;
    status.split(' ').next()?.parse().ok()
}

/// What stands in an element of the XML of an answer.
fn element<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(content, _)| content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> Error {
        Error::Generic { store: "S3", source: text.into() }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let status = |status| passes(&generic(&format!("Server returned non-2xx status code: {status}: ")));
        for passing in ["500 Internal Server Error", "503 Slow Down", "429 Too Many Requests", "408 Timeout"]
        {
            assert!(status(passing), "{passing}");
        }
        for staying in ["400 Bad Request", "405 Method Not Allowed", "411 Length Required"] {
            assert!(!status(staying), "{staying}");
        }
        assert!(passes(&generic("connection reset")));
        let denied = Error::PermissionDenied { path: String::new(), source: "403".into() };
        assert!(!passes(&denied));
    }

    #[test]
    fn the_service_is_quoted_and_advice_given() {
        let skewed = "status code: 403 Forbidden: <Error><Code>RequestTimeTooSkewed</Code><Message>The difference is \
                      too large</Message></Error>";
        let denied = Error::PermissionDenied { path: String::new(), source: skewed.into() };
        assert_eq!(
            said(&denied),
            "the service says RequestTimeTooSkewed: The difference is too large; set the clock of this machine"
        );
        assert_eq!(
            said(&generic("status code: 502 Bad Gateway: <html>")),
            "the service answers with status 502"
        );
        assert_eq!(said(&generic("connection refused")), "connection refused");
    }
}
