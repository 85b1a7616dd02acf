//! Literals of numbers, strings and bytes.

use super::lexer::TokenKind;

/// The letters before the quote of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) bytes: bool,
    pub(super) raw: bool,
    pub(super) length: usize,
}

/// An escape sequence that is none, at a byte within the quotes.
pub(super) struct BadEscape {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) message: String,
}

/// The prefix and the opening quote, if a string or bytes start here.
pub(super) fn quoted_start(text: &str) -> Option<(Prefix, &'static str)> {
    let bytes = text.starts_with(['b', 'B']);
    let after_bytes = &text[usize::from(bytes)..];
    let raw = after_bytes.starts_with(['r', 'R']);
    let length = usize::from(bytes) + usize::from(raw);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text[length..].starts_with(quote))?;
    Some((Prefix { bytes, raw, length }, quote))
}

/// The number at the start of a text, with its length in bytes. `None` if it has more than 64 bits.
pub(super) fn number(text: &str) -> (usize, Option<TokenKind>) {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned_suffix = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b'u' | b'U'));
    let hexadecimal =
        text.strip_prefix("0x").map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_hexdigit).count());
    let integer = |digits: &str, radix: u32, end: usize| {
        let value = u64::from_str_radix(digits, radix).ok();
        match unsigned_suffix(end) {
            true => (end + 1, value.map(TokenKind::Uint)),
            false => (end, value.map(TokenKind::Int)),
        }
    };
    if hexadecimal > 0 {
        let end = 2 + hexadecimal;
        return integer(&text[2..end], 16, end);
    }
    let whole = digits(0);
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    if end == whole {
        return integer(&text[..end], 10, end);
    }
    (end, text[..end].parse().ok().filter(|value: &f64| value.is_finite()).map(TokenKind::Double))
}

/// The content of a string or of bytes. In a string, escapes stand for code points; in bytes, for octets.
pub(super) fn unescape(inner: &str, prefix: Prefix) -> Result<Vec<u8>, BadEscape> {
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(next) = rest.chars().next() {
        let at = inner.len() - rest.len();
        if next == '\\' && !prefix.raw {
            let length = escape(&rest[1..], prefix.bytes, &mut out).ok_or_else(|| {
                let shown: String = rest.chars().take(2).collect();
                BadEscape { at, length: shown.len(), message: format!("invalid escape sequence `{shown}`") }
            })?;
            rest = &rest[1 + length..];
            continue;
        }
        // A line break is `\n`, however the file writes it.
        if next == '\r' {
            out.push(b'\n');
            rest = rest[1..].strip_prefix('\n').unwrap_or(&rest[1..]);
            continue;
        }
        out.extend_from_slice(&rest.as_bytes()[..next.len_utf8()]);
        rest = &rest[next.len_utf8()..];
    }
    Ok(out)
}

/// Decodes the escape sequence after a backslash and returns its length.
fn escape(text: &str, bytes: bool, out: &mut Vec<u8>) -> Option<usize> {
    let first = *text.as_bytes().first()?;
    let (start, digits, radix) = match first {
        b'x' | b'X' => (1, 2, 16),
        b'u' if !bytes => (1, 4, 16),
        b'U' if !bytes => (1, 8, 16),
        b'0'..=b'3' => (0, 3, 8),
        _ => {
            out.push(match first {
                b'a' => 0x07,
                b'b' => 0x08,
                b'f' => 0x0c,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 0x0b,
                b'\\' | b'?' | b'"' | b'\'' | b'`' => first,
                _ => return None,
            });
            return Some(1);
        }
    };
    let code = text.get(start..start + digits)?;
    if !code.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(code, radix).ok()?;
    match bytes {
        true => out.push(u8::try_from(code).ok()?),
        false => out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    Some(start + digits)
}
