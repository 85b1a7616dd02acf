//! Reading values from JSON, in the form that `json` describes, piece by piece.
//!
//! Stores read each value of a stack whenever something is planned; to build a tree first would cost more than the
//! reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::json::JsonError;
use super::{Kind, Number, Value};
use crate::path::{Path, Step};
use crate::source::Origin;
use crate::types::Type;

/// What keys that begin with `$` are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// Marks of ours, or escaped.
    Ours,
    /// Keys like all others; each element of a list has a type of its own.
    Plain,
}

/// Why something is no value.
pub(super) enum Unread<E> {
    /// It says something that values do not.
    Form(JsonError),
    /// It cannot be read at all.
    Syntax(E),
}

impl<E: Error> Unread<E> {
    /// As an error of whoever reads more than the value.
    pub(super) fn told(self) -> E {
        match self {
            Unread::Form(error) => E::custom(error),
            Unread::Syntax(error) => error,
        }
    }
}

pub(super) fn read_value<'de, D: Deserializer<'de>>(
    deserializer: D,
    keys: Keys,
) -> Result<Value, Unread<D::Error>> {
    let mut reader = Reader { keys, wrong: None };
    match (reader.part().deserialize(deserializer), reader.wrong) {
        (Ok(value), _) if value.depth() > Value::DEPTH_MAX => Err(Unread::Form(JsonError::TooDeep)),
        (Ok(value), _) => Ok(value),
        (Err(_), Some(Wrong { mut steps, message })) => {
            steps.reverse();
            Err(Unread::Form(JsonError::Form { path: Path::from_iter(steps), message }))
        }
        (Err(error), None) => Err(Unread::Syntax(error)),
    }
}

struct Reader {
    keys: Keys,
    wrong: Option<Wrong>,
}

/// What is wrong with the form, and where: the steps to it, the last one first.
struct Wrong {
    steps: Vec<Step>,
    message: String,
}

impl Reader {
    fn part(&mut self) -> Part<'_> {
        Part(self)
    }

    fn wrong<E: Error>(&mut self, message: String) -> E {
        let error = E::custom(&message);
        self.wrong = Some(Wrong { steps: Vec::new(), message });
        error
    }

    /// Says of an outcome which part it is of.
    fn at<T, E>(&mut self, step: impl FnOnce() -> Step, outcome: Result<T, E>) -> Result<T, E> {
        if let (Err(_), Some(wrong)) = (&outcome, &mut self.wrong) {
            wrong.steps.push(step());
        }
        outcome
    }

    /// Numbers are kept as they are written.
    fn number<E: Error>(&mut self, text: &str) -> Result<Value, E> {
        match text.parse::<Number>() {
            Ok(number) => Ok(Value::number(number)),
            Err(error) => Err(self.wrong(format!("the number {error}"))),
        }
    }

    /// The rest of an object that began with one of our marks.
    fn wrapped<'de, A: MapAccess<'de>>(&mut self, first: SmolStr, map: &mut A) -> Result<Value, A::Error> {
        let (mut content, mut secret, mut origin) = (None, false, None);
        let mut next = Some(first);
        while let Some(key) = next {
            let read = match key.as_str() {
                "$at" => match map.next_value::<Origin>() {
                    Ok(at) => {
                        origin = Some(at);
                        None
                    }
                    Err(_) => return Err(self.wrong("`$at` is [file, start, end]".to_owned())),
                },
                "$unknown" => match Type::from_json_tree(&map.next_value::<Json>()?) {
                    Ok(ty) => Some(Value::unknown(ty)),
                    Err(message) => return Err(self.wrong(message)),
                },
                mark @ ("$secret" | "$value" | "$sealed" | "$set" | "$map") => {
                    let value = map.next_value_seed(self.part())?;
                    match (mark, value.kind()) {
                        ("$secret", Kind::Bool(true)) => {
                            secret = true;
                            None
                        }
                        ("$value", _) => Some(value),
                        _ if value.is_secret() => return Err(self.misplaced(mark)),
                        ("$sealed", Kind::String(text)) => Some(Value::sealed(text.as_str())),
                        ("$set", Kind::List(items)) => Some(Value::set(items.iter().cloned())),
                        ("$map", Kind::Object(entries)) => Some(Value::of(Kind::Map(entries.clone()))),
                        _ => return Err(self.misplaced(mark)),
                    }
                }
                other => return Err(self.misplaced(other)),
            };
            if let Some(read) = read
                && content.replace(read).is_some()
            {
                return Err(self.wrong("two contents for one value".to_owned()));
            }
            next = map.next_key_seed(Text)?;
        }
        let Some(mut value) = content else {
            return Err(self.wrong("the content was left out because it is secret".to_owned()));
        };
        if let Some(origin) = origin {
            value = value.with_origin(origin);
        }
        Ok(value.into_secret_if(secret))
    }

    fn misplaced<E: Error>(&mut self, key: &str) -> E {
        self.wrong(format!("`{key}` does not belong here"))
    }
}

/// Whether a written key is one of ours rather than an escaped one of the value.
fn is_marker(key: &str) -> bool {
    key.starts_with('$') && !key.starts_with("$$")
}

/// The key of the only entry of what `serde_json` gives for a number that no integer holds, so that not a digit is lost.
/// A test of the round trip of large numbers says if that is another one some day.
const NUMBER: &str = "$serde_json::private::Number";

/// A value, or a part of one.
struct Part<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::NULL)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::from(truth))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.0.number(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.0.number(&number.to_string())
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Value, E> {
        self.0.number(&number.to_string())
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value, E> {
        self.0.number(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.0.number(&number.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::string(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::with_capacity(list.size_hint().unwrap_or(0).min(1024));
        loop {
            let item = list.next_element_seed(self.0.part());
            match self.0.at(|| Step::Index(items.len() as u64), item)? {
                Some(item) => items.push(item),
                None => return Ok(Value::list(items).into_tuple_if(self.0.keys == Keys::Plain)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(SmolStr, Value)> = Vec::new();
        while let Some(mut key) = map.next_key_seed(Text)? {
            if entries.is_empty() && key == NUMBER {
                let text = map.next_value_seed(Text)?;
                return self.0.number(&text);
            }
            if self.0.keys == Keys::Ours && key.starts_with('$') {
                if is_marker(&key) {
                    return match entries.first() {
                        Some((plain, _)) => Err(self.0.misplaced(plain)),
                        None => self.0.wrapped(key, &mut map),
                    };
                }
                key = SmolStr::new(&key[1..]);
            }
            let value = map.next_value_seed(self.0.part());
            let value = self.0.at(|| Step::key(key.clone()), value)?;
            entries.push((key, value));
        }
        Ok(Value::object(entries))
    }
}

/// A text, kept as values keep them.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = SmolStr;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SmolStr, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text {
    type Value = SmolStr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SmolStr, E> {
        Ok(SmolStr::new(text))
    }
}
