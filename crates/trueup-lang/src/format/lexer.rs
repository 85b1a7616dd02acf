//! From text to tokens.
//!
//! What a byte means depends on where it stands, so the lexer keeps a stack of [`Mode`]s: a quote begins text, `${`
//! begins code within it, and the brace that closes it leads back. It agrees with the parser about every text that the
//! parser takes; of any other it makes some tokens, and never fails.

use std::borrow::Cow;

use super::token::{Token, TokenKind};

/// The text cut into tokens. Together with the space before them they are the whole text; the last is its end.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    // Programs have a token each four bytes or so.
    let mut lexer = Lexer { text, at: 0, modes: Vec::new(), tokens: Vec::with_capacity(text.len() / 4 + 1) };
    while lexer.at < text.len() {
        match lexer.modes.last().copied() {
            None | Some(Mode::Sequence { .. }) => lexer.code(),
            Some(Mode::Quoted) => lexer.quoted(),
            Some(Mode::Heredoc { marker }) => lexer.heredoc(marker),
        }
    }
    if lexer.tokens.last().is_none_or(|last| last.kind != TokenKind::End) {
        lexer.push(TokenKind::End, text.len(), 0);
    }
    lexer.tokens
}

/// What the bytes at hand are. With no mode at all they are the code of the file.
#[derive(Clone, Copy)]
enum Mode<'s> {
    /// Code within `${}` or `%{}`, with this many braces open in it.
    Sequence { braces: usize },
    /// Text in quotes.
    Quoted,
    /// Text up to the line that holds only the marker.
    Heredoc { marker: &'s str },
}

struct Lexer<'s> {
    text: &'s str,
    /// The position reached, in bytes; always at the start of a character.
    at: usize,
    modes: Vec<Mode<'s>>,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s> {
    /// One token of code, with the space before it.
    fn code(&mut self) {
        let before = self.at;
        self.skip_space();
        let spaces = self.at - before;
        let (kind, length) = self.code_token();
        match kind {
            TokenKind::BraceOpen => {
                if let Some(Mode::Sequence { braces }) = self.modes.last_mut() {
                    *braces += 1;
                }
            }
            TokenKind::BraceClose => {
                if let Some(Mode::Sequence { braces }) = self.modes.last_mut() {
                    *braces = braces.saturating_sub(1);
                }
            }
            TokenKind::SequenceClose => {
                self.modes.pop();
            }
            TokenKind::QuoteOpen => self.modes.push(Mode::Quoted),
            TokenKind::HeredocOpen => {
                let opening = &self.text[self.at..self.at + length];
                let marker = opening.trim_start_matches("<<").trim_start_matches('-').trim_end();
                self.modes.push(Mode::Heredoc { marker });
            }
            _ => {}
        }
        self.push(kind, self.at + length, spaces);
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\r' if bytes.get(self.at + 1) != Some(&b'\n') => self.at += 1,
                _ => return,
            }
        }
    }

    /// What comes next in code, and its length in bytes.
    fn code_token(&self) -> (TokenKind, usize) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let Some(first) = rest.first() else { return (TokenKind::End, 0) };
        match (first, rest.get(1)) {
            (b'\n', _) => (TokenKind::Newline, 1),
            (b'\r', Some(b'\n')) => (TokenKind::Newline, 2),
            (b'#', _) | (b'/', Some(b'/')) => (TokenKind::Comment, length_with_line_end(rest)),
            (b'/', Some(b'*')) => {
                let length = self.text[self.at..].find("*/").map_or(rest.len(), |end| end + 2);
                (TokenKind::Comment, length)
            }
            (b'"', _) => (TokenKind::QuoteOpen, 1),
            (b'~', Some(b'}')) if self.sequence_ends_here() => (TokenKind::SequenceClose, 2),
            (b'}', _) if self.sequence_ends_here() => (TokenKind::SequenceClose, 1),
            (b'<', Some(b'<')) => match heredoc_opening_length(&self.text[self.at..]) {
                Some(length) => (TokenKind::HeredocOpen, length),
                None => (TokenKind::Operator, 1),
            },
            (b'0'..=b'9', _) => (TokenKind::Number, number_length(rest)),
            _ => symbol(rest).unwrap_or_else(|| self.word()),
        }
    }

    fn sequence_ends_here(&self) -> bool {
        matches!(self.modes.last(), Some(Mode::Sequence { braces: 0 }))
    }

    fn word(&self) -> (TokenKind, usize) {
        let rest = &self.text[self.at..];
        match name_length(rest) {
            0 => (TokenKind::Other, rest.chars().next().map_or(0, char::len_utf8)),
            length => (TokenKind::Name, length),
        }
    }

    /// Text up to a sequence or the closing quote, and that.
    fn quoted(&mut self) {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => {
                    self.push_text(end);
                    self.push(TokenKind::QuoteClose, end + 1, 0);
                    self.modes.pop();
                    return;
                }
                b'\\' => end += 1 + self.text[end + 1..].chars().next().map_or(0, char::len_utf8),
                b'$' | b'%' => match literal_mark_length(&bytes[end..]) {
                    Some(length) => end += length,
                    None => return self.open_sequence(end),
                },
                _ => end += 1,
            }
        }
        self.push_text(end);
    }

    /// Text up to a sequence or the closing line, and that.
    fn heredoc(&mut self, marker: &str) {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        // What follows a sequence is not the beginning of a line.
        let mut line_begins = self.tokens.last().is_some_and(|last| last.kind == TokenKind::HeredocOpen);
        while let Some(byte) = bytes.get(end) {
            if line_begins {
                let line = &self.text[end..end + length_of_line(&bytes[end..])];
                if line.trim() == marker {
                    self.push_text(end);
                    self.push(
                        TokenKind::HeredocClose,
                        end + line.strip_suffix('\r').unwrap_or(line).len(),
                        0,
                    );
                    self.modes.pop();
                    return;
                }
            }
            line_begins = *byte == b'\n';
            match byte {
                b'$' | b'%' => match literal_mark_length(&bytes[end..]) {
                    Some(length) => end += length,
                    None => return self.open_sequence(end),
                },
                _ => end += 1,
            }
        }
        self.push_text(end);
    }

    /// The text before `${` or `%{`, and that mark.
    fn open_sequence(&mut self, mark: usize) {
        self.push_text(mark);
        let length = if self.text.as_bytes().get(mark + 2) == Some(&b'~') { 3 } else { 2 };
        self.push(TokenKind::SequenceOpen, mark + length, 0);
        self.modes.push(Mode::Sequence { braces: 0 });
    }

    fn push_text(&mut self, end: usize) {
        if end > self.at {
            self.push(TokenKind::Text, end, 0);
        }
    }

    /// Adds what stands between the position reached and this one, and goes there.
    fn push(&mut self, kind: TokenKind, end: usize, spaces: usize) {
        let text = Cow::Borrowed(&self.text[self.at..end]);
        self.tokens.push(Token { kind, text, start: self.at, spaces });
        self.at = end;
    }
}

/// The operator, bracket or separator that the text begins with.
fn symbol(rest: &[u8]) -> Option<(TokenKind, usize)> {
    let found = match (rest.first()?, rest.get(1)) {
        (b'{', _) => (TokenKind::BraceOpen, 1),
        (b'}', _) => (TokenKind::BraceClose, 1),
        (b'[', _) => (TokenKind::BracketOpen, 1),
        (b']', _) => (TokenKind::BracketClose, 1),
        (b'(', _) => (TokenKind::ParenthesisOpen, 1),
        (b')', _) => (TokenKind::ParenthesisClose, 1),
        (b'.', Some(b'.')) if rest.get(2) == Some(&b'.') => (TokenKind::Ellipsis, 3),
        (b'.', _) => (TokenKind::Dot, 1),
        (b',', _) => (TokenKind::Comma, 1),
        (b':', Some(b':')) => (TokenKind::DoubleColon, 2),
        (b':', _) => (TokenKind::Colon, 1),
        (b'?', _) => (TokenKind::Question, 1),
        (b'=', Some(b'>')) => (TokenKind::Arrow, 2),
        (b'=' | b'!' | b'<' | b'>', Some(b'=')) | (b'&', Some(b'&')) | (b'|', Some(b'|')) => {
            (TokenKind::Operator, 2)
        }
        (b'=', _) => (TokenKind::Assign, 1),
        (b'!', _) => (TokenKind::Not, 1),
        (b'-', _) => (TokenKind::Minus, 1),
        (b'<' | b'>' | b'+' | b'*' | b'/' | b'%', _) => (TokenKind::Operator, 1),
        _ => return None,
    };
    Some(found)
}

/// The length of a `$` or `%` that is text, with what it escapes; none if it begins a sequence.
fn literal_mark_length(rest: &[u8]) -> Option<usize> {
    let mark = rest.first()?;
    match (rest.get(1), rest.get(2)) {
        (Some(b'{'), _) => None,
        (Some(second), Some(b'{')) if second == mark => Some(3),
        _ => Some(1),
    }
}

fn length_of_line(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

fn length_with_line_end(rest: &[u8]) -> usize {
    (length_of_line(rest) + 1).min(rest.len())
}

/// The length of `<<EOT` or `<<-EOT` with its line end, if that is what the text begins with.
fn heredoc_opening_length(rest: &str) -> Option<usize> {
    let marker = rest.strip_prefix("<<")?;
    let marker = marker.strip_prefix('-').unwrap_or(marker);
    let after = &marker[name_length(marker)..];
    let space = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
    let begins = after.len() < marker.len() && after.as_bytes().get(space) == Some(&b'\n');
    begins.then(|| rest.len() - after.len() + space + 1)
}

fn name_length(rest: &str) -> usize {
    let begins = rest.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    let in_name = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    if begins { rest.find(|char| !in_name(char)).unwrap_or(rest.len()) } else { 0 }
}

fn number_length(rest: &[u8]) -> usize {
    let digits_from = |from: usize| {
        let digits = rest.get(from..).unwrap_or_default();
        digits.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut length = digits_from(0);
    if rest.get(length) == Some(&b'.') && digits_from(length + 1) > 0 {
        length += 1 + digits_from(length + 1);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let digits = digits_from(length + 1 + sign);
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    length
}
