//! Finding secrets in a text.
//!
//! Each form of a secret has anchors: places in it at regular distances, known by the four bytes that stand there. A text
//! is walked once. Where an anchor's bytes stand, the match is extended to both sides. It counts if it is the whole form,
//! or a piece that is long enough not to be an accident. The cost is that of one walk, however many secrets there are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::forms::forms;
use super::views::views;

/// The bytes by which an anchor is known.
type Key = [u8; 4];

/// A piece of a secret counts from this length on, or from half of the secret if that is more.
const PIECE_LENGTH_MIN: usize = 12;

/// A piece of this length counts whatever the length of the secret.
const PIECE_LENGTH_ENOUGH: usize = 32;

/// Secrets in all their forms.
#[derive(Clone, Default)]
pub(super) struct Index {
    forms: Vec<Form>,
    anchors: BTreeMap<Key, Vec<Anchor>>,
}

#[derive(Clone)]
struct Form {
    bytes: Box<[u8]>,
    /// The shortest piece of it that counts.
    piece_length_min: usize,
    /// The number of the secret that it is a form of.
    secret: usize,
}

#[derive(Clone, Copy)]
struct Anchor {
    form: usize,
    offset: usize,
}

/// A place where a secret stands.
struct Found {
    start: usize,
    end: usize,
    secret: usize,
    is_whole: bool,
}

impl Index {
    /// Adds a secret under a number.
    pub(super) fn insert(&mut self, secret: &str, number: usize) {
        for form in forms(secret) {
            self.insert_form(form.into_bytes().into(), number);
        }
    }

    fn insert_form(&mut self, bytes: Box<[u8]>, secret: usize) {
        let length = bytes.len();
        let (piece_length_min, distance) = match length {
            0..=PIECE_LENGTH_MIN => (length, length),
            _ => {
                let piece = (length / 2).clamp(PIECE_LENGTH_MIN, PIECE_LENGTH_ENOUGH);
                // Wherever a piece begins, it contains an anchor with the bytes by which that is known.
                (piece, piece - size_of::<Key>() + 1)
            }
        };
        let form = self.forms.len();
        for offset in (0..length).step_by(distance) {
            if let Some(key) = key_at(&bytes, offset) {
                self.anchors.entry(key).or_default().push(Anchor { form, offset });
            }
        }
        self.forms.push(Form { bytes, piece_length_min, secret });
    }

    /// The ranges of a text that are secrets or pieces of them, in order and apart.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        self.search(text, &mut |found| ranges.push((found.start, found.end)));
        ranges.sort_unstable();
        let mut merged: Vec<Range<usize>> = Vec::new();
        for (start, end) in ranges {
            let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
            // A piece may begin or end with the space beside a word.
            let start = end - text[start..end].trim_start().len();
            let end = start + text[start..end].trim_end().len();
            match merged.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ => merged.push(start..end),
            }
        }
        merged
    }

    /// The numbers of the secrets that a text contains as a whole, in some form.
    pub(super) fn contained_in(&self, text: &str) -> Vec<usize> {
        let mut secrets = Vec::new();
        self.search(text, &mut |found| {
            if found.is_whole {
                secrets.push(found.secret);
            }
        });
        secrets.sort_unstable();
        secrets.dedup();
        secrets
    }

    fn search(&self, text: &str, found: &mut dyn FnMut(Found)) {
        if self.forms.is_empty() {
            return;
        }
        for view in views(text) {
            // Texts of one repeated character match at every place. Within a long match of a form, the same form is not
            // sought again; others are, because one secret may be made of another.
            let mut covered: BTreeMap<usize, usize> = BTreeMap::new();
            let mut at = 0;
            while let Some(key) = key_at(&view.bytes, at) {
                for anchor in self.anchors.get(&key).into_iter().flatten() {
                    if covered.get(&anchor.form).is_some_and(|end| at < *end) {
                        continue;
                    }
                    let Some(hit) = self.extended(*anchor, &view.bytes, at) else { continue };
                    if hit.end - hit.start > 2 * PIECE_LENGTH_ENOUGH {
                        covered.insert(anchor.form, hit.end - PIECE_LENGTH_ENOUGH);
                    }
                    let (start, end) = view.original(hit.start, hit.end);
                    found(Found { start, end, ..hit });
                }
                at += 1;
            }
        }
    }

    /// The match around an anchor that stands at a place of a text, if it is long enough.
    fn extended(&self, Anchor { form, offset }: Anchor, text: &[u8], at: usize) -> Option<Found> {
        let Form { bytes, piece_length_min, secret } = &self.forms[form];
        let before = text[..at].iter().rev().zip(bytes[..offset].iter().rev());
        let before = before.take_while(|(text, form)| text == form).count();
        let after = text[at..].iter().zip(&bytes[offset..]).take_while(|(text, form)| text == form).count();
        let length = before + after;
        (length >= *piece_length_min).then_some(Found {
            start: at - before,
            end: at + after,
            secret: *secret,
            is_whole: length == bytes.len(),
        })
    }
}

fn key_at(bytes: &[u8], at: usize) -> Option<Key> {
    bytes.get(at..at + size_of::<Key>())?.try_into().ok()
}
