//! Text in columns: how wide it is, and cutting it to fit.

use std::path::Path;

use trueup_core::escape_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::look::{Look, Mark, Meaning};

/// How many columns a text takes as it is written: what would act on a terminal is escaped.
pub(crate) fn width(text: &str) -> usize {
    // Most texts are such, and tables of characters take ten times as long.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        text.len()
    } else {
        UnicodeWidthStr::width(&*escape_line(text))
    }
}

/// The text on one line, filled up with spaces to a width.
pub(crate) fn padded(text: &str, to: usize) -> String {
    format!("{}{}", escape_line(text), " ".repeat(to.saturating_sub(width(text))))
}

/// The text on one line, cut to a width unless it is to be whole; an ellipsis stands for what is missing.
pub(crate) fn cut(text: &str, to: usize, look: Look) -> String {
    if look.whole || width(text) <= to {
        return escape_line(text).into_owned();
    }
    let ellipsis = look.mark(Mark::Ellipsis);
    let room = to.saturating_sub(width(ellipsis));
    let mut taken = 0;
    let text = escape_line(text);
    let fits = |char: &char| {
        taken += char.width().unwrap_or(0);
        taken <= room
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push_str(ellipsis);
    cut
}

/// A path within a line.
pub(crate) fn shown_path(path: &Path) -> String {
    escape_line(&path.to_string_lossy()).into_owned()
}

/// Text broken at spaces into lines of at most this width; a longer word stands alone. What stands in backquotes is kept
/// together, so that a command can be taken from one line.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut quoted = false;
    let words = text.split(|char: char| {
        quoted ^= char == '`';
        char.is_whitespace() && !quoted
    });
    filled(words.filter(|word| !word.is_empty()).flat_map(|word| fitting(word, columns)), columns)
}

/// What fits as a whole, else its words.
fn fitting(text: &str, columns: usize) -> Vec<&str> {
    if width(text) <= columns { vec![text] } else { text.split_whitespace().collect() }
}

/// Words filled into lines of at most this width.
fn filled<'w>(words: impl Iterator<Item = &'w str>, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let last = lines.last_mut().expect("there is a line from the start on");
        if last.is_empty() {
            last.push_str(word);
        } else if width(last) + 1 + width(word) <= columns {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A list broken after its commas and colons, all lines but the first set in a little; each in the colour of its meaning.
pub(crate) fn hanging(text: &str, meaning: Option<Meaning>, look: Look) -> String {
    let paint = |line: &String| match meaning {
        Some(meaning) => look.paint(meaning, line),
        None => escape_line(line).into_owned(),
    };
    let columns = look.columns.saturating_sub(2);
    let parts = text.split_inclusive(", ").flat_map(|part| part.split_inclusive(": ")).map(str::trim_end);
    let lines = filled(parts.flat_map(|part| fitting(part, columns)), columns);
    lines.iter().map(paint).collect::<Vec<_>>().join("\n  ")
}

/// A line of stretches, each with its meaning, that knows how wide it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line(Vec<(Option<Meaning>, String)>);

impl Line {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds plain text.
    #[must_use]
    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push((None, text.into()));
        self
    }

    /// Adds text with a meaning.
    #[must_use]
    pub(crate) fn meaning(mut self, meaning: Meaning, text: impl Into<String>) -> Self {
        self.0.push((Some(meaning), text.into()));
        self
    }

    /// Fills up with spaces to a width; at least one space, if there is anything before it.
    #[must_use]
    pub(crate) fn to(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width()).max(usize::from(!self.0.is_empty()));
        self.text(" ".repeat(missing))
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// The line, cut to the width there is.
    pub(crate) fn render(&self, look: Look) -> String {
        let mut left = look.columns;
        let mut rendered = String::new();
        for (meaning, text) in &self.0 {
            let fitting = cut(text, left, look);
            left = left.saturating_sub(width(text));
            rendered.push_str(&match meaning {
                Some(meaning) => look.paint(*meaning, &fitting),
                None => fitting,
            });
            if left == 0 && !look.whole {
                break;
            }
        }
        rendered.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_columns_rather_than_characters() {
        let look = Look::PLAIN;
        assert_eq!(cut("abcdef", 6, look), "abcdef");
        assert_eq!(cut("abcdef", 4, look), "abc…");
        assert_eq!(cut("日本語", 4, look), "日…");
        assert_eq!(cut("abcdef", 4, Look { unicode: false, ..look }), "a...");
        assert_eq!(cut("a\x1b[31mb", 9, look), "a\\u{1b}[…", "escapes have a width too");
        assert_eq!(width("a\x1b[31mb"), 12);
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 4), ["incomprehensible"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("first `state rm a` then", 14), ["first", "`state rm a`", "then"]);
        assert_eq!(wrapped("`one two three` four", 9), ["`one two", "three`", "four"]);
    }

    #[test]
    fn lists_break_between_what_they_list() {
        let look = Look { columns: 28, ..Look::PLAIN };
        let told = hanging("Plan: 1 to create, 22 to update, 1 to delete", None, look);
        assert_eq!(told, "Plan: 1 to create,\n  22 to update, 1 to delete");
    }

    #[test]
    fn a_line_never_exceeds_the_columns() {
        let line = Line::new().text("12345").to(8).meaning(Meaning::Create, "abcdefgh");
        assert_eq!(line.width(), 16);
        assert_eq!(line.render(Look { columns: 12, ..Look::PLAIN }), "12345   abc…");
    }
}
