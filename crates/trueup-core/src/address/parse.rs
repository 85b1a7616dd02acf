//! Reading addresses: the inverse of their display.

use std::str::FromStr;

use super::{Address, AddressRange, InstanceKey, Mode, ModulePath, ModuleStep};
use crate::text::Scanner;

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text breaks off or goes on with something else.
    #[error(
        "`{text}` is not an address: expected {expected} at column {column}; an address reads like `std_file.readme` or `module.net.std_file.readme[\"key\"]`"
    )]
    Syntax {
        /// The whole text.
        text: String,
        /// What should have come.
        expected: &'static str,
        /// Where, from 1.
        column: usize,
    },
    /// A part that is not a name.
    #[error(
        "`{part}` is not a name: names are letters, digits, `_` and `-`, begin with a letter or `_`, and types are not `module` or `data`"
    )]
    NotAName {
        /// The part.
        part: String,
    },
}

impl AddressError {
    pub(super) fn not_a_name(part: &str) -> Self {
        AddressError::NotAName { part: part.to_owned() }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut reader = Reader { text, scanner: Scanner::new(text) };
        match reader.range()? {
            AddressRange::Resource(address) => Ok(address),
            AddressRange::Module(_) => Err(reader.error("`.`")),
        }
    }
}

impl FromStr for AddressRange {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Reader { text, scanner: Scanner::new(text) }.range()
    }
}

struct Reader<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
}

impl<'a> Reader<'a> {
    fn range(&mut self) -> Result<AddressRange, AddressError> {
        let mut modules = Vec::new();
        let mut first = self.name("a type, `module` or `data`")?;
        while first == "module" {
            self.dot()?;
            let name = self.name("the module's name")?.into();
            let key = self.key()?;
            modules.push(ModuleStep { name, key });
            if self.scanner.is_at_end() {
                return Ok(AddressRange::Module(ModulePath::of(modules)));
            }
            self.dot()?;
            first = self.name("a type, `module` or `data`")?;
        }
        let mut mode = Mode::Resource;
        if let Some(named) =
            [Mode::Data, Mode::Ephemeral].into_iter().find(|it| it.prefix().strip_suffix('.') == Some(first))
        {
            mode = named;
            self.dot()?;
            first = self.name("a type")?;
        }
        self.dot()?;
        let name = self.name("the resource's name")?;
        let key = self.key()?;
        if !self.scanner.is_at_end() {
            return Err(self.error("the end"));
        }
        let module = ModulePath::of(modules);
        Address::of_identifiers(module, mode, first, name, key).map(AddressRange::Resource)
    }

    fn name(&mut self, expected: &'static str) -> Result<&'a str, AddressError> {
        self.scanner.identifier().ok_or_else(|| self.error(expected))
    }

    fn dot(&mut self) -> Result<(), AddressError> {
        if self.scanner.take(".") { Ok(()) } else { Err(self.error("`.`")) }
    }

    fn key(&mut self) -> Result<Option<InstanceKey>, AddressError> {
        if !self.scanner.take("[") {
            return Ok(None);
        }
        let quoted = self.scanner.quoted().map(|key| InstanceKey::Key(key.into()));
        let key = quoted.or_else(|| self.scanner.index().map(InstanceKey::Index));
        let key = key.ok_or_else(|| self.error("a number or a quoted key"))?;
        if self.scanner.take("]") { Ok(Some(key)) } else { Err(self.error("`]`")) }
    }

    fn error(&self, expected: &'static str) -> AddressError {
        AddressError::Syntax { text: self.text.to_owned(), expected, column: self.scanner.offset() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_read_back() {
        for text in [
            "std_file.readme",
            "data.std_env.home",
            "ephemeral.aws_secret.it[0]",
            "std_file.many[0]",
            r#"module.net.std_file.readme["k"]"#,
            r#"module.a[1].module.b["x \"y\" \u{7f}"].data.aws_ami.it["é.[]"]"#,
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_says_what_was_expected() {
        let column = |text: &str| match text.parse::<Address>().unwrap_err() {
            AddressError::Syntax { expected, column, .. } => format!("{column}: {expected}"),
            AddressError::NotAName { part } => format!("not a name: {part}"),
        };
        assert_eq!(column(""), "1: a type, `module` or `data`");
        assert_eq!(column("std_file"), "9: `.`");
        assert_eq!(column("std_file.a.b"), "11: the end");
        assert_eq!(column("std_file.a[x]"), "12: a number or a quoted key");
        assert_eq!(column("std_file.a[\"x]"), "12: a number or a quoted key");
        assert_eq!(column("data.module.x"), "not a name: module");
    }
}
