//! Values as msgpack.

use std::borrow::Cow;

use rmpv::{Value as Packed, ValueRef};
use smol_str::SmolStr;
use trueup_core::{Entries, Kind, Number, Step, Type, Value};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{WireError, WireType};

/// Each level of a value takes two of msgpack where its type goes along.
const DEPTH_MAX: usize = 2 * Value::DEPTH_MAX + 20;

pub(super) fn encode(value: &Value, ty: &WireType) -> Result<Vec<u8>, WireError> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &pack(value, ty)?)
        .map_err(|error| WireError::new(error.to_string()))?;
    Ok(bytes)
}

pub(super) fn decode(bytes: &[u8], ty: &WireType) -> Result<Value, WireError> {
    let mut rest = bytes;
    let packed = rmpv::decode::read_value_ref_with_max_depth(&mut rest, DEPTH_MAX)
        .map_err(|error| WireError::new(format!("is not msgpack: {error}")))?;
    if !rest.is_empty() {
        return Err(WireError::new("has something behind its end"));
    }
    unpack(&packed, ty)
}

fn unknown() -> Packed {
    Packed::Ext(0, vec![0])
}

fn pack(value: &Value, ty: &WireType) -> Result<Packed, WireError> {
    let packed = match (value.kind(), ty) {
        (Kind::Null, _) => Packed::Nil,
        (Kind::Unknown(Type::Any), _) | (Kind::Unknown(_), WireType::AnyList(_) | WireType::AnyMap(_)) => {
            unknown()
        }
        (_, WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_)) => {
            let settled = ty.settled(value);
            let inner = match &settled {
                // Only values of several types in one set or map come to this.
                Type::Any => return Err(WireError::new("holds values of several types")),
                settled => pack(value, &settled.into())?,
            };
            Packed::Array(vec![Packed::Binary(type_json(&settled)), inner])
        }
        (Kind::Unknown(_), _) => unknown(),
        (Kind::Bool(truth), WireType::Bool) => Packed::Boolean(*truth),
        (Kind::Number(number), WireType::Number) => pack_number(number),
        (Kind::String(text), WireType::String) => Packed::String(normalised(text).as_ref().into()),
        (Kind::List(items) | Kind::Set(items), WireType::List(element) | WireType::Set(element)) => {
            pack_items(items, |_| element)?
        }
        (Kind::List(items), WireType::Tuple(elements)) if items.len() == elements.len() => {
            pack_items(items, |at| &elements[at])?
        }
        (Kind::Map(entries) | Kind::Object(entries), WireType::Map(element)) => {
            let pack_entry = |(key, item): (&SmolStr, &Value)| {
                let item = pack(item, element).map_err(|error| error.inside(Step::Key(key.clone())))?;
                Ok((Packed::String(normalised(key).as_ref().into()), item))
            };
            Packed::Map(entries.iter().map(pack_entry).collect::<Result<_, _>>()?)
        }
        (Kind::Map(entries) | Kind::Object(entries), WireType::Object(attributes)) => {
            refuse_others(entries, |name| attributes.contains_key(name))?;
            let pack_attribute = |(name, ty): (&SmolStr, &WireType)| {
                let item = entries.get(name).map_or(Ok(Packed::Nil), |item| pack(item, ty));
                let item = item.map_err(|error| error.inside(Step::Key(name.clone())))?;
                Ok((Packed::String(name.as_str().into()), item))
            };
            Packed::Map(attributes.iter().map(pack_attribute).collect::<Result<_, _>>()?)
        }
        (kind, ty) => return Err(WireError::mismatch(ty, kind.name())),
    };
    Ok(packed)
}

fn pack_items<'t>(items: &[Value], ty: impl Fn(usize) -> &'t WireType) -> Result<Packed, WireError> {
    let pack_item = |(at, item)| pack(item, ty(at)).map_err(|error| error.inside(Step::Index(at as u64)));
    Ok(Packed::Array(items.iter().enumerate().map(pack_item).collect::<Result<_, _>>()?))
}

/// What has no place in an object would silently be lost.
pub(super) fn refuse_others(entries: &Entries, known: impl Fn(&str) -> bool) -> Result<(), WireError> {
    match entries.iter().find(|(name, value)| !known(name) && !value.is_null()) {
        Some((name, _)) => Err(WireError::new("has no place in the schema").inside(Step::Key(name.clone()))),
        None => Ok(()),
    }
}

/// Integers as such, all others as text: a float would be another number than was written.
fn pack_number(number: &Number) -> Packed {
    number.as_i64().map_or_else(|| Packed::String(number.to_plain_string().into()), Packed::from)
}

/// Text in normal form C, which the protocol asks for and other clients send.
fn normalised(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

fn type_json(ty: &Type) -> Vec<u8> {
    serde_json::to_vec(ty).unwrap_or_default()
}

fn unpack(packed: &ValueRef<'_>, ty: &WireType) -> Result<Value, WireError> {
    match (packed, ty) {
        (ValueRef::Nil, _) => Ok(Value::NULL),
        // Refinements are hints that may be ignored; whatever else an extension stands for is unknown too.
        (ValueRef::Ext(..), ty) => Ok(Value::unknown(ty.as_type())),
        (ValueRef::Array(parts), WireType::Any | WireType::AnyList(_) | WireType::AnyMap(_)) => {
            let [ty, inner] = parts.as_slice() else {
                return Err(WireError::mismatch(ty, "a list of another length"));
            };
            unpack(inner, &unpack_type(ty)?)
        }
        (ValueRef::Boolean(truth), WireType::Bool) => Ok(Value::from(*truth)),
        (packed, WireType::Number) => unpack_number(packed),
        (ValueRef::String(text), WireType::String) => {
            text.as_str().map(Value::from).ok_or_else(|| WireError::new("is text that is not UTF-8"))
        }
        (ValueRef::Array(items), WireType::List(element)) => {
            unpack_items(items, |_| element).map(Value::list)
        }
        (ValueRef::Array(items), WireType::Set(element)) => unpack_items(items, |_| element).map(Value::set),
        (ValueRef::Array(items), WireType::Tuple(elements)) if items.len() == elements.len() => {
            unpack_items(items, |at| &elements[at]).map(Value::tuple)
        }
        (ValueRef::Map(pairs), WireType::Map(element)) => {
            unpack_pairs(pairs, |_| Some(element)).map(Value::map)
        }
        (ValueRef::Map(pairs), WireType::Object(attributes)) => {
            let mut found = unpack_pairs(pairs, |name| attributes.get(name))?;
            let missing = attributes.keys().filter(|name| !found.iter().any(|(own, _)| own == *name));
            let missing: Vec<_> = missing.map(|name| (name.clone(), Value::NULL)).collect();
            found.extend(missing);
            Ok(Value::object(found))
        }
        (packed, ty) => Err(WireError::mismatch(ty, packed_name(packed))),
    }
}

fn unpack_type(packed: &ValueRef<'_>) -> Result<WireType, WireError> {
    let json = match packed {
        ValueRef::Binary(json) => json,
        ValueRef::String(text) => text.as_bytes(),
        _ => return Err(WireError::new("comes without its type")),
    };
    serde_json::from_slice::<Type>(json)
        .map(|ty| WireType::from(&ty))
        .map_err(|_| WireError::new("comes with a type that is none"))
}

fn unpack_number(packed: &ValueRef<'_>) -> Result<Value, WireError> {
    let number = match packed {
        ValueRef::Integer(int) => match (int.as_i64(), int.as_u64()) {
            (Some(int), _) => Ok(Number::from(int)),
            (None, Some(int)) => Ok(Number::from(int)),
            (None, None) => return Err(WireError::new("is no integer")),
        },
        // By way of text, which is the shortest that stands for this float: 0.1 and not 0.100000001.
        ValueRef::F32(float) => float.to_string().parse(),
        ValueRef::F64(float) => Number::try_from(*float),
        ValueRef::String(text) => text.as_str().unwrap_or_default().parse(),
        other => return Err(WireError::mismatch(&WireType::Number, packed_name(other))),
    };
    number.map(Value::number).map_err(|error| WireError::new(error.to_string()))
}

fn unpack_items<'t>(
    items: &[ValueRef<'_>],
    ty: impl Fn(usize) -> &'t WireType,
) -> Result<Vec<Value>, WireError> {
    let unpack_item = |(at, item)| unpack(item, ty(at)).map_err(|error| error.inside(Step::Index(at as u64)));
    items.iter().enumerate().map(unpack_item).collect()
}

fn unpack_pairs<'t, T: AsRef<WireType> + 't>(
    pairs: &[(ValueRef<'_>, ValueRef<'_>)],
    ty: impl Fn(&str) -> Option<&'t T>,
) -> Result<Vec<(SmolStr, Value)>, WireError> {
    let unpack_pair = |(key, item): &(ValueRef<'_>, ValueRef<'_>)| {
        let ValueRef::String(key) = key else { return Err(WireError::new("has a key that is no text")) };
        let key = key.as_str().ok_or_else(|| WireError::new("has a key that is not UTF-8"))?;
        let step = || Step::key(key);
        let ty = ty(key).ok_or_else(|| WireError::new("has no place in the schema").inside(step()))?;
        Ok((SmolStr::new(key), unpack(item, ty.as_ref()).map_err(|error| error.inside(step()))?))
    };
    pairs.iter().map(unpack_pair).collect()
}

fn packed_name(packed: &ValueRef<'_>) -> &'static str {
    match packed {
        ValueRef::Nil => "null",
        ValueRef::Boolean(_) => "a bool",
        ValueRef::Integer(_) | ValueRef::F32(_) | ValueRef::F64(_) => "a number",
        ValueRef::String(_) => "a string",
        ValueRef::Binary(_) => "bytes",
        ValueRef::Array(_) => "a list",
        ValueRef::Map(_) => "keys with values",
        ValueRef::Ext(..) => "an unknown value",
    }
}
