//! Finding secrets in a text.
//!
//! Each form of a secret has anchors: places in it at regular distances, known by the four bytes that stand there. A text
//! is walked once. Where an anchor's bytes stand, the match is extended to both sides. It counts if it is the whole form,
//! or a piece that is long enough not to be an accident. The cost is that of one walk, however many secrets there are.

use std::collections::BTreeMap;
use std::ops::Range;

use smol_str::SmolStr;

use super::forms::{Form, forms};
use super::views::views;

/// The bytes by which an anchor is known.
type Key = [u8; 4];

/// A piece of a secret counts from this length on, or from half of the secret if that is more.
const PIECE_LENGTH_MIN: usize = 12;

/// A piece of this length counts whatever the length of the secret, unless that is very long.
const PIECE_LENGTH_ENOUGH: usize = 32;

/// How many anchors a form may have. Those of a very long secret are further apart, and only longer pieces of it count.
const ANCHORS_MAX: usize = 4096;

/// How many anchors of one form may be known by the same bytes.
const ANCHORS_OF_KEY_MAX: usize = 4;

/// At how many places an anchor is tried.
const ANCHOR_PLACES_MAX: usize = 8;

/// Secrets in all their forms.
#[derive(Clone, Default)]
pub(super) struct Index {
    forms: Vec<IndexedForm>,
    anchors: BTreeMap<Key, Vec<Anchor>>,
}

#[derive(Clone)]
struct IndexedForm {
    form: Form,
    /// The shortest piece of it that counts.
    piece_length_min: usize,
    /// The number of the secret that it is a form of.
    secret: usize,
}

#[derive(Clone, Copy)]
struct Anchor {
    form: u32,
    offset: u32,
}

/// Secrets inside a long match of another one.
#[derive(Clone, Copy)]
enum Nested {
    /// The other one covers them.
    Covered,
    /// They are found too: one secret may be made of another.
    Sought,
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
    pub(super) fn insert(&mut self, secret: &SmolStr, number: usize) {
        for form in forms(secret) {
            self.insert_form(form, number);
        }
    }

    fn insert_form(&mut self, form: Form, secret: usize) {
        let length = form.len();
        let (piece_length_min, distance) = match length {
            0..=PIECE_LENGTH_MIN => (length, length),
            _ => {
                let piece = (length / 2).clamp(PIECE_LENGTH_MIN, PIECE_LENGTH_ENOUGH);
                // Wherever a piece begins, it contains an anchor with the bytes by which that is known.
                let distance = (piece - size_of::<Key>() + 1).max(length.div_ceil(ANCHORS_MAX));
                (distance + size_of::<Key>() - 1, distance)
            }
        };
        let number = narrow(self.forms.len());
        let (mut next, mut least) = (0, 0);
        while next < length {
            // A secret that repeats itself would have all anchors in one place, and each is tried wherever the text
            // repeats itself too. The bytes a little before may be others.
            let places = (least..=next).rev().take(ANCHOR_PLACES_MAX);
            let chosen = places.into_iter().find(|offset| self.add_anchor(&form, number, *offset));
            let chosen = chosen.unwrap_or(next);
            (next, least) = (chosen + distance.max(1), chosen + 1);
        }
        self.forms.push(IndexedForm { form, piece_length_min, secret });
    }

    /// Adds an anchor, unless there are enough of the form that are known by the same bytes.
    fn add_anchor(&mut self, form: &Form, number: u32, offset: usize) -> bool {
        let Some(key) = key_of(form, offset) else { return false };
        let anchors = self.anchors.entry(key).or_default();
        let is_rare = anchors.iter().rev().take_while(|it| it.form == number).count() < ANCHORS_OF_KEY_MAX;
        if is_rare {
            anchors.push(Anchor { form: number, offset: narrow(offset) });
        }
        is_rare
    }

    /// The ranges of a text that are secrets or pieces of them, in order and apart.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        self.search(text, Nested::Covered, &mut |found| ranges.push((found.start, found.end)));
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
        self.search(text, Nested::Sought, &mut |found| {
            if found.is_whole {
                secrets.push(found.secret);
            }
        });
        secrets.sort_unstable();
        secrets.dedup();
        secrets
    }

    fn search(&self, text: &str, nested: Nested, found: &mut dyn FnMut(Found)) {
        if self.forms.is_empty() {
            return;
        }
        for view in views(text) {
            // Texts of one repeated character match at every place: within a long match of a form, that form is not sought
            // again.
            let mut covered: BTreeMap<u32, usize> = BTreeMap::new();
            let mut at = 0;
            while let Some(key) = key_at(&view.bytes, at) {
                let mut next = at + 1;
                for anchor in self.anchors.get(&key).into_iter().flatten() {
                    if covered.get(&anchor.form).is_some_and(|end| at < *end) {
                        continue;
                    }
                    let Some(hit) = self.extended(*anchor, &view.bytes, at) else { continue };
                    if hit.end - hit.start > 2 * PIECE_LENGTH_ENOUGH {
                        let end = hit.end - PIECE_LENGTH_ENOUGH;
                        match nested {
                            Nested::Covered => next = next.max(end),
                            Nested::Sought => drop(covered.insert(anchor.form, end)),
                        }
                    }
                    let (start, end) = view.original(hit.start, hit.end);
                    found(Found { start, end, ..hit });
                }
                at = next;
            }
        }
    }

    /// The match around an anchor that stands at a place of a text, if it is long enough.
    fn extended(&self, Anchor { form, offset }: Anchor, text: &[u8], at: usize) -> Option<Found> {
        let IndexedForm { form, piece_length_min, secret } = &self.forms[form as usize];
        let before = form.common_before(offset as usize, &text[..at]);
        let after = form.common_after(offset as usize, &text[at..]);
        let length = before + after;
        (length >= *piece_length_min).then_some(Found {
            start: at - before,
            end: at + after,
            secret: *secret,
            is_whole: length == form.len(),
        })
    }
}

fn key_of(form: &Form, at: usize) -> Option<Key> {
    let fits = at + size_of::<Key>() <= form.len();
    fits.then(|| std::array::from_fn(|ahead| form.byte(at + ahead)))
}

fn key_at(bytes: &[u8], at: usize) -> Option<Key> {
    bytes.get(at..at + size_of::<Key>())?.try_into().ok()
}

/// Texts have at most 128 MiB, and forms of them four times that.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
