//! Writing values as JSON, in the notations that `json` describes, piece by piece.
//!
//! Stores write each value of a stack several times over; to build a tree first would cost more than the writing. Keys
//! stand in the order of their texts, as they would in a tree.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::json::{JsonForm, Notation, Origins, Secrets};
use super::{Entries, Kind, Number, Value};

/// A value that is written in a form.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) value: &'a Value,
    pub(super) form: JsonForm,
}

impl<'a> Written<'a> {
    /// The same form for a part of the value.
    fn part(self, value: &'a Value) -> Self {
        Written { value, ..self }
    }
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Written { value, form } = *self;
        let plain = form.notation == Notation::Plain;
        let origin = value.origin.filter(|_| form.origins == Origins::Keep && !plain);
        // What is sealed is no value yet.
        if value.is_secret() && (form.secrets == Secrets::Redact || plain && value.is_sealed()) {
            let mut object = serializer.serialize_map(Some(1))?;
            object.serialize_entry("$secret", &true)?;
            return object.end();
        }
        if value.marks.is_ephemeral() {
            // It is no part of what is kept, whoever keeps it.
            return serializer.serialize_unit();
        }
        let wrapper = wrapper(value);
        let bare = match form.notation {
            Notation::Exact => wrapper == "$value" && !value.is_secret() && origin.is_none(),
            Notation::Plain => !matches!(value.kind(), Kind::Unknown(_)),
        };
        if bare {
            return Content(*self).serialize(serializer);
        }
        let mut object = serializer.serialize_map(None)?;
        if let Some(origin) = origin {
            object.serialize_entry("$at", &origin)?;
        }
        if wrapper < "$secret" {
            object.serialize_entry(wrapper, &Content(*self))?;
        }
        if value.is_secret() && !value.is_sealed() && !plain {
            object.serialize_entry("$secret", &true)?;
        }
        if wrapper > "$secret" {
            object.serialize_entry(wrapper, &Content(*self))?;
        }
        object.end()
    }
}

/// The key under which a content stands in a wrapping object; `$value` needs no wrapping.
fn wrapper(value: &Value) -> &'static str {
    match value.kind() {
        _ if value.is_sealed() => "$sealed",
        Kind::Set(_) => "$set",
        Kind::Map(_) => "$map",
        Kind::Unknown(_) => "$unknown",
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::List(_) | Kind::Object(_) => {
            "$value"
        }
    }
}

/// What stands in the value, without its marks.
struct Content<'a>(Written<'a>);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Content(written) = *self;
        match written.value.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool(truth) => serializer.serialize_bool(*truth),
            Kind::Number(number) => write_number(number, serializer),
            Kind::String(text) => serializer.serialize_str(text),
            Kind::List(items) | Kind::Set(items) => {
                serializer.collect_seq(items.iter().map(|item| written.part(item)))
            }
            Kind::Map(entries) | Kind::Object(entries) => write_entries(written, entries, serializer),
            Kind::Unknown(ty) => ty.serialize(serializer),
        }
    }
}

fn write_entries<S: Serializer>(
    within: Written<'_>,
    entries: &Entries,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // An escaped key sorts as the key itself does: those that begin with `$` stay together.
    serializer.collect_map(entries.iter().map(|(key, value)| (escaped(key, within.form), within.part(value))))
}

/// A key as it is written.
fn escaped(key: &str, form: JsonForm) -> Cow<'_, str> {
    let Some(name) = key.strip_prefix('$') else { return key.into() };
    let ambiguous = match (form.notation, form.secrets) {
        (Notation::Exact, _) => true,
        (Notation::Plain, Secrets::Redact) => ["secret", "unknown"].contains(&name.trim_start_matches('$')),
        (Notation::Plain, Secrets::Reveal) => false,
    };
    if ambiguous { format!("${key}").into() } else { key.into() }
}

fn write_number<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    if let Some(int) = number.as_i64() {
        return serializer.serialize_i64(int);
    }
    // The text of a number is always valid JSON, so the fallback is never taken; a string would still lose nothing.
    let text = number.to_string();
    serde_json::from_str(&text).unwrap_or(Json::String(text)).serialize(serializer)
}
