//! Values as JSON, in two notations.
//!
//! The exact notation is for what is recorded, and round-trips everything: exact numbers, sets and maps, unknown and
//! secret marks. Plain values are plain JSON. What JSON cannot say stands in one wrapping object whose keys begin with `$`:
//!
//! | value | JSON |
//! | --- | --- |
//! | set, map | `{"$set": […]}`, `{"$map": {…}}` |
//! | unknown | `{"$unknown": "string"}` with the type in Terraform's notation |
//! | secret | `{"$value": …, "$secret": true}`, or `"$secret"` beside `$set`, `$map`, `$unknown` |
//! | sealed secret | `{"$sealed": "…"}` |
//! | origin, when kept | `"$at": [file, start, end]` in the same place |
//!
//! A key of a map or object that itself begins with `$` gets another one in front, so the two never mix. A redacted
//! secret is `{"$secret": true}` alone; it says what stood there and does not decode.
//!
//! The plain notation is for people and scripts, and is not read back: a set is an array, a map an object. Only
//! `{"$unknown": "string"}` and `{"$secret": true}` are left, and only keys that read like these two are escaped.
//!
//! JSON that others wrote knows nothing of all this: [`Value::from_plain_json`] reads it as it stands.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::de::StrRead;

use super::Value;
use super::reading::{Keys, Unread, read_value};
use super::written::Written;
use crate::path::Path;

/// How to write a value as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonForm {
    /// Whether the value can be read back.
    pub notation: Notation,
    /// What becomes of secrets.
    pub secrets: Secrets,
    /// What becomes of origins.
    pub origins: Origins,
}

/// How JSON says what it has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// In wrapping objects that [`Value::from_json`] reads.
    Exact,
    /// Sets as arrays, maps as objects, revealed secrets as their values; never with origins.
    Plain,
}

/// Whether JSON holds secrets in the clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// Written out, marked: for stores, which seal them.
    Reveal,
    /// Left out: for eyes and logs.
    Redact,
}

/// Whether JSON holds origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Written, to be read beside the same source map.
    Keep,
    /// Left out: records outlive the sources they came from.
    Drop,
}

impl JsonForm {
    /// What records hold: secrets, no origins.
    pub const RECORD: JsonForm =
        JsonForm { notation: Notation::Exact, secrets: Secrets::Reveal, origins: Origins::Drop };
    /// The same without secrets: what `Serialize` writes.
    pub const REDACTED: JsonForm = JsonForm { secrets: Secrets::Redact, ..JsonForm::RECORD };
    /// What people, scripts and logs may see.
    pub const PUBLIC: JsonForm = JsonForm { notation: Notation::Plain, ..JsonForm::REDACTED };
    /// The same with secrets, for whoever asked for them. No key is escaped.
    pub const BARE: JsonForm = JsonForm { secrets: Secrets::Reveal, ..JsonForm::PUBLIC };
}

/// Why a text is not the JSON form of a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not JSON at all, or not of the expected structure.
    #[error("{message}")]
    Syntax {
        /// What the reader says, with line and column.
        message: String,
    },
    /// JSON, but no value.
    #[error("at {}: {message}", if path.is_root() { "the top".to_owned() } else { path.to_string() })]
    Form {
        /// Where in the value.
        path: Path,
        /// What is wrong there.
        message: String,
    },
    /// Deeper than any value we wrote; refused before it can exhaust the stack.
    #[error("nests deeper than {JSON_DEPTH_MAX} levels")]
    TooDeep,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        JsonError::Syntax { message: error.to_string() }
    }
}

impl From<Unread<serde_json::Error>> for JsonError {
    fn from(unread: Unread<serde_json::Error>) -> Self {
        match unread {
            Unread::Form(error) => error,
            Unread::Syntax(error) => error.into(),
        }
    }
}

/// Why writing cannot fail.
const WRITABLE: &str = "values have texts for keys";

/// A wrapping object may stand around each level of a value, and a few levels of a document around the value.
const JSON_DEPTH_MAX: usize = 2 * Value::DEPTH_MAX + 20;

impl Value {
    /// The value in a form, as part of a larger document.
    pub fn in_form(&self, form: JsonForm) -> impl Serialize + '_ {
        Written { value: self, form }
    }

    /// Writes the value as JSON text.
    pub fn to_json(&self, form: JsonForm) -> String {
        serde_json::to_string(&self.in_form(form)).expect(WRITABLE)
    }

    /// Writes the value as a JSON tree.
    pub fn to_json_tree(&self, form: JsonForm) -> Json {
        serde_json::to_value(self.in_form(form)).expect(WRITABLE)
    }

    /// Reads JSON text that [`Value::to_json`] wrote in the exact notation.
    pub fn from_json(text: &str) -> Result<Value, JsonError> {
        read_text(text, |reader| read_value(reader, Keys::Ours).map_err(JsonError::from))
    }

    /// Reads JSON text that someone else wrote: no key means anything special, but the one by which `serde_json` tells
    /// numbers.
    pub fn from_plain_json(text: &str) -> Result<Value, JsonError> {
        read_text(text, |reader| read_value(reader, Keys::Plain).map_err(JsonError::from))
    }

    /// Reads a JSON tree.
    pub fn from_json_tree(tree: &Json) -> Result<Value, JsonError> {
        read_value(tree, Keys::Ours).map_err(JsonError::from)
    }
}

/// Reads a JSON document that may hold values as deep as [`Value::DEPTH_MAX`], which is deeper than `serde_json`
/// reads by itself.
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    read_text(text, |reader| T::deserialize(reader).map_err(JsonError::from))
}

fn read_text<'t, T>(
    text: &'t str,
    read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'t>>) -> Result<T, JsonError>,
) -> Result<T, JsonError> {
    // Most texts have fewer brackets than may nest; to count them is much faster than to follow them.
    if brackets(text) > JSON_DEPTH_MAX && nesting(text) > JSON_DEPTH_MAX {
        return Err(JsonError::TooDeep);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let document = read(&mut reader)?;
    reader.end()?;
    Ok(document)
}

/// How many brackets open. Sums of bytes are what processors do many of at a time.
fn brackets(text: &str) -> usize {
    let chunks = text.as_bytes().chunks(usize::from(u8::MAX));
    chunks
        .map(|chunk| chunk.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>())
        .map(usize::from)
        .sum()
}

/// How deeply brackets nest in a JSON text, strings left aside. An upper bound when the text is no JSON.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl Serialize for Value {
    /// Writes [`JsonForm::REDACTED`], so that no secret is written by accident; records say otherwise with [`recorded`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.in_form(JsonForm::REDACTED).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_value(deserializer, Keys::Ours).map_err(Unread::told)
    }
}

/// For fields of what stores keep: `#[serde(with = "trueup_core::recorded")]` writes secrets too, marked.
pub mod recorded {
    use super::*;

    /// What can be written in [`JsonForm::RECORD`].
    pub trait Recorded: Sized {
        /// Writes it.
        fn write_recorded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
        /// Takes it from what was written.
        fn from_recorded(value: Value) -> Self;
    }

    impl Recorded for Value {
        fn write_recorded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.in_form(JsonForm::RECORD).serialize(serializer)
        }

        fn from_recorded(value: Value) -> Self {
            value
        }
    }

    /// `None` is null, so the value itself must not be.
    impl Recorded for Option<Value> {
        fn write_recorded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Some(value) => value.write_recorded(serializer),
                None => serializer.serialize_unit(),
            }
        }

        fn from_recorded(value: Value) -> Self {
            Some(value).filter(|value| !value.is_null() || value.is_secret())
        }
    }

    /// Writes with secrets.
    pub fn serialize<T: Recorded, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.write_recorded(serializer)
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, T: Recorded, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Value::deserialize(deserializer).map(T::from_recorded)
    }
}
