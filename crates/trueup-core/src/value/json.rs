//! The JSON form of values, which round-trips everything: exact numbers, sets and maps, unknown and secret marks.
//!
//! Plain values are plain JSON. What JSON cannot say stands in one wrapping object whose keys begin with `$`:
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
//! JSON that others wrote knows nothing of all this: [`Value::from_plain_json`] reads it as it stands.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::written::Written;
use super::{Number, Value};
use crate::path::{Path, Step};
use crate::source::Origin;
use crate::types::Type;

/// How to write a value as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonForm {
    /// What becomes of secrets.
    pub secrets: Secrets,
    /// What becomes of origins.
    pub origins: Origins,
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
    pub const RECORD: JsonForm = JsonForm { secrets: Secrets::Reveal, origins: Origins::Drop };
    /// What people and logs may see.
    pub const PUBLIC: JsonForm = JsonForm { secrets: Secrets::Redact, origins: Origins::Drop };
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

/// Why writing cannot fail.
const WRITABLE: &str = "values have texts for keys";

/// A wrapping object may stand around each level of a value, and a few levels of a document around the value.
const JSON_DEPTH_MAX: usize = 2 * Value::DEPTH_MAX + 20;

impl Value {
    /// Writes the value as JSON text.
    pub fn to_json(&self, form: JsonForm) -> String {
        serde_json::to_string(&Written { value: self, form }).expect(WRITABLE)
    }

    /// Writes the value as a JSON tree.
    pub fn to_json_tree(&self, form: JsonForm) -> Json {
        serde_json::to_value(Written { value: self, form }).expect(WRITABLE)
    }

    /// Reads JSON text that [`Value::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Value, JsonError> {
        let tree: Json = read_json(text)?;
        Value::from_json_tree(&tree)
    }

    /// Reads JSON text that someone else wrote: no key means anything special.
    pub fn from_plain_json(text: &str) -> Result<Value, JsonError> {
        let tree: Json = read_json(text)?;
        Value::read(&tree, true)
    }

    /// Reads a JSON tree.
    pub fn from_json_tree(tree: &Json) -> Result<Value, JsonError> {
        Value::read(tree, false)
    }

    fn read(tree: &Json, plain: bool) -> Result<Value, JsonError> {
        let value = Reader { path: Path::ROOT, plain }.value(tree)?;
        if value.depth() > Value::DEPTH_MAX { Err(JsonError::TooDeep) } else { Ok(value) }
    }
}

/// Reads a JSON document that may hold values as deep as [`Value::DEPTH_MAX`], which is deeper than `serde_json`
/// reads by itself.
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    // Most texts have fewer brackets than may nest; to count them is much faster than to follow them.
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if brackets > JSON_DEPTH_MAX && nesting(text) > JSON_DEPTH_MAX {
        return Err(JsonError::TooDeep);
    }
    let syntax = |error: serde_json::Error| JsonError::Syntax { message: error.to_string() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let document = T::deserialize(&mut deserializer).map_err(syntax)?;
    deserializer.end().map_err(syntax)?;
    Ok(document)
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

/// Whether a written key is one of ours rather than an escaped one of the value.
fn is_marker(key: &str) -> bool {
    key.starts_with('$') && !key.starts_with("$$")
}

struct Reader {
    path: Path,
    plain: bool,
}

impl Reader {
    fn value(&mut self, tree: &Json) -> Result<Value, JsonError> {
        match tree {
            Json::Null => Ok(Value::NULL),
            Json::Bool(truth) => Ok(Value::from(*truth)),
            Json::Number(number) => match number.as_str().parse::<Number>() {
                Ok(number) => Ok(Value::number(number)),
                Err(error) => Err(self.error(format!("the number {error}"))),
            },
            Json::String(text) => Ok(Value::string(text)),
            Json::Array(items) => Ok(Value::list(self.items(items)?)),
            Json::Object(object) if !self.plain && object.keys().any(|key| is_marker(key)) => {
                self.wrapped(object)
            }
            Json::Object(object) => Ok(Value::object(self.entries(object)?)),
        }
    }

    fn wrapped(&mut self, object: &Map<String, Json>) -> Result<Value, JsonError> {
        let mut value = None;
        let mut secret = false;
        let mut origin = None;
        for (key, content) in object {
            let read = match (key.as_str(), content) {
                ("$secret", Json::Bool(true)) => {
                    secret = true;
                    continue;
                }
                ("$at", content) => {
                    let at = Origin::deserialize(content);
                    origin = Some(at.map_err(|_| self.error("`$at` is [file, start, end]".to_owned()))?);
                    continue;
                }
                ("$value", content) => self.value(content)?,
                ("$sealed", Json::String(text)) => Value::sealed(text),
                ("$set", Json::Array(items)) => Value::set(self.items(items)?),
                ("$map", Json::Object(entries)) => Value::map(self.entries(entries)?),
                ("$unknown", content) => match Type::from_json_tree(content) {
                    Ok(ty) => Value::unknown(ty),
                    Err(message) => return Err(self.error(message)),
                },
                (key, _) => return Err(self.error(format!("`{key}` does not belong here"))),
            };
            if value.replace(read).is_some() {
                return Err(self.error("two contents for one value".to_owned()));
            }
        }
        let Some(mut value) = value else {
            return Err(self.error("the content was left out because it is secret".to_owned()));
        };
        if let Some(origin) = origin {
            value = value.with_origin(origin);
        }
        Ok(value.into_secret_if(secret))
    }

    fn items(&mut self, items: &[Json]) -> Result<Vec<Value>, JsonError> {
        let read = |(at, item)| self.at(Step::Index(at as u64), item);
        items.iter().enumerate().map(read).collect()
    }

    fn entries(&mut self, object: &Map<String, Json>) -> Result<Vec<(String, Value)>, JsonError> {
        let mut entries = Vec::with_capacity(object.len());
        for (key, item) in object {
            let key = if self.plain { key } else { key.strip_prefix('$').unwrap_or(key) };
            entries.push((key.to_owned(), self.at(Step::key(key), item)?));
        }
        Ok(entries)
    }

    fn at(&mut self, step: Step, tree: &Json) -> Result<Value, JsonError> {
        self.path.push(step);
        let value = self.value(tree)?;
        self.path.pop();
        Ok(value)
    }

    fn error(&self, message: String) -> JsonError {
        JsonError::Form { path: self.path.clone(), message }
    }
}

impl Serialize for Value {
    /// Writes [`JsonForm::PUBLIC`], so that nothing is told by accident; records say otherwise with [`recorded`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { value: self, form: JsonForm::PUBLIC }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = Json::deserialize(deserializer)?;
        Value::from_json_tree(&tree).map_err(serde::de::Error::custom)
    }
}

/// For fields of what stores keep: `#[serde(with = "trueup_core::recorded")]` writes secrets too, marked.
pub mod recorded {
    use super::*;

    /// What can be written in [`JsonForm::RECORD`].
    pub trait Recorded: Sized {
        /// Writes it.
        fn write_recorded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
        /// Reads it back.
        fn from_recorded(tree: &Json) -> Result<Self, JsonError>;
    }

    impl Recorded for Value {
        fn write_recorded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            Written { value: self, form: JsonForm::RECORD }.serialize(serializer)
        }

        fn from_recorded(tree: &Json) -> Result<Self, JsonError> {
            Value::from_json_tree(tree)
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

        fn from_recorded(tree: &Json) -> Result<Self, JsonError> {
            if tree.is_null() { Ok(None) } else { Value::from_json_tree(tree).map(Some) }
        }
    }

    /// Writes with secrets.
    pub fn serialize<T: Recorded, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.write_recorded(serializer)
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, T: Recorded, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let tree = Json::deserialize(deserializer)?;
        T::from_recorded(&tree).map_err(serde::de::Error::custom)
    }
}
