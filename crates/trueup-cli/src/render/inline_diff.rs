//! Two lines of text, compared word by word.
//!
//! [`InlineDiff::of`] finds what differs, [`centred`] shortens what does not, and [`folded`] breaks the rest into lines.
//! Nothing that differs is ever left out.

use std::iter::Peekable;
use std::str::CharIndices;

use imara_diff::Hunk;
use trueup_core::escape_line;
use unicode_width::UnicodeWidthChar;

use super::sequence_diff::sequence_diff;
use crate::ui::{Look, Mark, Meaning, width};

/// So many characters are kept on each side of a difference.
const CONTEXT: usize = 16;

/// Unchanged text shorter than this between two differences counts as different: fragments are hard to read.
const UNCHANGED_MIN: usize = 3;

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    /// Its text, free of control characters.
    pub text: String,
    /// Whether the other line has something else in its place.
    pub differs: bool,
}

/// Two lines in stretches.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct InlineDiff {
    pub before: Vec<Stretch>,
    pub after: Vec<Stretch>,
}

impl InlineDiff {
    /// Compares two lines.
    pub(crate) fn of(before: &str, after: &str) -> Self {
        let (before, after) = (escape_line(before), escape_line(after));
        let (old, new): (Vec<&str>, Vec<&str>) = (Words::of(&before).collect(), Words::of(&after).collect());
        let (input, mut diff) = sequence_diff(old.iter().copied(), new.iter().copied());
        diff.postprocess_no_heuristic(&input);
        let hunks = merged(diff.hunks(), &old);
        let side = |words: &[&str], places: &dyn Fn(&Hunk) -> std::ops::Range<u32>| {
            let mut stretches = Vec::new();
            let mut at = 0;
            for hunk in &hunks {
                let place = places(hunk);
                stretches.extend(stretch(words, at..place.start as usize, false));
                stretches.extend(stretch(words, place.start as usize..place.end as usize, true));
                at = place.end as usize;
            }
            stretches.extend(stretch(words, at..words.len(), false));
            stretches
        };
        InlineDiff { before: side(&old, &|it| it.before.clone()), after: side(&new, &|it| it.after.clone()) }
    }

    /// The first character, counted from 1, at which the lines differ.
    pub(crate) fn first_difference(&self) -> usize {
        let same = self.before.iter().take_while(|it| !it.differs);
        same.map(|it| it.text.chars().count()).sum::<usize>() + 1
    }
}

fn stretch(words: &[&str], range: std::ops::Range<usize>, differs: bool) -> Option<Stretch> {
    let text = words.get(range)?.concat();
    (!text.is_empty()).then_some(Stretch { text, differs })
}

/// Hunks, those with little between them as one.
fn merged(hunks: impl Iterator<Item = Hunk>, old: &[&str]) -> Vec<Hunk> {
    let mut merged: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        match merged.last_mut() {
            Some(last)
                if chars(&old[last.before.end as usize..hunk.before.start as usize]) < UNCHANGED_MIN =>
            {
                last.before.end = hunk.before.end;
                last.after.end = hunk.after.end;
            }
            _ => merged.push(hunk),
        }
    }
    merged
}

fn chars(words: &[&str]) -> usize {
    words.iter().map(|word| word.chars().count()).sum()
}

/// Words, runs of spaces, and every other character by itself.
struct Words<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        Words { text, chars: text.char_indices().peekable() }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let (start, first) = self.chars.next()?;
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = self.chars.peek() {
            let joins = (first.is_alphanumeric() && next.is_alphanumeric()) || (first == ' ' && *next == ' ');
            if !joins {
                break;
            }
            end = at + next.len_utf8();
            self.chars.next();
        }
        Some(&self.text[start..end])
    }
}

/// The stretches, with an ellipsis in place of unchanged text that is far from a difference.
pub(crate) fn centred(stretches: &[Stretch], look: Look) -> Vec<Stretch> {
    let ellipsis = look.mark(Mark::Ellipsis);
    let last = stretches.len().saturating_sub(1);
    let shortened = |(at, stretch): (usize, &Stretch)| {
        let chars: Vec<char> = stretch.text.chars().collect();
        let head = if at == 0 { 0 } else { CONTEXT };
        let tail = if at == last { 0 } else { CONTEXT };
        if stretch.differs || chars.len() <= head + tail + ellipsis.chars().count() {
            return stretch.clone();
        }
        let (head, tail) = (&chars[..head], &chars[chars.len() - tail..]);
        let text = head.iter().chain(&ellipsis.chars().collect::<Vec<_>>()).chain(tail).collect();
        Stretch { text, differs: false }
    };
    stretches.iter().enumerate().map(shortened).collect()
}

/// The stretches in lines of at most this width.
pub(crate) fn folded(stretches: &[Stretch], columns: usize) -> Vec<Vec<Stretch>> {
    let columns = columns.max(1);
    let mut lines: Vec<Vec<Stretch>> = vec![Vec::new()];
    let mut left = columns;
    for stretch in stretches {
        let mut part = String::new();
        for char in stretch.text.chars() {
            let wide = char.width().unwrap_or(0);
            if wide > left {
                push(&mut lines, &mut part, stretch.differs);
                lines.push(Vec::new());
                left = columns;
            }
            part.push(char);
            left = left.saturating_sub(wide);
        }
        push(&mut lines, &mut part, stretch.differs);
    }
    lines
}

fn push(lines: &mut [Vec<Stretch>], part: &mut String, differs: bool) {
    if let (Some(line), false) = (lines.last_mut(), part.is_empty()) {
        line.push(Stretch { text: std::mem::take(part), differs });
    }
}

/// How many columns the stretches take.
pub(crate) fn columns(stretches: &[Stretch]) -> usize {
    stretches.iter().map(|it| width(&it.text)).sum()
}

/// The stretches as text, differences in the colour of a meaning.
pub(crate) fn painted(stretches: &[Stretch], meaning: Meaning, look: Look) -> String {
    let paint = |it: &Stretch| if it.differs { look.paint(meaning, &it.text) } else { it.text.clone() };
    stretches.iter().map(paint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences in brackets.
    fn marked(stretches: &[Stretch]) -> String {
        let mark = |it: &Stretch| if it.differs { format!("[{}]", it.text) } else { it.text.clone() };
        stretches.iter().map(mark).collect()
    }

    #[test]
    fn lines_are_compared_word_by_word() {
        let check = |before: &str, after: &str, marked_before: &str, marked_after: &str| {
            let diff = InlineDiff::of(before, after);
            assert_eq!((&*marked(&diff.before), &*marked(&diff.after)), (marked_before, marked_after));
        };
        check("a -all", "a +all", "a [-]all", "a [+]all");
        check("one two three", "one 2 three", "one [two] three", "one [2] three");
        check("same", "same", "same", "same");
        check("", "new", "", "[new]");
        check("a.b", "x.y", "[a.b]", "[x.y]");
        check("Straße 1", "Straße 2", "Straße [1]", "Straße [2]");
        check("a\x1b[2J", "a", "a[\\u{1b}[2J]", "a");
    }

    #[test]
    fn unchanged_text_is_shortened_around_differences() {
        let before = format!("{} -all {}", "x".repeat(90), "y".repeat(90));
        let diff = InlineDiff::of(&before, &before.replace('-', "+"));
        let look = Look::PLAIN;
        let shown = marked(&centred(&diff.after, look));
        assert_eq!(shown, format!("…{} [+]all {}…", "x".repeat(15), "y".repeat(12)));
        assert_eq!(diff.first_difference(), 92);
    }

    #[test]
    fn differences_are_folded_and_never_left_out() {
        let diff = InlineDiff::of("k", &"k".repeat(25));
        let lines = folded(&centred(&diff.after, Look::PLAIN), 10);
        let texts: Vec<String> = lines.iter().map(|line| marked(line)).collect();
        assert_eq!(texts, ["[kkkkkkkkkk]", "[kkkkkkkkkk]", "[kkkkk]"]);
    }
}
