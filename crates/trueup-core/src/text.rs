//! Writing and reading names and quoted strings, shared by values, paths and addresses.

use std::fmt;

/// Whether a text can stand bare as a name: a letter or `_`, then letters, digits, `_` and `-`.
pub fn is_identifier(text: &str) -> bool {
    begins_name(text) && name_length(text) == text.len()
}

fn begins_name(text: &str) -> bool {
    text.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_')
}

fn is_in_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '-'
}

/// How many bytes from the start may be part of a name.
fn name_length(text: &str) -> usize {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let plain = text.bytes().take_while(is_plain).count();
    let rest = &text[plain..];
    // Most names are plain; only others are looked at letter by letter.
    if rest.as_bytes().first().is_none_or(u8::is_ascii) {
        return plain;
    }
    plain + rest.find(|char| !is_in_name(char)).unwrap_or(rest.len())
}

/// Displays a text in double quotes, with escapes that [`Scanner::quoted`] reads back.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for char in self.0.chars() {
            match char {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Reads the small grammars of paths and addresses from left to right.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner { text, at: 0 }
    }

    /// The byte offset reached, for error messages.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Takes this text if it comes next.
    pub(crate) fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes the identifier that comes next.
    pub(crate) fn identifier(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = name_length(rest);
        let name = &rest[..end];
        begins_name(name).then(|| {
            self.at += end;
            name
        })
    }

    /// Takes the whole number that comes next, in its shortest form.
    pub(crate) fn index(&mut self) -> Option<u64> {
        let rest = self.rest();
        let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[..end];
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        let index = digits.parse().ok()?;
        self.at += end;
        Some(index)
    }

    /// Takes the quoted string that comes next.
    pub(crate) fn quoted(&mut self) -> Option<String> {
        let mut chars = self.rest().strip_prefix('"')?.char_indices();
        let mut text = String::new();
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => {
                    self.at += 1 + at + 1;
                    return Some(text);
                }
                '\\' => text.push(escape(&mut chars)?),
                other => text.push(other),
            }
        }
        None
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    match chars.next()?.1 {
        '"' => Some('"'),
        '\\' => Some('\\'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            chars.next().filter(|(_, char)| *char == '{')?;
            let mut code = 0u32;
            for (_, char) in chars.by_ref() {
                if char == '}' {
                    return char::from_u32(code);
                }
                code = code.checked_mul(16)?.checked_add(char.to_digit(16)?)?;
            }
            None
        }
        _ => None,
    }
}
