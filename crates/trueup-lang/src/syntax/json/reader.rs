//! JSON text to expressions, with places.
//!
//! A reader of our own, because places are needed for every value and key, and JSON libraries give none.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, FileId, Number, Origin};

use crate::limits::deep_at;
use crate::syntax::expression::{Expr, ExprKind, Literal, ObjectItem, ObjectKey};
use crate::syntax::parser::{DEPTH_MAX, parse_template_at};

/// The strings of a document that are texts and no templates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// All of them.
    Everywhere,
    /// Those that are read before anything has a value: defaults and descriptions.
    OfDeclarations,
}

/// Attributes whose strings are texts: a block with one label, and the attribute.
const DECLARED_TEXTS: [[&str; 2]; 3] =
    [["variable", "default"], ["variable", "description"], ["output", "description"]];

/// The expression that a JSON document stands for, or `None` where it is no JSON.
pub(super) fn read(text: &str, file: FileId, texts: Texts, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let mut reader = Reader { text, at: 0, file, keys: Vec::new(), texts, depth: 0, diagnostics };
    let value = reader.value()?;
    reader.skip();
    if reader.at < text.len() {
        return reader.fail_here("expected the end of the file after the value");
    }
    Some(value)
}

pub(super) fn error(origin: Origin, summary: String) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(summary);
    diagnostic.origin = Some(origin);
    diagnostic
}

struct Reader<'s, 'd> {
    text: &'s str,
    at: usize,
    file: FileId,
    texts: Texts,
    /// The keys of the objects around, the outermost first.
    keys: Vec<String>,
    depth: usize,
    diagnostics: &'d mut Diagnostics,
}

impl Reader<'_, '_> {
    fn value(&mut self) -> Option<Expr> {
        self.skip();
        let start = self.at;
        let kind = match self.byte() {
            Some(b'{') => self.deeper(Self::object)?,
            Some(b'[') => self.deeper(Self::array)?,
            Some(b'"') => {
                let text = self.string()?;
                return Some(self.template(&text, start));
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.take("true") => ExprKind::Literal(Literal::Bool(true)),
            _ if self.take("false") => ExprKind::Literal(Literal::Bool(false)),
            _ if self.take("null") => ExprKind::Literal(Literal::Null),
            _ => return self.fail_here("expected a JSON value"),
        };
        Some(Expr { kind, origin: self.origin(start, self.at) })
    }

    fn deeper(&mut self, inside: impl FnOnce(&mut Self) -> Option<ExprKind>) -> Option<ExprKind> {
        if self.depth == DEPTH_MAX {
            return self.fail_here(&format!("nests deeper than {DEPTH_MAX} levels"));
        }
        self.depth += 1;
        let result = deep_at(self.depth, || inside(self));
        self.depth -= 1;
        result
    }

    fn object(&mut self) -> Option<ExprKind> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip();
        if self.take("}") {
            return Some(ExprKind::Object(items));
        }
        loop {
            self.skip();
            if self.byte() != Some(b'"') {
                return self.fail_here("expected a key in double quotes");
            }
            let start = self.at;
            let text = self.string()?;
            let key = ObjectKey::Expr(self.template(&text, start));
            self.skip();
            if !self.take(":") {
                return self.fail_here("expected `:` and a value after the key");
            }
            self.keys.push(text);
            let value = self.value()?;
            self.keys.pop();
            items.push(ObjectItem { key, value });
            self.skip();
            if self.take("}") {
                return Some(ExprKind::Object(items));
            }
            if !self.take(",") {
                return self.fail_here("expected `,` or `}` after an entry of the object");
            }
        }
    }

    fn array(&mut self) -> Option<ExprKind> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip();
        if self.take("]") {
            return Some(ExprKind::Tuple(items));
        }
        loop {
            items.push(self.value()?);
            self.skip();
            if self.take("]") {
                return Some(ExprKind::Tuple(items));
            }
            if !self.take(",") {
                return self.fail_here("expected `,` or `]` after an element of the array");
            }
        }
    }

    /// A string is a template, unless it is a text where it stands. A template that is none is told, and stands for its own
    /// text.
    fn template(&mut self, text: &str, start: usize) -> Expr {
        let origin = self.origin(start, self.at);
        if (!text.contains("${") && !text.contains("%{")) || self.is_within_text() {
            return Expr { kind: ExprKind::Literal(Literal::String(SmolStr::new(text))), origin };
        }
        match parse_template_at(text, origin) {
            Ok(template) => Expr { kind: template.kind, origin },
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                Expr { kind: ExprKind::Literal(Literal::String(SmolStr::new(text))), origin }
            }
        }
    }

    /// Whether strings are texts here.
    fn is_within_text(&self) -> bool {
        let declared = || match self.keys.as_slice() {
            [block, _, attribute, ..] => DECLARED_TEXTS.contains(&[block, attribute]),
            _ => false,
        };
        self.texts == Texts::Everywhere || declared()
    }

    fn number(&mut self) -> Option<ExprKind> {
        let start = self.at;
        while matches!(self.byte(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        match self.text[start..self.at].parse::<Number>() {
            Ok(number) => Some(ExprKind::Literal(Literal::Number(number))),
            Err(problem) => {
                let origin = self.origin(start, self.at);
                self.diagnostics.push(error(origin, format!("this {problem}")));
                None
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let from = self.at;
            while self.byte().is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            text.push_str(&self.text[from..self.at]);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Some(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => {
                    let origin = self.origin(start, self.at);
                    self.diagnostics.push(error(origin, "this string is not closed on its line".to_owned()));
                    return None;
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        let simple = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => Some('"'),
            Some(b'\\') => Some('\\'),
            Some(b'/') => Some('/'),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            _ => None,
        };
        if simple.is_some() {
            self.at += 2;
            return simple;
        }
        let unit = self.unit();
        let char = match unit {
            Some(high @ 0xD800..=0xDBFF) => {
                let low = self.unit();
                let pair = low.map(|low| char::decode_utf16([high, low]).next());
                pair.flatten().and_then(Result::ok)
            }
            Some(unit) => char::from_u32(u32::from(unit)),
            None => None,
        };
        if char.is_none() {
            let end = (start + 2).min(self.text.len());
            let end = (start..=end).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(start);
            let origin = self.origin(start, end);
            self.diagnostics.push(error(origin, "this escape means nothing in JSON".to_owned()));
        }
        char
    }

    /// `\uNNNN`.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..)?.strip_prefix("\\u")?.get(..4)?;
        let all_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let unit = u16::from_str_radix(digits, 16).ok().filter(|_| all_hexadecimal)?;
        self.at += 6;
        Some(unit)
    }

    fn skip(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    fn origin(&self, start: usize, end: usize) -> Origin {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Origin { file: self.file, start: place(start), end: place(end) }
    }

    fn fail_here<T>(&mut self, message: &str) -> Option<T> {
        let next = self.text[self.at..].chars().next();
        let found = match next {
            None => "the end of the file".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(char) => format!("`{char}`"),
        };
        let length = next.map_or(0, char::len_utf8);
        let origin = self.origin(self.at, self.at + length);
        self.diagnostics.push(error(origin, format!("{message}, found {found}")));
        None
    }
}
