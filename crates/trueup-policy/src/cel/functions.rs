//! The standard functions.

use std::sync::Arc;

use smol_str::{SmolStr, ToSmolStr};

use super::operators::Fault;
use super::time::{self, Calendar, Duration, Timestamp};
use super::value::Value;

/// A function of one call style and number of arguments.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) style: Style,
    pub(super) body: Body,
}

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `size(text)`
    Global,
    /// `text.size()`: the receiver is the first argument.
    Member,
}

type Outcome = Result<Value, Fault>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    None(fn() -> Value),
    One(fn(&Value) -> Outcome),
    Two(fn(&Value, &Value) -> Outcome),
}

impl Function {
    /// How many arguments it takes, a receiver included.
    pub(super) fn arity(&self) -> usize {
        match self.body {
            Body::None(_) => 0,
            Body::One(_) => 1,
            Body::Two(_) => 2,
        }
    }
}

const fn global(name: &'static str, body: Body) -> Function {
    Function { name, style: Style::Global, body }
}

const fn member(name: &'static str, body: Body) -> Function {
    Function { name, style: Style::Member, body }
}

/// All functions. `matches` with a constant pattern is compiled apart, so that the pattern is read once.
pub(super) static FUNCTIONS: [Function; 44] = [
    global("size", Body::One(size)),
    member("size", Body::One(size)),
    member("contains", Body::Two(|text, part| test(text, part, |text, part| text.contains(part)))),
    member("startsWith", Body::Two(|text, part| test(text, part, |text, part| text.starts_with(part)))),
    member("endsWith", Body::Two(|text, part| test(text, part, |text, part| text.ends_with(part)))),
    global("matches", Body::Two(matches)),
    member("matches", Body::Two(matches)),
    global("bool", Body::One(to_bool)),
    global("bytes", Body::One(to_bytes)),
    global("double", Body::One(to_double)),
    global("duration", Body::One(to_duration)),
    global("dyn", Body::One(|value| Ok(value.clone()))),
    global("int", Body::One(to_int)),
    global("string", Body::One(to_string)),
    global("timestamp", Body::One(to_timestamp)),
    global("type", Body::One(|value| Ok(Value::Type(value.type_of())))),
    global("uint", Body::One(to_uint)),
    member("getFullYear", Body::One(|at| utc(at, |date| date.year))),
    member("getFullYear", Body::Two(|at, zone| zoned(at, zone, |date| date.year))),
    member("getMonth", Body::One(|at| utc(at, |date| date.month - 1))),
    member("getMonth", Body::Two(|at, zone| zoned(at, zone, |date| date.month - 1))),
    member("getDate", Body::One(|at| utc(at, |date| date.day))),
    member("getDate", Body::Two(|at, zone| zoned(at, zone, |date| date.day))),
    member("getDayOfMonth", Body::One(|at| utc(at, |date| date.day - 1))),
    member("getDayOfMonth", Body::Two(|at, zone| zoned(at, zone, |date| date.day - 1))),
    member("getDayOfWeek", Body::One(|at| utc(at, |date| date.weekday))),
    member("getDayOfWeek", Body::Two(|at, zone| zoned(at, zone, |date| date.weekday))),
    member("getDayOfYear", Body::One(|at| utc(at, |date| date.day_of_year))),
    member("getDayOfYear", Body::Two(|at, zone| zoned(at, zone, |date| date.day_of_year))),
    member("getHours", Body::One(|at| total_or_utc(at, 3_600_000_000_000, |date| date.hour))),
    member("getHours", Body::Two(|at, zone| zoned(at, zone, |date| date.hour))),
    member("getMinutes", Body::One(|at| total_or_utc(at, 60_000_000_000, |date| date.minute))),
    member("getMinutes", Body::Two(|at, zone| zoned(at, zone, |date| date.minute))),
    member("getSeconds", Body::One(|at| total_or_utc(at, 1_000_000_000, |date| date.second))),
    member("getSeconds", Body::Two(|at, zone| zoned(at, zone, |date| date.second))),
    member("getMilliseconds", Body::One(milliseconds)),
    member("getMilliseconds", Body::Two(|at, zone| zoned(at, zone, |date| date.millisecond))),
    global("optional.none", Body::None(|| Value::Optional(None))),
    global("optional.of", Body::One(|value| Ok(Value::Optional(Some(Arc::new(value.clone())))))),
    global("optional.ofNonZeroValue", Body::One(optional_of_non_zero)),
    member("hasValue", Body::One(|optional| optional_of(optional).map(|it| Value::Bool(it.is_some())))),
    member("value", Body::One(optional_value)),
    member("or", Body::Two(optional_or)),
    member("orValue", Body::Two(|optional, other| Ok(optional_of(optional)?.unwrap_or(other).clone()))),
];

fn size(value: &Value) -> Outcome {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.len(),
        _ => return Err(Fault::Mismatch),
    };
    Ok(Value::Int(size as i64))
}

fn test(text: &Value, part: &Value, holds: fn(&str, &str) -> bool) -> Outcome {
    match (text, part) {
        (Value::String(text), Value::String(part)) => Ok(Value::Bool(holds(text, part))),
        _ => Err(Fault::Mismatch),
    }
}

fn matches(text: &Value, pattern: &Value) -> Outcome {
    match (text, pattern) {
        (Value::String(text), Value::String(pattern)) => {
            let pattern = regular_expression(pattern, DYNAMIC_PATTERN_BYTES_MAX)
                .map_err(|message| Fault::Quoting { message, valueless: "invalid regular expression" })?;
            Ok(Value::Bool(pattern.is_match(text)))
        }
        _ => Err(Fault::Mismatch),
    }
}

/// How large a pattern may become that is compiled once.
pub(super) const CONSTANT_PATTERN_BYTES_MAX: usize = 10 * 1024 * 1024;

/// The same for one that is compiled at every evaluation.
const DYNAMIC_PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// What compiling a pattern costs at every evaluation, in steps.
pub(super) const DYNAMIC_PATTERN_STEPS: u64 = 10_000;

/// Compiles a pattern of `matches`. The message of an error says what is wrong with it, in one line.
pub(super) fn regular_expression(pattern: &str, bytes_max: usize) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(pattern).size_limit(bytes_max).build().map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default();
        format!("invalid regular expression: {}", reason.strip_prefix("error: ").unwrap_or(reason))
    })
}

fn to_bool(value: &Value) -> Outcome {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(Fault::failed("the string is neither `true` nor `false`")),
        },
        _ => Err(Fault::Mismatch),
    }
}

fn to_bytes(value: &Value) -> Outcome {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(text) => Ok(Value::Bytes(text.as_bytes().into())),
        _ => Err(Fault::Mismatch),
    }
}

fn to_double(value: &Value) -> Outcome {
    match value {
        Value::Double(_) => Ok(value.clone()),
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        Value::String(text) => {
            text.parse().map(Value::Double).map_err(|_| Fault::failed("the string is no double"))
        }
        _ => Err(Fault::Mismatch),
    }
}

fn to_duration(value: &Value) -> Outcome {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => Duration::parse(text)
            .map(Value::Duration)
            .ok_or_else(|| Fault::failed("the string is no duration, such as `1h30m`, or out of range")),
        _ => Err(Fault::Mismatch),
    }
}

/// Doubles are rounded towards zero. The limits themselves are out of range, since doubles near them are not exact.
fn to_int(value: &Value) -> Outcome {
    match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(value) => i64::try_from(*value).map(Value::Int).map_err(|_| out_of_range()),
        Value::Double(value) => {
            let limit = i64::MAX as f64;
            let fits = *value > -limit && *value < limit;
            if fits { Ok(Value::Int(*value as i64)) } else { Err(out_of_range()) }
        }
        Value::String(text) => {
            text.parse().map(Value::Int).map_err(|_| Fault::failed("the string is no int"))
        }
        Value::Timestamp(at) => Ok(Value::Int(at.seconds())),
        _ => Err(Fault::Mismatch),
    }
}

fn to_uint(value: &Value) -> Outcome {
    match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(value) => u64::try_from(*value).map(Value::Uint).map_err(|_| out_of_range()),
        Value::Double(value) => {
            let fits = *value >= 0.0 && *value < u64::MAX as f64;
            if fits { Ok(Value::Uint(*value as u64)) } else { Err(out_of_range()) }
        }
        Value::String(text) => {
            text.parse().map(Value::Uint).map_err(|_| Fault::failed("the string is no uint"))
        }
        _ => Err(Fault::Mismatch),
    }
}

fn to_string(value: &Value) -> Outcome {
    Ok(Value::String(match value {
        Value::String(text) => text.clone(),
        Value::Bool(value) => value.to_smolstr(),
        Value::Int(value) => value.to_smolstr(),
        Value::Uint(value) => value.to_smolstr(),
        Value::Double(value) => value.to_smolstr(),
        Value::Bytes(bytes) => match str::from_utf8(bytes) {
            Ok(text) => SmolStr::new(text),
            Err(_) => return Err(Fault::failed("the bytes are not UTF-8")),
        },
        Value::Timestamp(at) => at.to_smolstr(),
        Value::Duration(duration) => duration.to_smolstr(),
        _ => return Err(Fault::Mismatch),
    }))
}

fn to_timestamp(value: &Value) -> Outcome {
    let timestamp = match value {
        Value::Timestamp(_) => return Ok(value.clone()),
        Value::Int(seconds) => Timestamp::from_seconds(*seconds),
        Value::String(text) => Timestamp::parse(text),
        _ => return Err(Fault::Mismatch),
    };
    timestamp.map(Value::Timestamp).ok_or_else(|| {
        Fault::failed("not a timestamp, such as `2026-01-31T12:00:00Z`, between the years 1 and 9999")
    })
}

fn out_of_range() -> Fault {
    Fault::failed("number out of range")
}

/// A part of a timestamp's date and time in UTC.
fn utc(at: &Value, part: fn(Calendar) -> i64) -> Outcome {
    match at {
        Value::Timestamp(at) => Ok(Value::Int(part(at.calendar(0)))),
        _ => Err(Fault::Mismatch),
    }
}

/// The same in a time zone.
fn zoned(at: &Value, zone: &Value, part: fn(Calendar) -> i64) -> Outcome {
    let (Value::Timestamp(at), Value::String(zone)) = (at, zone) else { return Err(Fault::Mismatch) };
    let offset = match zone.as_str() {
        "" | "UTC" => Some(0),
        zone => time::offset_seconds(zone),
    };
    let offset = offset.ok_or_else(|| Fault::Quoting {
        message: format!("time zone `{zone}` is not supported; use `UTC` or an offset such as `+02:00`"),
        valueless: "the time zone is not supported; use `UTC` or an offset such as `+02:00`",
    })?;
    Ok(Value::Int(part(at.calendar(offset))))
}

/// A duration in whole units, or a part of a timestamp.
fn total_or_utc(value: &Value, unit_nanos: i64, part: fn(Calendar) -> i64) -> Outcome {
    match value {
        Value::Duration(duration) => Ok(Value::Int(duration.nanos() / unit_nanos)),
        _ => utc(value, part),
    }
}

/// Unlike the other units, the milliseconds of a duration are those beyond its whole seconds.
fn milliseconds(value: &Value) -> Outcome {
    match value {
        Value::Duration(duration) => Ok(Value::Int(duration.nanos() / 1_000_000 % 1_000)),
        _ => utc(value, |date| date.millisecond),
    }
}

fn optional_of(value: &Value) -> Result<Option<&Value>, Fault> {
    match value {
        Value::Optional(inner) => Ok(inner.as_deref()),
        _ => Err(Fault::Mismatch),
    }
}

fn optional_value(value: &Value) -> Outcome {
    optional_of(value)?.cloned().ok_or_else(|| Fault::failed("`optional.none()` has no value"))
}

fn optional_or(value: &Value, other: &Value) -> Outcome {
    optional_of(other)?;
    Ok(if optional_of(value)?.is_some() { value.clone() } else { other.clone() })
}

fn optional_of_non_zero(value: &Value) -> Outcome {
    let zero = match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Duration(duration) => duration.nanos() == 0,
        Value::Timestamp(_) | Value::Type(_) | Value::Optional(_) | Value::Unknown => false,
    };
    Ok(Value::Optional((!zero).then(|| Arc::new(value.clone()))))
}
