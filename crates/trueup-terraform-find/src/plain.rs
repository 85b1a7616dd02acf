//! Texts in HCL's form that hold values and no expressions: Terraform's CLI configuration and lock files.
//!
//! The first is written in an older form of the language than programs are (a key may be quoted, a block may be a value),
//! so their parser does not read it; this one reads both, and JSON where it says the same.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

/// How deep blocks and lists may nest.
const DEPTH_MAX: usize = 32;

/// What stands behind a key.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Plain {
    /// Text, or a number or bool as it was written.
    Text(String),
    /// `[…]`
    List(Vec<Plain>),
    /// `{…}`
    Block(Vec<Entry>),
}

/// `key = value`, or `key "label" { … }`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) labels: Vec<String>,
    pub(crate) value: Plain,
    /// The line on which it begins.
    pub(crate) line: usize,
}

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub(crate) struct PlainError {
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Plain {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Plain::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_block(&self) -> Option<&[Entry]> {
        match self {
            Plain::Block(entries) => Some(entries),
            _ => None,
        }
    }

    /// The texts of a list of texts.
    pub(crate) fn as_texts(&self) -> Option<Vec<String>> {
        match self {
            Plain::List(items) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
            _ => None,
        }
    }
}

/// Reads a text.
pub(crate) fn read(text: &str) -> Result<Vec<Entry>, PlainError> {
    let mut reader = Reader { text, rest: text.char_indices().peekable(), depth: 0 };
    reader.blanks()?;
    // JSON has braces around everything.
    let whole = reader.takes('{');
    let entries = reader.entries()?;
    if whole {
        reader.expect('}')?;
        reader.blanks()?;
    }
    match reader.peek() {
        None => Ok(entries),
        Some(char) => Err(reader.wrong(format!("{} is not expected here", Told(char)))),
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
    depth: usize,
}

/// A character as a message shows it.
struct Told(char);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_default())
    }
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, char)| *char)
    }

    fn place(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn line(&mut self) -> usize {
        let place = self.place();
        self.text[..place].matches('\n').count() + 1
    }

    fn wrong(&mut self, what: impl Into<String>) -> PlainError {
        PlainError { line: self.line(), what: what.into() }
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.rest.next_if(|(_, char)| *char == wanted).is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), PlainError> {
        self.blanks()?;
        match self.takes(wanted) {
            true => Ok(()),
            false => Err(self.wrong(format!("{} is missing", Told(wanted)))),
        }
    }

    /// Passes over blanks, ends of lines and comments.
    fn blanks(&mut self) -> Result<(), PlainError> {
        while let Some(char) = self.peek() {
            match char {
                _ if char.is_whitespace() || char == '\u{feff}' => {
                    self.rest.next();
                }
                '#' => self.line_comment(),
                '/' => {
                    let behind = self.place() + 1;
                    let behind = self.text.as_bytes().get(behind);
                    match behind {
                        Some(b'/') => self.line_comment(),
                        Some(b'*') => self.comment()?,
                        _ => return Ok(()),
                    }
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn line_comment(&mut self) {
        while self.rest.next_if(|(_, char)| *char != '\n').is_some() {}
    }

    fn comment(&mut self) -> Result<(), PlainError> {
        let start = self.place();
        let Some(length) = self.text[start + 2..].find("*/") else {
            return Err(self.wrong("this comment has no end"));
        };
        let end = start + 2 + length + 2;
        while self.rest.next_if(|(at, _)| *at < end).is_some() {}
        Ok(())
    }

    /// Entries until something else comes.
    fn entries(&mut self) -> Result<Vec<Entry>, PlainError> {
        let mut found = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                None | Some('}') => return Ok(found),
                Some(_) => found.push(self.entry()?),
            }
            self.blanks()?;
            self.takes(',');
        }
    }

    fn entry(&mut self) -> Result<Entry, PlainError> {
        let line = self.line();
        let key = self.key()?;
        let mut labels = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some('=' | ':') => {
                    self.rest.next();
                    self.blanks()?;
                    return Ok(Entry { key, labels, value: self.value()?, line });
                }
                Some('{') => return Ok(Entry { key, labels, value: self.value()?, line }),
                _ => labels.push(self.key()?),
            }
        }
    }

    fn key(&mut self) -> Result<String, PlainError> {
        match self.peek() {
            Some('"') => self.quoted(),
            Some(char) if is_word(char) => Ok(self.word()),
            Some(char) => Err(self.wrong(format!("a name is expected here, not {}", Told(char)))),
            None => Err(self.wrong("the text ends too early")),
        }
    }

    fn word(&mut self) -> String {
        let start = self.place();
        while self.rest.next_if(|(_, char)| is_word(*char)).is_some() {}
        let end = self.place();
        self.text[start..end].to_owned()
    }

    fn value(&mut self) -> Result<Plain, PlainError> {
        if self.depth == DEPTH_MAX {
            return Err(self.wrong("this nests too deeply"));
        }
        self.depth += 1;
        let value = match self.peek() {
            Some('{') => {
                self.rest.next();
                let entries = self.entries()?;
                self.expect('}')?;
                Plain::Block(entries)
            }
            Some('[') => {
                self.rest.next();
                self.list()?
            }
            Some('"') => Plain::Text(self.quoted()?),
            Some(char) if is_word(char) => Plain::Text(self.word()),
            Some(char) => return Err(self.wrong(format!("a value is expected here, not {}", Told(char)))),
            None => return Err(self.wrong("the text ends too early")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<Plain, PlainError> {
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.takes(']') {
                return Ok(Plain::List(items));
            }
            items.push(self.value()?);
            self.blanks()?;
            if !self.takes(',') {
                self.expect(']')?;
                return Ok(Plain::List(items));
            }
        }
    }

    fn quoted(&mut self) -> Result<String, PlainError> {
        let line = self.line();
        let unended = || PlainError { line, what: "this text has no end".to_owned() };
        self.rest.next();
        let mut text = String::new();
        loop {
            match self.rest.next().ok_or_else(unended)?.1 {
                '"' => return Ok(text),
                '\n' => return Err(unended()),
                '\\' => text.push(self.escaped(line)?),
                char => text.push(char),
            }
        }
    }

    fn escaped(&mut self, line: usize) -> Result<char, PlainError> {
        let wrong = || PlainError { line, what: "this is no escape sequence".to_owned() };
        let coded = |this: &mut Self, digits: usize| {
            let code: String = this.rest.by_ref().take(digits).map(|(_, char)| char).collect();
            u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).ok_or_else(wrong)
        };
        match self.rest.next().ok_or_else(wrong)?.1 {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            char @ ('"' | '\\' | '/') => Ok(char),
            'u' => coded(self, 4),
            'U' => coded(self, 8),
            _ => Err(wrong()),
        }
    }
}

/// Also what stands in numbers.
fn is_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '+')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Plain {
        Plain::Text(text.to_owned())
    }

    #[test]
    fn the_older_form_and_json_are_read() {
        let hcl = "# why\nouter {\n  inner \"label\" {\n    \"quoted/key\" = \"a \\\"b\\\"\"\n    on = true /* so */\n  }\n}";
        let json = r#"{ "outer": { "inner": { "label": { "on": true } } } }"#;
        let read_hcl = read(hcl).unwrap();
        let inner = &read_hcl[0].value.as_block().unwrap()[0];
        assert_eq!(
            (inner.key.as_str(), inner.labels.as_slice(), inner.line),
            ("inner", &["label".to_owned()][..], 3)
        );
        let entries = inner.value.as_block().unwrap();
        assert_eq!((entries[0].key.as_str(), &entries[0].value), ("quoted/key", &text("a \"b\"")));
        assert_eq!(entries[1].value, text("true"));
        assert_eq!(read(json).unwrap()[0].key, "outer");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, expected: &str| assert_eq!(read(text).unwrap_err().to_string(), expected);
        check("a = 1\nb = {", "line 2: `}` is missing");
        check("a = \"x\nb", "line 1: this text has no end");
        check("a = 1 }", "line 1: `}` is not expected here");
        check("\n= 1", "line 2: a name is expected here, not `=`");
        check("a = [1 2]", "line 1: `]` is missing");
        check("/* a", "line 1: this comment has no end");
        check(&"a = [".repeat(100), "line 1: `]` is missing");
        check(&format!("a = {}", "[".repeat(100)), "line 1: this nests too deeply");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a\"{}\\[\\]=, \n\\\\/*#:u0]{0,60}|.{0,60}") {
            let _ = read(&text);
        }
    }
}
