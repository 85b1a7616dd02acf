//! Roles and policies. Documents come back from IAM with their special characters as in an address.

mod policy;
mod role;

use std::time::Duration;

pub use policy::{IamPolicy, IamPolicyOutput};
pub(crate) use role::BOUND;
pub use role::{Role, RoleOutput};

/// How long a new role or policy may stay invisible.
const CONSISTENCY_WINDOW: Duration = Duration::from_secs(10);

/// A document as it was before `%` and two digits stood for its special characters.
pub(crate) fn decoded(document: &str) -> String {
    let bytes = document.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.extend(u8::try_from(high * 16 + low));
                at += 3;
            }
            (byte, _, _) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn documents_are_read_back() {
        assert_eq!(decoded("%7B%22a%22%3A%20%22%C3%BC+1%22%7D%"), r#"{"a": "ü+1"}%"#);
        assert_eq!(decoded(r#"{"a":"100%"}"#), r#"{"a":"100%"}"#);
    }
}
