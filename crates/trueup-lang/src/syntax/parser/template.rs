//! Templates: text with interpolations and directives, in quotes or bare.
//!
//! A template is first read into a flat row of [`Piece`]s, then the strip markers (`~`) eat the space beside them, then
//! `directive` nests what stands between `%{if}` and `%{endif}`. Bare text is cut at the ends of lines, because a strip
//! marker reaches no further than its own line, and a flush heredoc looks at the beginning of each.

use smol_str::SmolStr;
use trueup_core::Diagnostic;

use super::{Newlines, Parse, Parser};
use crate::syntax::body::Name;
use crate::syntax::expression::{Expr, ExprKind, Literal, Template};

/// One element of a template before directives are nested.
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// `${~` or `%{~`: the text before loses its trailing space.
    strips_before: bool,
    /// `~}`: the text after loses its leading space.
    strips_after: bool,
}

pub(super) enum PieceKind {
    Text(String),
    Interpolation(Expr),
    If(Expr),
    Else,
    EndIf,
    For(Option<Name>, Name, Expr),
    EndFor,
}

/// Where bare text ends.
#[derive(Clone, Copy)]
pub(super) enum BareEnd<'m> {
    /// At the end of the text.
    Text,
    /// Before the line that holds nothing but this marker.
    Marker(&'m str),
}

impl Parser<'_> {
    /// A template in quotes, or a plain string.
    pub(super) fn quoted_template(&mut self) -> Parse<Expr> {
        let open = self.at;
        if let Some(length) = plain_length(&self.bytes()[open + 1..]) {
            let text = SmolStr::new(&self.text[open + 1..open + 1 + length]);
            self.at = open + 1 + length + 1;
            let kind = ExprKind::Literal(Literal::String(text));
            return Ok(Expr { kind, origin: self.origin_from(open) });
        }
        self.at += 1;
        let pieces = self.quoted_pieces(open)?;
        let kind = self.nested_template(pieces)?;
        Ok(Expr { kind, origin: self.origin_from(open) })
    }

    /// The whole text as a template.
    pub(super) fn plain_template(&mut self) -> Parse<Expr> {
        let pieces = self.bare_pieces(BareEnd::Text)?;
        let kind = self.nested_template(pieces)?;
        Ok(Expr { kind, origin: self.origin_from(0) })
    }

    /// Strips, nests, and recognises what is only text.
    pub(super) fn nested_template(&mut self, mut pieces: Vec<Piece>) -> Parse<ExprKind> {
        strip(&mut pieces);
        self.finished_template(pieces)
    }

    pub(super) fn finished_template(&mut self, pieces: Vec<Piece>) -> Parse<ExprKind> {
        if pieces.iter().all(|piece| matches!(piece.kind, PieceKind::Text(_))) {
            let texts = pieces.iter().map(|piece| match &piece.kind {
                PieceKind::Text(text) => text.as_str(),
                _ => "",
            });
            let text = texts.collect::<String>();
            return Ok(ExprKind::Literal(Literal::String(text.into())));
        }
        let parts = self.nest_directives(melded(pieces))?;
        Ok(ExprKind::Template(Box::new(Template { parts })))
    }

    /// After the opening quote, up to and with the closing one.
    fn quoted_pieces(&mut self, open: usize) -> Parse<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut text_start = self.at;
        loop {
            let from = self.at;
            while self.byte().is_some_and(|byte| !matches!(byte, b'"' | b'\\' | b'\n' | b'$' | b'%')) {
                self.at += 1;
            }
            text.push_str(&self.text[from..self.at]);
            match self.byte() {
                Some(b'"') => {
                    push_text(&mut pieces, text, text_start, self.at);
                    self.at += 1;
                    return Ok(pieces);
                }
                Some(b'\\') => self.escape(&mut text)?,
                Some(b'$' | b'%') => {
                    if self.starts_sequence() {
                        push_text(&mut pieces, std::mem::take(&mut text), text_start, self.at);
                        pieces.push(self.sequence()?);
                        text_start = self.at;
                    } else {
                        self.literal_mark(&mut text);
                    }
                }
                _ => return self.unterminated_string(open),
            }
        }
    }

    fn unterminated_string<T>(&mut self, open: usize) -> Parse<T> {
        let end = self.line_end(open);
        let diagnostic = Diagnostic::error("this string is not closed on its line")
            .hint("end it with a double quote; text of several lines is written as a heredoc: <<EOT");
        let result = self.fail(open, end, diagnostic);
        self.halted_at = end;
        result
    }

    /// Text without quotes, cut at the ends of lines.
    pub(super) fn bare_pieces(&mut self, end: BareEnd<'_>) -> Parse<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut text_start = self.at;
        let mut at_line_start = true;
        loop {
            if let (BareEnd::Marker(marker), true) = (end, at_line_start)
                && self.text[self.at..self.line_end(self.at)].trim() == marker
            {
                return Ok(pieces);
            }
            at_line_start = false;
            let from = self.at;
            while self.byte().is_some_and(|byte| !matches!(byte, b'\n' | b'$' | b'%')) {
                self.at += 1;
            }
            text.push_str(&self.text[from..self.at]);
            match self.byte() {
                None => {
                    push_text(&mut pieces, text, text_start, self.at);
                    return Ok(pieces);
                }
                Some(b'\n') => {
                    self.at += 1;
                    text.push('\n');
                    push_text(&mut pieces, std::mem::take(&mut text), text_start, self.at);
                    text_start = self.at;
                    at_line_start = true;
                }
                Some(_) if self.starts_sequence() => {
                    push_text(&mut pieces, std::mem::take(&mut text), text_start, self.at);
                    pieces.push(self.sequence()?);
                    text_start = self.at;
                }
                Some(_) => self.literal_mark(&mut text),
            }
        }
    }

    fn starts_sequence(&self) -> bool {
        self.byte_after(1) == Some(b'{')
    }

    /// `$${` and `%%{` stand for `${` and `%{`; any other `$` or `%` stands for itself.
    fn literal_mark(&mut self, text: &mut String) {
        let mark = &self.text[self.at..=self.at];
        if self.byte_after(1) == self.byte() && self.byte_after(2) == Some(b'{') {
            text.push_str(mark);
            text.push('{');
            self.at += 3;
        } else {
            text.push_str(mark);
            self.at += 1;
        }
    }

    /// `${…}` or `%{…}`.
    fn sequence(&mut self) -> Parse<Piece> {
        let start = self.at;
        let interpolates = self.byte() == Some(b'$');
        self.at += 2;
        let strips_before = self.take("~");
        let kind = self.with_newlines(Newlines::Ignored, |parser| {
            if interpolates { parser.expression().map(PieceKind::Interpolation) } else { parser.directive() }
        })?;
        let strips_after = self.with_newlines(Newlines::Ignored, |parser| {
            parser.skip();
            let strips_after = parser.take("~");
            if !parser.take("}") {
                let found = parser.found();
                let opening = if interpolates { "${" } else { "%{" };
                return parser.fail_here(
                    Diagnostic::error(format!("expected `}}` to end what `{opening}` begins, found {found}"))
                        .hint(format!("to have `{opening}` as text, double its first character")),
                );
            }
            Ok(strips_after)
        })?;
        Ok(Piece { kind, start, end: self.at, strips_before, strips_after })
    }

    /// A backslash and what it stands for.
    fn escape(&mut self, text: &mut String) -> Parse<()> {
        let start = self.at;
        let plain = match self.byte_after(1) {
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(b'"') => Some('"'),
            Some(b'\\') => Some('\\'),
            _ => None,
        };
        if let Some(plain) = plain {
            text.push(plain);
            self.at += 2;
            return Ok(());
        }
        let digits = match self.byte_after(1) {
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let code = self.text.get(start + 2..start + 2 + digits).filter(|code| !code.is_empty());
        let char = code
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|code| u32::from_str_radix(code, 16).ok())
            .and_then(char::from_u32);
        if let Some(char) = char {
            text.push(char);
            self.at += 2 + digits;
            return Ok(());
        }
        let escaped = self.text[start + 1..].chars().next().filter(|char| *char != '\n');
        let end = start + 1 + escaped.map_or(0, char::len_utf8);
        let hint = match digits {
            0 => {
                "known are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN; a backslash itself is written \\\\"
            }
            4 => "\\u is followed by the four hexadecimal digits of a character",
            _ => "\\U is followed by the eight hexadecimal digits of a character",
        };
        let result = self.fail(start, end, Diagnostic::error("this escape means nothing").hint(hint));
        self.halted_at = self.line_end(start);
        result
    }
}

/// The length of a string up to its closing quote, if nothing in it needs a closer look.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => return Some(at),
            b'\\' | b'\n' => return None,
            b'$' | b'%' if matches!(bytes.get(at + 1), Some(next) if next == byte || *next == b'{') => {
                return None;
            }
            _ => {}
        }
    }
    None
}

fn push_text(pieces: &mut Vec<Piece>, text: String, start: usize, end: usize) {
    if !text.is_empty() {
        pieces.push(Piece {
            kind: PieceKind::Text(text),
            start,
            end,
            strips_before: false,
            strips_after: false,
        });
    }
}

/// Joins texts that follow each other.
fn melded(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (&piece.kind, joined.last_mut()) {
            (PieceKind::Text(text), Some(Piece { kind: PieceKind::Text(before), end, .. })) => {
                before.push_str(text);
                *end = piece.end;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// Takes the space beside strip markers away. What is left empty stays, so that the template stays text.
pub(super) fn strip(pieces: &mut [Piece]) {
    for at in 0..pieces.len() {
        let (strips_before, strips_after) = (pieces[at].strips_before, pieces[at].strips_after);
        if strips_before
            && at > 0
            && let PieceKind::Text(text) = &mut pieces[at - 1].kind
        {
            text.truncate(text.trim_end().len());
        }
        if strips_after && let Some(Piece { kind: PieceKind::Text(text), .. }) = pieces.get_mut(at + 1) {
            let leading = text.len() - text.trim_start().len();
            text.drain(..leading);
        }
    }
}
