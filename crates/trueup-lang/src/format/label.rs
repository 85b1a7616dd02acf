//! Labels of blocks, in quotes and with the escapes that they need.

use std::borrow::Cow;
use std::fmt::Write;

use super::rewrite::inserted;
use super::token::{Token, TokenKind};
use crate::syntax::Label;

/// Adds the label in quotes. What it replaces tells the place, and is used again where it is what we would write.
pub(super) fn push_quoted<'s>(label: &Label, replaced: &[Token<'s>], result: &mut Vec<Token<'s>>) {
    let Some(first) = replaced.first() else { return };
    let escaped = escaped(&label.text);
    let as_written = replaced.iter().find(|token| token.text == escaped.as_str());
    let text = as_written.map_or(Cow::Owned(escaped), |token| token.text.clone());
    result.push(inserted(TokenKind::QuoteOpen, "\"", first.start));
    if !text.is_empty() {
        result.push(inserted(TokenKind::Text, text, first.start));
    }
    result.push(inserted(TokenKind::QuoteClose, "\"", first.start));
}

/// A text as it stands between quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '$' | '%' if chars.peek() == Some(&'{') => result.extend([char, char]),
            visible if is_visible(visible) => result.push(visible),
            hidden => {
                let code = u32::from(hidden);
                // Writing to a string does not fail.
                let _ = if code < 0x1_0000 {
                    write!(result, "\\u{code:04x}")
                } else {
                    write!(result, "\\U{code:08x}")
                };
            }
        }
    }
    result
}

/// Whether a character shows on a screen, as those that combine with others do.
fn is_visible(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_control();
    }
    // The standard library knows, but says so only of characters on their way into a debug text, and there of those
    // that combine only behind another.
    format!("a{char}").escape_debug().count() == 2
}
