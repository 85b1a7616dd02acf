//! Searches bytes for secrets, by means of its own: what the program scrubs is no measure of what it leaves.
//!
//! Base64 and hexadecimal digits are forms of a secret. Escapes are undone in the bytes that are searched. A form is found
//! as a whole, or by a piece of it that [gives it away](PIECE_LENGTH_MIN).

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::views::views;

/// A piece gives a form away from this length and half of the form on, or from [`PIECE_LENGTH_ENOUGH`].
const PIECE_LENGTH_MIN: usize = 12;
const PIECE_LENGTH_ENOUGH: usize = 32;

/// The shortest secret that is searched for.
const SECRET_LENGTH_MIN: usize = 4;

/// The bytes by which a piece is looked up.
const KEY_LENGTH: usize = 4;

/// The secrets to search for.
pub(super) struct Finder {
    pieces: Vec<Piece>,
    /// The pieces that begin with these bytes.
    by_key: BTreeMap<[u8; KEY_LENGTH], Vec<usize>>,
    /// Whether a piece begins with this byte: most bytes are told by that alone.
    is_first: [bool; 256],
}

/// A piece of a form, or all of it.
struct Piece {
    secret: String,
    form: &'static str,
    bytes: Vec<u8>,
}

impl Finder {
    pub(super) fn new(secrets: &[&str]) -> Self {
        let mut finder = Finder { pieces: Vec::new(), by_key: BTreeMap::new(), is_first: [false; 256] };
        for secret in secrets {
            assert!(secret.len() >= SECRET_LENGTH_MIN, "{secret:?} is too short to be searched for");
            for (form, text) in forms(secret) {
                let length = match text.len() {
                    short @ ..=PIECE_LENGTH_MIN => short,
                    long => (long / 2).clamp(PIECE_LENGTH_MIN, PIECE_LENGTH_ENOUGH),
                };
                text.as_bytes().windows(length).for_each(|piece| finder.insert(secret, form, piece));
            }
        }
        finder
    }

    fn insert(&mut self, secret: &str, form: &'static str, piece: &[u8]) {
        let Some(key) = piece.first_chunk() else { return };
        self.is_first[usize::from(key[0])] = true;
        self.by_key.entry(*key).or_default().push(self.pieces.len());
        self.pieces.push(Piece { secret: secret.to_owned(), form, bytes: piece.to_owned() });
    }

    /// The first secret that shows, and how.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<String> {
        views(bytes).iter().find_map(|view| {
            let places = (0..view.len()).filter(|at| self.is_first[usize::from(view[*at])]);
            places.filter_map(|at| self.piece_at(&view[at..])).next().map(|piece| {
                let shown = String::from_utf8_lossy(&piece.bytes);
                format!("{:?} in {} by {shown:?}", piece.secret, piece.form)
            })
        })
    }

    fn piece_at(&self, bytes: &[u8]) -> Option<&Piece> {
        let pieces = self.by_key.get(bytes.first_chunk::<KEY_LENGTH>()?)?;
        pieces.iter().map(|piece| &self.pieces[*piece]).find(|piece| bytes.starts_with(&piece.bytes))
    }

    /// Fails if a secret shows.
    #[track_caller]
    pub(super) fn assert_absent(&self, place: &str, bytes: &[u8]) {
        if let Some(found) = self.find(bytes) {
            panic!("{place} shows {found}\n{}", String::from_utf8_lossy(bytes));
        }
    }

    /// Fails if a secret shows in a file below a folder, or in the name of one.
    #[track_caller]
    pub(super) fn assert_absent_below(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            self.assert_absent("a file's name", entry.file_name().as_encoded_bytes());
            if kind.is_dir() {
                self.assert_absent_below(&path);
            } else if kind.is_file()
                && let Some(found) = self.find(&std::fs::read(&path).unwrap())
            {
                panic!("{} shows {found}", path.display());
            }
        }
    }
}

/// The forms of a secret that are not told by undoing escapes.
fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let json = json_escaped(secret);
    let digits = |upper: bool| -> String {
        let digit = |byte: u8| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        secret.bytes().map(digit).collect()
    };
    let mut forms = vec![("plain text", secret.to_owned())];
    forms.extend([("hexadecimal digits", digits(false)), ("capital hexadecimal digits", digits(true))]);
    forms.extend(base64_forms(secret).map(|form| ("Base64", form)));
    if json != secret {
        forms.extend(base64_forms(&json).map(|form| ("Base64 of JSON", form)));
    }
    forms
}

/// The characters of Base64 that depend on the text alone, whatever stands before and after it.
fn base64_forms(text: &str) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |before| {
        let shifted = [&b"\0\0"[..before], text.as_bytes()].concat();
        let alone = (before * 8).div_ceil(6)..shifted.len() * 8 / 6;
        [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)]
            .map(|encoded| encoded[alone.clone()].to_owned())
    })
}

pub(super) fn json_escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}
