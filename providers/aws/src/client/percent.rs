//! Percent-encoding, as signatures and paths need it: all but unreserved characters.

use std::fmt::Write;

/// A part of a path, a name or a value in a query.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => {
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

/// Names and values as a query or a form.
pub(super) fn encoded_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    let pairs = pairs.into_iter();
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}={}", encoded(name.as_ref()), encoded(value.as_ref())))
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_unreserved_characters_are_encoded() {
        assert_eq!(encoded("aZ09-._~"), "aZ09-._~");
        assert_eq!(encoded("$default"), "%24default");
        assert_eq!(encoded("arn:aws:a::/apis/x y+ü"), "arn%3Aaws%3Aa%3A%3A%2Fapis%2Fx%20y%2B%C3%BC");
        assert_eq!(encoded_pairs([("tagKeys", "a&b"), ("tagKeys", "=")]), "tagKeys=a%26b&tagKeys=%3D");
        assert_eq!(encoded_pairs::<&str, &str>([]), "");
    }
}
