//! The parser: recursive descent straight over the bytes of the text.
//!
//! There is no token stream, since what a byte means depends on where it stands: a newline ends an attribute but not a
//! list, text is text inside quotes and code inside `${}`. [`Parser`] holds the position and the mode; the files beside
//! this one each know a part of the grammar:
//!
//! - `body`: attributes, blocks, and where to go on after an error
//! - `expression`: operators, conditionals, literals, names, calls
//! - `access`: `.name`, `[index]`, splats
//! - `collection`: tuples, objects, for expressions
//! - `template`, `heredoc`, `directive`: text with interpolations
//!
//! A function that meets an error records the diagnostic and returns [`Halt`]; the body that the error stands in goes
//! on with its next item. Everything else passes it up.

mod access;
mod body;
mod collection;
mod directive;
mod expression;
mod heredoc;
mod template;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, FileId, Origin};

use super::Parsed;
use super::body::{Body, Name};
use super::expression::Expr;
use crate::limits::deep_at;

/// How deeply expressions and blocks may nest.
pub const DEPTH_MAX: usize = 1000;

/// How many errors of one text are told; a text with more is usually wrong in one place.
pub const ERRORS_MAX: usize = 20;

/// Reads a file in native syntax.
pub fn parse_body(text: &str, file: FileId) -> Parsed<Body> {
    let mut parser = Parser::new(text, Placement::Offset { file, base: 0 });
    let tree = parser.file();
    Parsed { tree, diagnostics: parser.diagnostics }
}

/// Reads one expression, such as a line of the console. The whole text must be it; newlines mean nothing.
pub fn parse_expression(text: &str, file: FileId) -> Result<Expr, Diagnostics> {
    Parser::new(text, Placement::Offset { file, base: 0 }).whole_expression()
}

/// Reads a template without quotes, such as the content of a template file.
pub fn parse_template(text: &str, file: FileId) -> Result<Expr, Diagnostics> {
    Parser::new(text, Placement::Offset { file, base: 0 }).whole_template()
}

/// Reads an expression that stands in a literal string.
pub(crate) fn parse_expression_at(text: &str, literal: Origin) -> Result<Expr, Diagnostics> {
    Parser::new(text, Placement::inside(text, literal)).whole_expression()
}

/// Reads a template that stands in a literal string.
pub(super) fn parse_template_at(text: &str, literal: Origin) -> Result<Expr, Diagnostics> {
    Parser::new(text, Placement::inside(text, literal)).whole_template()
}

/// An error was recorded, and the construct at hand cannot be completed.
struct Halt;

type Parse<T> = Result<T, Halt>;

/// Whether a newline is space or the end of something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Newlines {
    Significant,
    Ignored,
}

/// How positions in the text become places in the source.
#[derive(Clone, Copy)]
enum Placement {
    /// The text is a stretch of the file, from this byte on.
    Offset { file: FileId, base: u32 },
    /// The text was unescaped, so that only the whole can be pointed at.
    Whole(Origin),
}

impl Placement {
    fn inside(text: &str, literal: Origin) -> Self {
        // Two quotes around the very text: nothing was escaped, so bytes correspond.
        let exact = (literal.end - literal.start) as usize == text.len() + 2;
        if exact {
            Placement::Offset { file: literal.file, base: literal.start + 1 }
        } else {
            Placement::Whole(literal)
        }
    }
}

struct Parser<'s> {
    text: &'s str,
    /// The position reached, in bytes; always at the start of a character.
    at: usize,
    placement: Placement,
    newlines: Newlines,
    depth: usize,
    diagnostics: Diagnostics,
    /// Where the last error was noticed, from where the text is searched for something to go on with.
    halted_at: usize,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str, placement: Placement) -> Self {
        Parser {
            text,
            at: 0,
            placement,
            newlines: Newlines::Ignored,
            depth: 0,
            diagnostics: Diagnostics::new(),
            halted_at: 0,
        }
    }

    fn whole_expression(mut self) -> Result<Expr, Diagnostics> {
        let expression = self.expression().and_then(|expression| {
            self.skip();
            if self.at == self.text.len() {
                Ok(expression)
            } else {
                let found = self.found();
                self.fail_here(Diagnostic::error(format!(
                    "expected an operator or the end of the expression, found {found}"
                )))
            }
        });
        self.finish(expression)
    }

    fn whole_template(mut self) -> Result<Expr, Diagnostics> {
        let template = self.plain_template();
        self.finish(template)
    }

    fn finish(self, result: Parse<Expr>) -> Result<Expr, Diagnostics> {
        result.ok().filter(|_| self.diagnostics.is_empty()).ok_or(self.diagnostics)
    }

    // Looking and moving.

    fn bytes(&self) -> &'s [u8] {
        self.text.as_bytes()
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn byte_after(&self, distance: usize) -> Option<u8> {
        self.bytes().get(self.at + distance).copied()
    }

    fn starts_with(&self, expected: &str) -> bool {
        self.bytes()[self.at..].starts_with(expected.as_bytes())
    }

    /// Takes this text if it comes next.
    fn take(&mut self, expected: &str) -> bool {
        let found = self.starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Skips spaces and comments, and newlines where they mean nothing.
    fn skip(&mut self) {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if self.newlines == Newlines::Ignored => self.at += 1,
                b'#' => self.skip_line(),
                b'/' if self.byte_after(1) == Some(b'/') => self.skip_line(),
                b'/' if self.byte_after(1) == Some(b'*') => self.skip_block_comment(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = self.line_end(self.at);
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        match self.rest().find("*/") {
            Some(end) => self.at += end + 2,
            None => {
                self.at = self.text.len();
                let origin = Some(self.origin(start, start + 2));
                // Space is sometimes skipped twice, to look ahead.
                if self.diagnostics.iter().all(|told| told.origin != origin) {
                    self.report(start, start + 2, Diagnostic::error("this comment is never closed"));
                }
            }
        }
    }

    /// Skips blank lines too, whatever newlines mean.
    fn skip_blank(&mut self) {
        let newlines = std::mem::replace(&mut self.newlines, Newlines::Ignored);
        self.skip();
        self.newlines = newlines;
    }

    fn line_end(&self, from: usize) -> usize {
        self.bytes()[from..].iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |end| from + end)
    }

    fn line_start(&self, from: usize) -> usize {
        self.bytes()[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
    }

    /// The length in bytes of the name that begins here, 0 if none does.
    fn name_length(&self, from: usize) -> usize {
        let bytes = &self.bytes()[from..];
        let ascii = bytes
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')))
            .unwrap_or(bytes.len());
        match bytes.first() {
            Some(first) if first.is_ascii_digit() || *first == b'-' => 0,
            _ if bytes.get(ascii).is_none_or(u8::is_ascii) => ascii,
            _ => {
                let rest = &self.text[from..];
                let in_name = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
                let end = rest.find(|char| !in_name(char)).unwrap_or(rest.len());
                if trueup_core::is_identifier(&rest[..end]) { end } else { 0 }
            }
        }
    }

    /// Takes the name that comes next.
    fn name(&mut self) -> Option<Name> {
        let length = self.name_length(self.at);
        (length > 0).then(|| {
            let start = self.at;
            self.at += length;
            Name { text: SmolStr::new(&self.text[start..self.at]), origin: self.origin_from(start) }
        })
    }

    /// Whether this word comes next, and not as the beginning of a longer name.
    fn at_word(&self, word: &str) -> bool {
        self.starts_with(word) && self.name_length(self.at) == word.len()
    }

    /// Takes this word if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += word.len();
        }
        found
    }

    // Modes and bounds.

    /// Goes on with newlines meaning something else, and then as before.
    fn with_newlines<T>(
        &mut self,
        newlines: Newlines,
        inside: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        let before = std::mem::replace(&mut self.newlines, newlines);
        let result = inside(self);
        self.newlines = before;
        result
    }

    /// Goes one level deeper, or refuses to.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == DEPTH_MAX {
            return self.fail_here(
                Diagnostic::error(format!("nests deeper than {DEPTH_MAX} levels"))
                    .hint("give inner parts names of their own with `locals`"),
            );
        }
        self.depth += 1;
        let result = deep_at(self.depth, || inside(self));
        self.depth -= 1;
        result
    }

    // Places and errors.

    fn origin(&self, start: usize, end: usize) -> Origin {
        match self.placement {
            // Positions fit: files are bounded well below 4 GiB, and other texts are parts of files or typed.
            Placement::Offset { file, base } => {
                let place = |at: usize| base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                Origin { file, start: place(start), end: place(end) }
            }
            Placement::Whole(origin) => origin,
        }
    }

    /// From this position to the one reached.
    fn origin_from(&self, start: usize) -> Origin {
        self.origin(start, self.at)
    }

    /// Records an error about what stands from `start` to `end`.
    fn fail<T>(&mut self, start: usize, end: usize, diagnostic: Diagnostic) -> Parse<T> {
        self.halted_at = start;
        self.report(start, end, diagnostic);
        Err(Halt)
    }

    /// Records an error about what comes next.
    fn fail_here<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        let end = self.at + self.found_length();
        self.fail(self.at, end, diagnostic)
    }

    fn report(&mut self, start: usize, end: usize, mut diagnostic: Diagnostic) {
        diagnostic.origin = Some(self.origin(start, end));
        self.diagnostics.push(diagnostic);
    }

    /// Takes this mark, or fails saying what it is for.
    fn expect(&mut self, mark: &str, purpose: &str) -> Parse<()> {
        self.skip();
        if self.take(mark) {
            return Ok(());
        }
        let found = self.found();
        self.fail_here(Diagnostic::error(format!("expected `{mark}` {purpose}, found {found}")))
    }

    /// What comes next, in words.
    fn found(&self) -> String {
        match self.byte() {
            None => match self.placement {
                Placement::Offset { base: 0, .. } => "the end of the file".to_owned(),
                _ => "the end of the text".to_owned(),
            },
            Some(b'\n') => "the end of the line".to_owned(),
            Some(b'`') => "a backtick".to_owned(),
            Some(_) => format!("`{}`", &self.text[self.at..self.at + self.found_length()]),
        }
    }

    /// The length of the word, number or character that comes next.
    fn found_length(&self) -> usize {
        match self.rest().chars().next() {
            None | Some('\n') => 0,
            Some(first) => {
                let in_word = |char: char| char.is_alphanumeric() || char == '_';
                if in_word(first) {
                    self.rest().find(|char| !in_word(char)).unwrap_or(self.rest().len()).min(60)
                } else {
                    first.len_utf8()
                }
            }
        }
    }
}
