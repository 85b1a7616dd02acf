//! From tokens back to text.

use super::token::Token;

/// The text of all tokens with the space before them; none if it has more bytes than this.
pub(super) fn written(tokens: &[Token<'_>], bytes_max: usize) -> Option<String> {
    // A single long line can push thousands of others to the right, so the size is looked at before room is taken.
    let bytes = tokens
        .iter()
        .fold(0_usize, |bytes, token| bytes.saturating_add(token.spaces).saturating_add(token.text.len()));
    if bytes > bytes_max {
        return None;
    }
    let mut text = String::with_capacity(bytes);
    for token in tokens {
        text.extend(std::iter::repeat_n(' ', token.spaces));
        text.push_str(&token.text);
    }
    Some(text)
}
