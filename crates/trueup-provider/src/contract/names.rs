//! Names of fields that the compiler checks.

use std::fmt;
use std::marker::PhantomData;

use smol_str::SmolStr;

/// A field of the struct `Of`, by its name in programs: `File::FIELDS.path`. It stands wherever a name of an input or
/// output does, and a slip in it does not compile.
pub struct Field<Of> {
    name: &'static str,
    of: PhantomData<fn() -> Of>,
}

impl<Of> Field<Of> {
    /// The field of this name. Derived code calls it, with names that exist.
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Self {
        Field { name, of: PhantomData }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<Of> Clone for Field<Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Of> Copy for Field<Of> {}

impl<Of> AsRef<str> for Field<Of> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<Of> From<Field<Of>> for SmolStr {
    fn from(field: Field<Of>) -> Self {
        SmolStr::new_static(field.name)
    }
}

impl<Of> fmt::Debug for Field<Of> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<Of> fmt::Display for Field<Of> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Fails the build if an output mirrors an input that there is not: called while constants are evaluated.
pub(crate) const fn check_mirrors(inputs: &[&str], mirrors: &[(&str, &str)]) {
    let mut at = 0;
    while at < mirrors.len() {
        let (output, input) = mirrors[at];
        if !contains(inputs, input) {
            let message = Message::new().and("the output `").and(output).and("` mirrors `").and(input);
            let message = message.and("`, and there is no such input");
            panic!("{}", message.text());
        }
        at += 1;
    }
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if equal(names[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A text that is put together while constants are evaluated, where nothing is allocated. What does not fit is cut off.
struct Message {
    bytes: [u8; 256],
    length: usize,
}

impl Message {
    const fn new() -> Self {
        Message { bytes: [0; 256], length: 0 }
    }

    const fn and(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "an output mirrors an input that there is not",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_of_inputs_pass() {
        const { check_mirrors(&["path", "content"], &[("where", "path"), ("content", "content")]) };
        assert!(!contains(&["path"], "paths") && !contains(&[], "path"));
    }

    #[test]
    #[should_panic(expected = "the output `where` mirrors `pth`, and there is no such input")]
    fn a_mirror_of_nothing_is_named() {
        check_mirrors(&["path"], &[("content", "path"), ("where", "pth")]);
    }
}
