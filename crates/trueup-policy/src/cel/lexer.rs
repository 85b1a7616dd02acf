//! Text → tokens.

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::error::{CelError, Span};
use super::literal;

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind {
    Name(SmolStr),
    /// The magnitude of an `int`; a sign is a token of its own.
    Int(u64),
    Uint(u64),
    Double(f64),
    String(SmolStr),
    Bytes(Arc<[u8]>),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// `true`, `false`, `null` or `in`.
    Keyword(&'static str),
    End,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Name(name) => write!(f, "`{name}`"),
            TokenKind::Int(_) | TokenKind::Uint(_) | TokenKind::Double(_) => f.write_str("a number"),
            TokenKind::String(_) => f.write_str("a string"),
            TokenKind::Bytes(_) => f.write_str("bytes"),
            TokenKind::Symbol(text) | TokenKind::Keyword(text) => write!(f, "`{text}`"),
            TokenKind::End => f.write_str("the end"),
        }
    }
}

/// Longer symbols first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
    "+", "*", "/", "%", "`",
];

const KEYWORDS: [&str; 4] = ["true", "false", "null", "in"];

/// All tokens of a text; the last one is `End`.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, CelError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.token()?;
        let done = kind == TokenKind::End;
        tokens.push(Token { kind, span: Span::new(start, lexer.at) });
        if done {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips whitespace and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn token(&mut self) -> Result<TokenKind, CelError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(TokenKind::End) };
        if let Some((prefix, quoted)) = literal::quoted_start(rest) {
            return self.quoted(prefix, quoted);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(self.word());
        }
        let second = rest.as_bytes().get(1);
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(u8::is_ascii_digit)) {
            return self.number();
        }
        match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => {
                self.at += symbol.len();
                Ok(TokenKind::Symbol(symbol))
            }
            None => Err(self.stray(first)),
        }
    }

    /// A character that no token starts with.
    fn stray(&self, character: char) -> CelError {
        let span = Span::new(self.at, self.at + character.len_utf8());
        let error = CelError::new(span, format!("unexpected character `{}`", character.escape_debug()));
        match character {
            '=' => error.hint("compare with `==`"),
            '&' => error.hint("combine conditions with `&&`"),
            '|' => error.hint("combine conditions with `||`"),
            '“' | '”' | '‘' | '’' => error.hint("quote strings with `\"` or `'`"),
            _ => error,
        }
    }

    fn word(&mut self) -> TokenKind {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += length;
        let word = &rest[..length];
        match KEYWORDS.iter().find(|keyword| **keyword == word) {
            Some(keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Name(SmolStr::new(word)),
        }
    }

    fn number(&mut self) -> Result<TokenKind, CelError> {
        let (length, number) = literal::number(self.rest());
        let span = Span::new(self.at, self.at + length);
        self.at += length;
        number.ok_or_else(|| CelError::new(span, "number out of range").hint("integers have 64 bits"))
    }

    fn quoted(&mut self, prefix: literal::Prefix, quote: &'static str) -> Result<TokenKind, CelError> {
        let start = self.at;
        self.at += prefix.length + quote.len();
        let content = self.at;
        let escapes = !prefix.raw;
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else { return Err(self.unclosed(start, quote)) };
            if rest.starts_with(quote) {
                break;
            }
            if quote.len() == 1 && matches!(next, '\n' | '\r') {
                return Err(self
                    .unclosed(start, quote)
                    .hint("a string with line breaks stands in three quotes, or has `\\n` in their place"));
            }
            self.at += next.len_utf8();
            if next == '\\' && escapes {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            }
        }
        let inner = &self.text[content..self.at];
        self.at += quote.len();
        let bytes = literal::unescape(inner, prefix).map_err(|wrong| {
            let at = content + wrong.at;
            CelError::new(Span::new(at, at + wrong.length), wrong.message)
        })?;
        if prefix.bytes {
            return Ok(TokenKind::Bytes(bytes.into()));
        }
        let text = String::from_utf8(bytes).expect("escapes in strings are code points");
        Ok(TokenKind::String(text.into()))
    }

    fn unclosed(&self, start: usize, quote: &str) -> CelError {
        CelError::new(Span::new(start, self.at), format!("missing the closing {quote} of a string"))
    }
}
