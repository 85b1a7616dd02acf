//! Values as JSON.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;
use trueup_core::{Kind, Step, Type, Value};

use super::msgpack::refuse_others;
use super::{WireError, WireType};

pub(super) fn encode(value: &Value, ty: &WireType) -> Result<Json, WireError> {
    let encoded = match (value.kind(), ty) {
        (Kind::Null, _) => Json::Null,
        (Kind::Unknown(_), _) => return Err(WireError::new("is not known, and JSON has no word for that")),
        (_, WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_)) => {
            let settled = ty.settled(value);
            let inner = match &settled {
                Type::Any => return Err(WireError::new("holds values of several types")),
                settled => encode(value, &settled.into())?,
            };
            serde_json::json!({ "type": settled, "value": inner })
        }
        (Kind::Bool(truth), WireType::Bool) => Json::Bool(*truth),
        (Kind::Number(number), WireType::Number) => serde_json::from_str(&number.to_string())
            .map_err(|_| WireError::new("is a number that JSON cannot hold"))?,
        (Kind::String(text), WireType::String) => Json::String(text.to_string()),
        (Kind::List(items) | Kind::Set(items), WireType::List(element) | WireType::Set(element)) => {
            encode_items(items, |_| element)?
        }
        (Kind::List(items), WireType::Tuple(elements)) if items.len() == elements.len() => {
            encode_items(items, |at| &elements[at])?
        }
        (Kind::Map(entries) | Kind::Object(entries), WireType::Map(element)) => {
            let entry = |(key, item): (&SmolStr, &Value)| {
                let item = encode(item, element).map_err(|error| error.inside(Step::Key(key.clone())))?;
                Ok((key.to_string(), item))
            };
            Json::Object(entries.iter().map(entry).collect::<Result<_, _>>()?)
        }
        (Kind::Map(entries) | Kind::Object(entries), WireType::Object(attributes)) => {
            refuse_others(entries, |name| attributes.contains_key(name))?;
            let attribute = |(name, ty): (&SmolStr, &WireType)| {
                let item = entries.get(name).map_or(Ok(Json::Null), |item| encode(item, ty));
                Ok((name.to_string(), item.map_err(|error| error.inside(Step::Key(name.clone())))?))
            };
            Json::Object(attributes.iter().map(attribute).collect::<Result<_, _>>()?)
        }
        (kind, ty) => return Err(WireError::mismatch(ty, kind.name())),
    };
    Ok(encoded)
}

fn encode_items<'t>(items: &[Value], ty: impl Fn(usize) -> &'t WireType) -> Result<Json, WireError> {
    let item = |(at, item)| encode(item, ty(at)).map_err(|error| error.inside(Step::Index(at as u64)));
    Ok(Json::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?))
}

pub(super) fn decode(json: &Json, ty: &WireType) -> Result<Value, WireError> {
    match (json, ty) {
        (Json::Null, _) => Ok(Value::NULL),
        (Json::Object(parts), WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_)) => {
            let (Some(ty), Some(inner), 2) = (parts.get("type"), parts.get("value"), parts.len()) else {
                return Err(WireError::new("comes without its type"));
            };
            let ty = Type::from_json_tree(ty).map_err(WireError::new)?;
            decode(inner, &(&ty).into())
        }
        (Json::Bool(truth), WireType::Bool) => Ok(Value::from(*truth)),
        (Json::Number(number), WireType::Number) => parse_number(&number.to_string()),
        (Json::String(text), WireType::Number) => parse_number(text),
        (Json::String(text), WireType::String) => Ok(Value::from(text.as_str())),
        // States of long ago hold numbers and bools as text, and the other way round.
        (Json::Number(number), WireType::String) => Ok(Value::from(number.to_string())),
        (Json::Bool(truth), WireType::String) => Ok(Value::from(truth.to_string())),
        (Json::String(text), WireType::Bool) if text == "true" || text == "false" => {
            Ok(Value::from(text == "true"))
        }
        (Json::Array(items), WireType::List(element)) => decode_items(items, |_| element).map(Value::list),
        (Json::Array(items), WireType::Set(element)) => decode_items(items, |_| element).map(Value::set),
        (Json::Array(items), WireType::Tuple(elements)) if items.len() == elements.len() => {
            decode_items(items, |at| &elements[at]).map(Value::tuple)
        }
        (Json::Object(entries), WireType::Map(element)) => {
            decode_entries(entries, |_| Some(element)).map(Value::map)
        }
        (Json::Object(entries), WireType::Object(attributes)) => {
            let mut found = decode_entries(entries, |name| attributes.get(name))?;
            let missing = attributes.keys().filter(|name| !entries.contains_key(name.as_str()));
            found.extend(missing.map(|name| (name.clone(), Value::NULL)));
            Ok(Value::object(found))
        }
        (json, ty) => Err(WireError::mismatch(ty, json_name(json))),
    }
}

fn parse_number(text: &str) -> Result<Value, WireError> {
    text.parse()
        .map(Value::number)
        .map_err(|error: trueup_core::NumberError| WireError::new(error.to_string()))
}

fn decode_items<'t>(items: &[Json], ty: impl Fn(usize) -> &'t WireType) -> Result<Vec<Value>, WireError> {
    let item = |(at, item)| decode(item, ty(at)).map_err(|error| error.inside(Step::Index(at as u64)));
    items.iter().enumerate().map(item).collect()
}

fn decode_entries<'t, T: AsRef<WireType> + 't>(
    entries: &Map<String, Json>,
    ty: impl Fn(&str) -> Option<&'t T>,
) -> Result<Vec<(SmolStr, Value)>, WireError> {
    let entry = |(key, item): (&String, &Json)| {
        let step = || Step::key(key.as_str());
        let ty = ty(key).ok_or_else(|| WireError::new("has no place in the schema").inside(step()))?;
        Ok((SmolStr::new(key), decode(item, ty.as_ref()).map_err(|error| error.inside(step()))?))
    };
    entries.iter().map(entry).collect()
}

fn json_name(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a bool",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "keys with values",
    }
}
