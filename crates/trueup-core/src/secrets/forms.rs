//! The forms in which others repeat a secret: its text, its lines, and what programs make of its bytes.
//!
//! Escapes (`%2F`, `\u0041`, `&amp;`) are not here: [`views`](super::views) undoes them in the text that is searched.

use std::ops::Range;

use smol_str::SmolStr;

/// The shortest secret that is searched for. Shorter ones occur inside ordinary words.
pub const SECRET_LENGTH_MIN: usize = 4;

/// The shortest line of a longer secret that is searched for by itself.
const LINE_LENGTH_MIN: usize = 8;

/// The shortest part of a text of a well-known shape that is searched for by itself.
const PART_LENGTH_MIN: usize = 8;

/// The shortest encoded form that is searched for.
const ENCODED_LENGTH_MIN: usize = 6;

/// The longest secret that is also searched for as it is encoded after it was escaped.
const ESCAPED_LENGTH_MAX: usize = 64 << 10;

/// Of a secret of more lines than this, the first ones are searched for by themselves.
const LINES_MAX: usize = 4096;

/// A form of a secret. Its bytes are made as they are needed: kept, all forms would take thirteen times the secret.
#[derive(Clone)]
pub(super) struct Form {
    secret: SmolStr,
    /// The part of the secret that it is a form of.
    part: Range<usize>,
    encoding: Encoding,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Plain,
    /// Base64 of a text in which the secret stands after this many bytes, modulo three. Only characters that depend on the
    /// secret alone belong to it.
    Base64 {
        before: usize,
        alphabet: &'static [u8; 64],
    },
    Hexadecimal {
        digits: &'static [u8; 16],
    },
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Form {
    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        let bytes = self.part.len();
        match self.encoding {
            Encoding::Plain => bytes,
            Encoding::Base64 { before, .. } => {
                ((before + bytes) * 8 / 6).saturating_sub(characters_before(before))
            }
            Encoding::Hexadecimal { .. } => bytes * 2,
        }
    }

    /// The byte at a place within it.
    pub(super) fn byte(&self, at: usize) -> u8 {
        let bytes = &self.secret.as_bytes()[self.part.clone()];
        match self.encoding {
            Encoding::Plain => bytes[at],
            Encoding::Base64 { before, alphabet } => {
                let bit = (characters_before(before) + at) * 6 - before * 8;
                let (first, second) = (bytes[bit / 8], bytes.get(bit / 8 + 1).copied().unwrap_or(0));
                let two = u16::from_be_bytes([first, second]);
                alphabet[usize::from(two >> (10 - bit % 8)) & 0x3f]
            }
            Encoding::Hexadecimal { digits } => {
                let byte = bytes[at / 2];
                digits[usize::from(if at.is_multiple_of(2) { byte >> 4 } else { byte & 0xf })]
            }
        }
    }

    fn has_any(&self, wanted: &[u8]) -> bool {
        (0..self.len()).any(|at| wanted.contains(&self.byte(at)))
    }

    /// How many bytes of it, from a place on, are also at the beginning of a text.
    pub(super) fn common_after(&self, at: usize, text: &[u8]) -> usize {
        if self.encoding == Encoding::Plain {
            let bytes = &self.secret.as_bytes()[self.part.clone()][at..];
            return bytes.iter().zip(text).take_while(|(form, text)| form == text).count();
        }
        let length = text.len().min(self.len() - at);
        (0..length).take_while(|ahead| self.byte(at + ahead) == text[*ahead]).count()
    }

    /// How many bytes of it, up to a place, are also at the end of a text.
    pub(super) fn common_before(&self, at: usize, text: &[u8]) -> usize {
        if self.encoding == Encoding::Plain {
            let bytes = &self.secret.as_bytes()[self.part.clone()][..at];
            return bytes.iter().rev().zip(text.iter().rev()).take_while(|(form, text)| form == text).count();
        }
        let length = text.len().min(at);
        (1..=length).take_while(|back| self.byte(at - back) == text[text.len() - back]).count()
    }
}

/// The characters that depend on what stands before the secret.
fn characters_before(bytes: usize) -> usize {
    (bytes * 8).div_ceil(6)
}

/// All forms of a secret; none if it is too short.
pub(super) fn forms(secret: &SmolStr) -> Vec<Form> {
    let text = secret.trim();
    if text.len() < SECRET_LENGTH_MIN {
        return Vec::new();
    }
    let mut parts = vec![text];
    if text.contains('\n') {
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= LINE_LENGTH_MIN);
        // The armour of a key (`-----BEGIN …`) is the same for every key.
        parts.extend(lines.filter(|line| !line.starts_with("-----")).take(LINES_MAX));
    }
    parts.extend(credentials(text).filter(|part| part.len() >= PART_LENGTH_MIN));
    parts.sort_unstable();
    parts.dedup();
    let part_of = |part: &str| {
        // A part lies within the secret.
        let start = part.as_ptr().addr() - secret.as_ptr().addr();
        Form { secret: secret.clone(), part: start..start + part.len(), encoding: Encoding::Plain }
    };
    let whole = part_of(text);
    let mut forms: Vec<Form> = parts.into_iter().map(part_of).collect();
    forms.extend(encoded(&whole));
    if text.len() <= ESCAPED_LENGTH_MAX {
        // Documents are encoded as a whole, with the secret escaped inside.
        for escaped in [json_escaped(text), percent_escaped(text)].into_iter().filter(|it| it != text) {
            let part = 0..escaped.len();
            forms.extend(encoded(&Form { secret: escaped.into(), part, encoding: Encoding::Plain }));
        }
    }
    forms
}

/// The encoded forms of a plain one.
fn encoded(plain: &Form) -> Vec<Form> {
    let form = |encoding| Form { encoding, ..plain.clone() };
    let mut forms = Vec::new();
    for before in 0..3 {
        let [standard, url_safe] =
            [STANDARD, URL_SAFE].map(|alphabet| form(Encoding::Base64 { before, alphabet }));
        // Most secrets look the same in both alphabets.
        forms.extend(Some(url_safe).filter(|form| form.has_any(b"-_")));
        forms.push(standard);
    }
    let [lower, upper] =
        [b"0123456789abcdef", b"0123456789ABCDEF"].map(|digits| form(Encoding::Hexadecimal { digits }));
    forms.extend(Some(upper).filter(|form| form.has_any(b"ABCDEF")));
    forms.push(lower);
    forms.retain(|form| form.len() >= ENCODED_LENGTH_MIN);
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
