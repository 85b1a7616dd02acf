//! Passwords in addresses: `postgres://ada:…@db/infra`.
//!
//! People write passwords into addresses that nobody marked as secret. Text that repeats such an address keeps all of it but
//! the password. Where it ends is a guess if characters in it should have been escaped; too much is left out rather than
//! too little.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in the names of parameters whose values are never shown.
const PARAMETERS: [&str; 8] =
    ["passw", "pwd", "secret", "token", "credential", "signature", "access_key", "api_key"];

/// Schemes after which credentials are found without any slash too.
const SCHEMES: [&str; 5] = ["postgres", "postgresql", "s3", "http", "https"];

/// Names of passwords in `host=db user=ada password=…`.
const KEYWORDS: [&str; 4] = ["password", "passwd", "pwd", "sslpassword"];

const MASK: &str = "…";

/// The text without the passwords of the addresses in it.
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    masked(text, &credential_ranges(text))
}

/// An argument or setting without the passwords in it. It may be an address as a whole, with characters in its password that
/// should have been escaped, or a list of keywords and values.
pub fn mask_argument(text: &str) -> Cow<'_, str> {
    let mut found = hidden(text, Extent::Rest);
    if found.is_empty() {
        found = keywords(text);
    }
    masked(text, &found)
}

/// Where passwords stand in the addresses in a text.
pub(crate) fn credential_ranges(text: &str) -> Vec<Range<usize>> {
    hidden(text, Extent::Word)
}

/// The users and passwords of the addresses in a text, with the escapes of URLs undone. Passwords of parameters have no user.
pub fn credentials_in(text: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let found = hidden(text, Extent::Rest);
    let user = |at: usize| text[..at].strip_suffix(':').map(|it| &it[it.rfind('/').map_or(0, |at| at + 1)..]);
    found
        .into_iter()
        .map(|range| (unescaped(user(range.start).unwrap_or_default()), unescaped(&text[range])))
        .collect()
}

fn masked<'t>(text: &'t str, hidden: &[Range<usize>]) -> Cow<'t, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for Range { start, end } in hidden {
        masked.push_str(&text[copied..*start]);
        masked.push_str(MASK);
        copied = *end;
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// How far an address reaches.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// Up to a space, a quote or the like.
    Word,
    /// To the end of the text.
    Rest,
}

/// The passwords, in order.
fn hidden(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut from, mut end) = (0, 0);
    while let Some(start) = next_address(text, from) {
        let ends = |character: char| character.is_whitespace() || "\"'`<>\\".contains(character);
        end = match extent {
            // Looked for once for all addresses in a word.
            Extent::Word if start < end => end,
            Extent::Word => text[start..].find(ends).map_or(text.len(), |at| start + at),
            Extent::Rest => text.len(),
        };
        // Another address may follow in the same word.
        let next = text[start..end].find("://").map_or(end, |at| start + at);
        from = next.max(start);
        let address = &text[start..next];
        let authority_end = address.rfind('@');
        if let Some(at) = authority_end
            && let Some(colon) = address[..at].find(':')
        {
            found.push(start + colon + 1..start + at);
        }
        let rest = start + authority_end.unwrap_or(0);
        parameters(text, rest..next, &mut found);
    }
    found.retain(|range| !range.is_empty());
    found
}

/// Where the next address begins, behind its scheme. A slip in the scheme does not make the password less secret.
fn next_address(text: &str, from: usize) -> Option<usize> {
    let marks = text[from..].match_indices([':', '/']).map(|(at, _)| from + at);
    for at in marks {
        let after = &text[at + 1..];
        let scheme =
            || text[..at].rsplit(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
        match text.as_bytes()[at] {
            b'/' if after.starts_with('/') => return Some(at + 2),
            b':' if after.starts_with("//") => {}
            b':' if after.starts_with('/') && !scheme().is_empty() => return Some(at + 2),
            b':' if SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(scheme())) => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The values of parameters that are passwords.
fn parameters(text: &str, within: Range<usize>, found: &mut Vec<Range<usize>>) {
    let Some(query) = text[within.clone()].find('?').map(|at| within.start + at + 1) else { return };
    let mut start = query;
    for pair in text[query..within.end].split(['&', '#']) {
        if let Some((name, value)) = pair.split_once('=') {
            let name = name.to_ascii_lowercase().replace('-', "_");
            if PARAMETERS.iter().any(|it| name.contains(it)) {
                let value_start = start + pair.len() - value.len();
                found.push(value_start..value_start + value.len());
            }
        }
        start += pair.len() + 1;
    }
}

/// The value of the first keyword that names a password, and whatever follows it: values may be quoted.
fn keywords(text: &str) -> Vec<Range<usize>> {
    let value = |(at, _): (usize, &str)| {
        let name =
            text[..at].trim_end().rsplit(|char: char| char.is_whitespace() || ";&=".contains(char)).next()?;
        let is_password = KEYWORDS.iter().any(|it| it.eq_ignore_ascii_case(name));
        (is_password && at + 1 < text.len()).then_some(at + 1..text.len())
    };
    text.match_indices('=').find_map(value).into_iter().collect()
}

/// A text in which `%41` stands for `A`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|it| std::str::from_utf8(it).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
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
        check("postgres:/a:b@db", "postgres:/a:…@db");
        check("Postgres:a:b@db", "Postgres:a:…@db");
        check("at postgres:/a:b@db, then http://c:d@e", "at postgres:/a:…@db, then http://c:…@e");
        check("s3://b?aws_secret_access_key=c&region=d", "s3://b?aws_secret_access_key=…&region=d");
        check("https://b/c?X-Amz-Security-Token=d", "https://b/c?X-Amz-Security-Token=…");
        check("jdbc:postgresql://b/c?user=d&pwd=e", "jdbc:postgresql://b/c?user=d&pwd=…");
    }

    /// SECRET-12.
    #[test]
    fn passwords_of_arguments_are_masked_whatever_is_in_them() {
        let check = |text: &str, expected: &str| assert_eq!(mask_argument(text), expected);
        check("postgres://ada:hun ter@db/infra", "postgres://ada:…@db/infra");
        check("--to=postgres://ada:hun\"ter\\@db/infra", "--to=postgres://ada:…@db/infra");
        check("host=db user=ada password=hun ter", "host=db user=ada password=…");
        check("--to=host=db;Pwd = 'hun ter'", "--to=host=db;Pwd =…");
        check("a/b=c", "a/b=c");
        check("password", "password");
    }

    #[test]
    fn users_and_passwords_are_read() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = credentials_in(text);
            let found: Vec<_> = found.iter().map(|(user, password)| (&**user, &**password)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("http://a%40b:c%2fd%@e", &[("a@b", "c/d%")]);
        check("postgres://db/x?password=y&user=z", &[("", "y")]);
        check("http://a:1", &[]);
    }

    /// Whatever stands beside what, nothing panics, and once is enough.
    #[test]
    fn any_text_can_be_masked() {
        const PARTS: [&str; 16] = [
            ":", "/", "//", "@", "?", "=", "&", "%", "%41", "ä", "…", " ", "a", "postgres", "http",
            "password",
        ];
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for _ in 0..20_000 {
            let text: String = (0..next() % 12).map(|_| PARTS[next() % PARTS.len()]).collect();
            let (masked, argument) = (mask_credentials(&text), mask_argument(&text));
            assert_eq!(mask_credentials(&masked), masked, "{text}");
            assert_eq!(mask_argument(&argument), argument, "{text}");
            credentials_in(&text);
        }
    }

    /// In an instant, not in minutes.
    #[test]
    fn a_long_text_is_masked_in_no_time() {
        for part in ["=", "a=", "://", "//", ":/", "a:", "a:b@://", "?token=", "http:"] {
            let text = part.repeat(100_000);
            mask_credentials(&text);
            mask_argument(&text);
        }
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
            "C:/a/b",
            ":/a:b@c",
            "at http: a@b",
            "std_http: a:b@c",
            "…:/… ä: ö:a@b ü//",
            "😀://😀@😀",
        ];
        for text in texts {
            assert_eq!(mask_credentials(text), text);
        }
    }
}
