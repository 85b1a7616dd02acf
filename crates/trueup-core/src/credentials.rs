//! Passwords in addresses: `postgres://ada:…@db/infra`.
//!
//! People write passwords into addresses that nobody marked as secret. Text that repeats such an address keeps all of it but
//! the password. Where it ends is a guess if characters in it should have been escaped; too much is left out rather than
//! too little.

use std::borrow::Cow;
use std::ops::Range;

/// Parameters of addresses whose values are never shown.
const PARAMETERS: [&str; 7] =
    ["password", "passwd", "sslpassword", "secret", "token", "secret_access_key", "session_token"];

const MASK: &str = "…";

/// The text without the passwords of the addresses in it.
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    let hidden = hidden(text);
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for Range { start, end } in hidden {
        masked.push_str(&text[copied..start]);
        masked.push_str(MASK);
        copied = end;
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// The passwords, in order.
fn hidden(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    // A slip in the scheme does not make the password less secret.
    while let Some(scheme_end) = text[from..].find("//").map(|at| from + at + "//".len()) {
        let ends = |character: char| character.is_whitespace() || "\"'`<>\\".contains(character);
        let end = text[scheme_end..].find(ends).map_or(text.len(), |at| scheme_end + at);
        // Another address may follow in the same word.
        let next = text[scheme_end..end].find("://").map_or(end, |at| scheme_end + at);
        from = next.max(scheme_end);
        let address = &text[scheme_end..next];
        let authority_end = address.rfind('@');
        if let Some(at) = authority_end
            && let Some(colon) = address[..at].find(':')
        {
            found.push(scheme_end + colon + 1..scheme_end + at);
        }
        let rest = scheme_end + authority_end.unwrap_or(0);
        parameters(text, rest..next, &mut found);
    }
    found.retain(|range| !range.is_empty());
    found
}

/// The values of parameters that are passwords.
fn parameters(text: &str, within: Range<usize>, found: &mut Vec<Range<usize>>) {
    let Some(query) = text[within.clone()].find('?').map(|at| within.start + at + 1) else { return };
    let mut start = query;
    for pair in text[query..within.end].split(['&', '#']) {
        if let Some((name, value)) = pair.split_once('=')
            && PARAMETERS.iter().any(|it| name.eq_ignore_ascii_case(it))
        {
            let value_start = start + name.len() + 1;
            found.push(value_start..value_start + value.len());
        }
        start += pair.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_addresses_are_masked() {
        let check = |text: &str, expected: &str| assert_eq!(mask_credentials(text), expected);
        check("postgres://ada:hunter22@db:5432/infra", "postgres://ada:…@db:5432/infra");
        check("--to=postgres://ada:hunter22@db/infra", "--to=postgres://ada:…@db/infra");
        check("cannot reach postgres://a:b@h/x: refused", "cannot reach postgres://a:…@h/x: refused");
        check("from `http://a:b@h` to 'http://c:d@i'", "from `http://a:…@h` to 'http://c:…@i'");
        check("s3://b?endpoint=http://a:b@minio:9000", "s3://b?endpoint=http://a:…@minio:9000");
        check("postgres://db/x?password=b&sslmode=on", "postgres://db/x?password=…&sslmode=on");
        check("postgres://a:b@db/x?sslPassword=c#d", "postgres://a:…@db/x?sslPassword=…#d");
        check("postgres://ada:hun/ter@22@db/infra", "postgres://ada:…@db/infra");
        check("postgres://:b@db", "postgres://:…@db");
        check("postgres//a:b@db", "postgres//a:…@db");
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let texts = [
            "",
            "://",
            "postgres://ada@db:5432/infra",
            "http://db:5432/a?b=c",
            "ada:hunter22@db",
            "password=b",
            "http://a:@b",
            "x://y://z",
            "😀://😀@😀",
        ];
        for text in texts {
            assert_eq!(mask_credentials(text), text);
        }
    }
}
