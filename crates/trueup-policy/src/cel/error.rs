//! Errors, each with its place in the expression.

use std::borrow::Cow;
use std::fmt;

/// A range of bytes in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: narrow(start), end: narrow(end) }
    }

    pub(super) fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}

/// An expression that can't be compiled or evaluated. One pointer in size, as results pass it up many levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CelError(Box<Details>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Details {
    message: String,
    hint: Option<Cow<'static, str>>,
    span: Span,
}

impl CelError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        CelError(Box::new(Details { message: message.into(), hint: None, span }))
    }

    pub(super) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The problem, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// A way to fix it, if one is known.
    pub fn fix(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Line and column in `text`, the expression that failed. Both count from 1; columns count characters.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let before = &text[..boundary(text, self.0.span.start)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
    }

    /// The line of `text` that failed, with carets below the place.
    pub fn excerpt(&self, text: &str) -> String {
        let start = boundary(text, self.0.span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = &text[line_start..line_end];
        let end = boundary(text, self.0.span.end).clamp(start, line_end);
        let number = self.position(text).0.to_string();
        let gutter = " ".repeat(number.len());
        // Tabs stay tabs, so that the carets stand below the place whatever a tab's width.
        let indent: String =
            text[line_start..start].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(text[start..end].chars().count().max(1));
        let source = format!("{number} | {line}");
        format!("{gutter} |\n{}\n{gutter} | {indent}{carets}", source.trim_end())
    }
}

impl fmt::Display for CelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for CelError {}

/// A place in `text` that cuts no character in two.
fn boundary(text: &str, at: u32) -> usize {
    let mut at = (at as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
