//! Texts in normal form C, which the language has everywhere, so that texts that look the same are the same.

use smol_str::SmolStr;
use trueup_core::{Entries, Kind, Value};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A text in normal form.
pub(crate) fn normal_form(text: &SmolStr) -> SmolStr {
    if is_normal(text) { text.clone() } else { text.nfc().collect::<String>().into() }
}

/// The value in normal form, if it is a text.
pub(crate) fn normal_text(value: Value) -> Value {
    match value.kind() {
        Kind::String(text) if !is_normal(text) => Value::string(normal_form(text)).with_marks(value.marks()),
        _ => value,
    }
}

/// A value in which all texts are in normal form.
pub(crate) fn normal_value(value: Value) -> Value {
    if is_wholly_normal(&value) {
        return value;
    }
    let items = |items: &[Value]| items.iter().cloned().map(normal_value).collect::<Vec<_>>();
    let entries = |entries: &Entries| {
        entries.iter().map(|(key, item)| (normal_form(key), normal_value(item.clone()))).collect::<Vec<_>>()
    };
    let normal = match value.kind() {
        Kind::List(own) if value.is_tuple() => Value::tuple(items(own)),
        Kind::List(own) => Value::list(items(own)),
        Kind::Set(own) => Value::set(items(own)),
        Kind::Map(own) => Value::map(entries(own)),
        Kind::Object(own) => Value::object(entries(own)),
        _ => return normal_text(value),
    };
    normal.with_marks(value.marks())
}

fn is_normal(text: &str) -> bool {
    text.is_ascii() || is_nfc(text)
}

fn is_wholly_normal(value: &Value) -> bool {
    value.as_str().is_none_or(is_normal)
        && value.as_entries().is_none_or(|entries| entries.keys().all(|key| is_normal(key)))
        && value.children().all(is_wholly_normal)
}
