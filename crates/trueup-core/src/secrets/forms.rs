//! The forms in which others repeat a secret: its text, its lines, and what programs make of its bytes.
//!
//! Escapes (`%2F`, `\u0041`, `&amp;`) are not here: [`views`](super::views) undoes them in the text that is searched.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The shortest secret that is searched for. Shorter ones occur inside ordinary words.
pub const SECRET_LENGTH_MIN: usize = 4;

/// The shortest line of a longer secret that is searched for by itself.
const LINE_LENGTH_MIN: usize = 8;

/// The shortest part of a text of a well-known shape that is searched for by itself.
const PART_LENGTH_MIN: usize = 8;

/// The shortest encoded form that is searched for.
const ENCODED_LENGTH_MIN: usize = 6;

/// All forms of a secret; none if it is too short.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let text = secret.trim();
    if text.len() < SECRET_LENGTH_MIN {
        return Vec::new();
    }
    let mut forms = vec![text.to_owned()];
    if text.contains('\n') {
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= LINE_LENGTH_MIN);
        // The armour of a key (`-----BEGIN …`) is the same for every key.
        forms.extend(lines.filter(|line| !line.starts_with("-----")).map(ToOwned::to_owned));
    }
    forms.extend(credentials(text).filter(|part| part.len() >= PART_LENGTH_MIN).map(ToOwned::to_owned));
    // Whole documents are encoded too, with the secret escaped inside.
    let mut escaped = vec![text.to_owned(), json_escaped(text), percent_escaped(text)];
    escaped.dedup();
    for text in escaped {
        let encoded = base64_forms(text.as_bytes()).chain(hexadecimal_forms(text.as_bytes()));
        forms.extend(encoded.filter(|form| form.len() >= ENCODED_LENGTH_MIN));
    }
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The secret part of texts of well-known shapes: `Bearer X`, `key=X`, `https://user:X@host`. Records hold such texts, and
/// nobody can tell any more what they were made of.
fn credentials(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
    };
    let one_word = |rest: &&str| !rest.contains(char::is_whitespace);
    let scheme =
        text.split_once(' ').filter(|(word, _)| is_word(word)).map(|(_, rest)| rest).filter(one_word);
    let value = text.split_once('=').filter(|(word, _)| is_word(word)).map(|(_, rest)| rest).filter(one_word);
    let authority = text.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
    [scheme, value, password].into_iter().flatten()
}

/// Base64 of a text in which the secret stands somewhere: three characters hold four, so there are three alignments. Only
/// characters that depend on the secret alone belong to a form.
fn base64_forms(secret: &[u8]) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |before| {
        let padded = [&b"\0\0"[..before], secret].concat();
        let first = (before * 8).div_ceil(6);
        let end = padded.len() * 8 / 6;
        [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
            .map(|encoded| encoded[first..end].to_owned())
    })
}

fn hexadecimal_forms(secret: &[u8]) -> [String; 2] {
    let lower: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let upper = lower.to_ascii_uppercase();
    [lower, upper]
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As in URLs and forms, with nothing but the unreserved characters left as they are.
fn percent_escaped(text: &str) -> String {
    let escaped = text.bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    escaped.collect()
}
