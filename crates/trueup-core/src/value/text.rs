//! The compact textual form, as a person reads it and tests compare it: close to how the stack language writes the
//! same value. Secrets are never shown, neither by `Display` nor by `Debug`.

use std::fmt;

use super::{Entries, Kind, Value};
use crate::text::{Quoted, is_identifier};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_secret() {
            return f.write_str("(secret)");
        }
        match self.kind() {
            Kind::Null => f.write_str("null"),
            Kind::Bool(truth) => truth.fmt(f),
            Kind::Number(number) => number.fmt(f),
            Kind::String(text) => Quoted(text).fmt(f),
            Kind::List(items) => write_items(f, "[", items, "]"),
            Kind::Set(items) => write_items(f, "set[", items, "]"),
            Kind::Map(entries) => {
                f.write_str("map")?;
                write_entries(f, entries)
            }
            Kind::Object(entries) => write_entries(f, entries),
            Kind::Unknown(ty) => write!(f, "(unknown {ty})"),
        }
    }
}

fn write_items(f: &mut fmt::Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        write!(f, "{separator}{item}")?;
    }
    f.write_str(close)
}

fn write_entries(f: &mut fmt::Formatter<'_>, entries: &Entries) -> fmt::Result {
    if entries.is_empty() {
        return f.write_str("{}");
    }
    for (at, (key, value)) in entries.iter().enumerate() {
        f.write_str(if at == 0 { "{ " } else { ", " })?;
        if is_identifier(key) {
            write!(f, "{key} = {value}")?;
        } else {
            write!(f, "{} = {value}", Quoted(key))?;
        }
    }
    f.write_str(" }")
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Kind {
    /// Only what kind it is: a content without its mark may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
