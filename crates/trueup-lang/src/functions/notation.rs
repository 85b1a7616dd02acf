//! Notations that write values as text, such as JSON: what they have in common, and the walk over a value.

use trueup_core::{Entries, Kind, Value};

use crate::limits::TEXT_BYTES_MAX;

/// How one notation differs from others.
pub(super) struct Notation {
    /// Between the elements of a list.
    pub(super) separator: &'static str,
    /// Writes a text.
    pub(super) write_string: fn(&str, &mut String),
    /// Writes the entries of a map or object, with what encloses them.
    pub(super) write_entries: fn(&Entries, &mut String),
}

/// Writes a value. What grows beyond the longest text is cut off: nobody uses it then, and what is shared could go on for
/// ever.
pub(super) fn write(value: &Value, notation: &Notation, text: &mut String) {
    if text.len() > TEXT_BYTES_MAX {
        return;
    }
    match value.kind() {
        // What is unknown never comes here.
        Kind::Null | Kind::Unknown(_) => text.push_str("null"),
        Kind::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Kind::Number(number) => text.push_str(&number.to_plain_string()),
        Kind::String(string) => (notation.write_string)(string, text),
        Kind::List(items) | Kind::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(notation.separator);
                }
                write(item, notation, text);
            }
            text.push(']');
        }
        Kind::Map(entries) | Kind::Object(entries) => (notation.write_entries)(entries, text),
    }
}
