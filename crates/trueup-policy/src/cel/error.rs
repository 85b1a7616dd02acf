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
    /// The message without the values that it quotes, if it quotes any.
    valueless: Option<&'static str>,
    kind: Kind,
    hint: Option<Cow<'static, str>>,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Failed,
    /// Not known yet.
    Unknown,
    /// Nothing may ignore it: whatever follows would go on spending.
    OutOfSteps,
}

/// More than anyone reads.
const MESSAGE_BYTES_MAX: usize = 1000;

impl CelError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        let (mut message, kind) = (message.into(), Kind::Failed);
        // It may quote a text that the expression made.
        if message.len() > MESSAGE_BYTES_MAX {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
            message.push('…');
        }
        CelError(Box::new(Details { message, valueless: None, kind, hint: None, span }))
    }

    /// The outcome of an expression that needs an unknown value.
    #[cold]
    pub(super) fn unknown(span: Span) -> Self {
        let mut error = CelError::new(span, "the value is not known yet");
        error.0.kind = Kind::Unknown;
        error
    }

    pub(super) fn out_of_steps(mut self) -> Self {
        self.0.kind = Kind::OutOfSteps;
        self
    }

    /// Says what is left of the message without the values that it quotes.
    pub(super) fn without_values(mut self, valueless: &'static str) -> Self {
        self.0.valueless = Some(valueless);
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The problem, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The problem, in one line that quotes nothing but the expression itself: for values that must not be shown.
    pub fn message_without_values(&self) -> &str {
        self.0.valueless.unwrap_or(&self.0.message)
    }

    /// Whether the expression can't be decided because it needs a value that is not known yet.
    pub fn is_unknown(&self) -> bool {
        self.0.kind == Kind::Unknown
    }

    /// Whether the budget of steps is used up.
    pub fn is_out_of_steps(&self) -> bool {
        self.0.kind == Kind::OutOfSteps
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
