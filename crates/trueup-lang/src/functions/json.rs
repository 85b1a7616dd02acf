//! JSON: jsondecode jsonencode.

use trueup_core::{Entries, JsonError, Kind, Refinement, Type, Value};

use super::notation::{Notation, write};
use super::{Call, Outcome, Problem, refuse_longer_than_max};
use crate::normal_form::normal_value;

/// Of what is not known yet, its type says how it begins.
pub(super) fn jsonencode(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    if !value.is_wholly_known() {
        let beginning = match value.kind() {
            Kind::List(_) | Kind::Set(_) => "[",
            Kind::Map(_) | Kind::Object(_) => "{",
            Kind::Unknown(Type::List(_) | Type::Set(_) | Type::Tuple(_)) if value.is_never_null() => "[",
            Kind::Unknown(Type::Map(_) | Type::Object(_)) if value.is_never_null() => "{",
            Kind::Unknown(Type::String) if value.is_never_null() => "\"",
            _ => "",
        };
        return Ok(Value::refined(Type::String, Refinement::beginning(beginning)));
    }
    let text = json_text(&call.arguments[0]);
    refuse_longer_than_max(text.len())?;
    Ok(Value::string(text))
}

pub(super) fn jsondecode(call: &Call<'_>) -> Outcome {
    Value::from_plain_json(call.text(0)).map(normal_value).map_err(|error| {
        let reason = match error {
            JsonError::Syntax { message } | JsonError::Form { message, .. } => message,
            JsonError::TooDeep => error.to_string(),
        };
        Problem::at(0, format!("this is no JSON: {reason}"))
    })
}

/// The value as JSON, byte for byte as Terraform writes it: no spaces, keys sorted, `<`, `>` and `&` escaped.
pub(crate) fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &JSON, &mut text);
    text
}

const JSON: Notation = Notation { separator: ",", write_string, write_entries };

fn write_entries(entries: &Entries, text: &mut String) {
    text.push('{');
    for (at, (key, item)) in entries.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        write_string(key, text);
        text.push(':');
        write(item, &JSON, text);
    }
    text.push('}');
}

pub(super) fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for char in string.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}
