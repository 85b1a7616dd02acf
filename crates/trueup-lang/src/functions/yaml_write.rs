//! Values to YAML: yamlencode. Byte for byte what Terraform writes, so that a file rendered by either is the same:
//! strings in double quotes, those of several lines as literal blocks, long ones folded.

use trueup_core::{Entries, Kind, Value};

use super::{Call, Outcome, refuse_longer_than_max};
use crate::limits::TEXT_BYTES_MAX;

/// The column after which a quoted text is folded at the next space.
const WIDTH: usize = 80;
/// The longest key that stands on one line with its value.
const KEY_LENGTH_MAX: usize = 128;

pub(super) fn yamlencode(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let mut writer = Writer { text: String::new() };
    writer.value(value, 0);
    if !writer.text.ends_with('\n') {
        writer.text.push('\n');
    }
    // A plain word alone needs an end, or a reader might expect more of it.
    if matches!(value.kind(), Kind::Null | Kind::Bool(_) | Kind::Number(_)) {
        writer.text.push_str("...\n");
    }
    refuse_longer_than_max(writer.text.len())?;
    Ok(Value::string(writer.text))
}

struct Writer {
    text: String,
}

impl Writer {
    /// Writes a value that begins where the text ends; its further lines are indented to `indent` and deeper. Ends with
    /// a newline unless it is one line.
    fn value(&mut self, value: &Value, indent: usize) {
        // Nobody uses it then; what is shared could go on for ever.
        if self.text.len() > TEXT_BYTES_MAX {
            return;
        }
        match value.kind() {
            Kind::Null | Kind::Unknown(_) => self.text.push_str("null"),
            Kind::Bool(truth) => self.text.push_str(if *truth { "true" } else { "false" }),
            Kind::Number(number) => self.text.push_str(&number.to_plain_string()),
            Kind::String(text) => self.string(text, indent),
            Kind::List(items) | Kind::Set(items) => self.sequence(items, indent),
            Kind::Map(entries) | Kind::Object(entries) => self.mapping(entries, indent),
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize) {
        if items.is_empty() {
            self.text.push_str("[]");
        }
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.line(indent);
            }
            self.text.push_str("- ");
            let inner = if is_block(item) { indent + 2 } else { indent };
            self.value(item, inner);
        }
    }

    fn mapping(&mut self, entries: &Entries, indent: usize) {
        if entries.is_empty() {
            self.text.push_str("{}");
        }
        for (at, (key, item)) in entries.iter().enumerate() {
            if at > 0 {
                self.line(indent);
            }
            let simple = key.len() <= KEY_LENGTH_MAX && !key.contains('\n');
            if simple {
                self.quoted(key, None);
                self.text.push(':');
                self.entry_value(item, indent);
            } else {
                self.text.push_str("? ");
                self.string(key, indent);
                self.line(indent);
                self.text.push(':');
                self.text.push(' ');
                let inner = if is_block(item) { indent + 2 } else { indent };
                self.value(item, inner);
            }
        }
    }

    fn entry_value(&mut self, item: &Value, indent: usize) {
        if !is_block(item) {
            self.text.push(' ');
            return self.value(item, indent);
        }
        // A list stands as far out as the key that it belongs to.
        let inner = if item.as_items().is_some() { indent } else { indent + 2 };
        self.line(inner);
        self.value(item, inner);
    }

    /// Begins a new line at this indentation.
    fn line(&mut self, indent: usize) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&" ".repeat(indent));
    }

    fn string(&mut self, text: &str, indent: usize) {
        if text.contains('\n') && !text.chars().any(is_special) && !has_trailing_space(text) {
            self.literal(text, indent + 2);
        } else {
            self.quoted(text, Some(indent + 2));
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.text.push('|');
        if text.starts_with([' ', '\n']) {
            self.text.push('2');
        }
        if !text.ends_with('\n') {
            self.text.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.text.push('+');
        }
        self.text.push('\n');
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.text.push_str(&" ".repeat(indent));
            }
            self.text.push_str(line);
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// In double quotes, folded to this indentation where that is allowed.
    fn quoted(&mut self, text: &str, fold: Option<usize>) {
        let line_start = self.text.rfind('\n').map_or(0, |newline| newline + 1);
        let mut column = self.text[line_start..].chars().count() + 1;
        self.text.push('"');
        let mut after_space = false;
        let count = text.chars().count();
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, char)) = chars.next() {
            if let (' ', Some(indent), false) = (char, fold, after_space)
                && column > WIDTH
                && at > 0
                && at + 1 < count
            {
                self.text.push('\n');
                self.text.push_str(&" ".repeat(indent));
                column = indent;
                if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                    self.text.push('\\');
                    column += 1;
                }
                after_space = true;
                continue;
            }
            after_space = char == ' ';
            let before = self.text.len();
            self.escaped(char);
            column += self.text[before..].chars().count();
        }
        self.text.push('"');
    }

    fn escaped(&mut self, char: char) {
        match char {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\0' => self.text.push_str("\\0"),
            '\u{7}' => self.text.push_str("\\a"),
            '\u{8}' => self.text.push_str("\\b"),
            '\t' => self.text.push_str("\\t"),
            '\n' => self.text.push_str("\\n"),
            '\u{b}' => self.text.push_str("\\v"),
            '\u{c}' => self.text.push_str("\\f"),
            '\r' => self.text.push_str("\\r"),
            '\u{1b}' => self.text.push_str("\\e"),
            '\u{85}' => self.text.push_str("\\N"),
            '\u{2028}' => self.text.push_str("\\L"),
            '\u{2029}' => self.text.push_str("\\P"),
            other if !is_special(other) => self.text.push(other),
            other => {
                let code = u32::from(other);
                let escape = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                self.text.push_str(&escape);
            }
        }
    }
}

/// Whether a value takes lines of its own.
fn is_block(value: &Value) -> bool {
    value.children().next().is_some()
}

/// Characters that have to be escaped.
fn is_special(char: char) -> bool {
    let printable = matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
    !printable || matches!(char, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

/// Whether space stands before a newline or at the end, which a literal block would not show.
fn has_trailing_space(text: &str) -> bool {
    text.ends_with(' ') || text.contains(" \n")
}
