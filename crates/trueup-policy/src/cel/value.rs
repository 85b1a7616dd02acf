//! Values, and how they compare.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::map::Map;
use super::steps::{Exhausted, Steps, width};
use super::time::{Duration, Timestamp};

/// A value. Clones take constant time.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// Text.
    String(SmolStr),
    /// Octets.
    Bytes(Arc<[u8]>),
    /// Values in order.
    List(Arc<[Value]>),
    /// Values under keys.
    Map(Map),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A type, which is a value too.
    Type(Type),
    /// `optional.of(…)` or `optional.none()`.
    Optional(Option<Arc<Value>>),
    /// A value that is not known yet. No expression evaluates to it: that is an error instead.
    Unknown,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the type of the variant of the same name")]
pub enum Type {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List,
    Map,
    Timestamp,
    Duration,
    Type,
    Optional,
    Unknown,
}

impl Type {
    /// All types that expressions can name.
    pub(super) const ALL: [Type; 13] = [
        Type::Null,
        Type::Bool,
        Type::Int,
        Type::Uint,
        Type::Double,
        Type::String,
        Type::Bytes,
        Type::List,
        Type::Map,
        Type::Timestamp,
        Type::Duration,
        Type::Type,
        Type::Optional,
    ];

    /// The name by which expressions refer to the type.
    pub fn name(self) -> &'static str {
        match self {
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::List => "list",
            Type::Map => "map",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Duration => "google.protobuf.Duration",
            Type::Type => "type",
            Type::Optional => "optional_type",
            Type::Unknown => "unknown",
        }
    }
}

impl Value {
    /// A list of these values.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::List(items.into_iter().collect())
    }

    /// The type of the value.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::List(_) => Type::List,
            Value::Map(_) => Type::Map,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Duration(_) => Type::Duration,
            Value::Type(_) => Type::Type,
            Value::Optional(_) => Type::Optional,
            Value::Unknown => Type::Unknown,
        }
    }

    /// Whether the value itself is unknown, or an optional's.
    pub(super) fn is_unknown(&self) -> bool {
        match self {
            Value::Unknown => true,
            Value::Optional(Some(inner)) => inner.is_unknown(),
            _ => false,
        }
    }

    /// Whether two values are equal; `None` if that depends on parts that are unknown. Each part that is looked at costs
    /// its steps.
    pub(super) fn equals(&self, other: &Value, steps: &Steps) -> Result<Option<bool>, Exhausted> {
        steps.spend(1)?;
        match (self, other) {
            (Value::Unknown, _) | (_, Value::Unknown) => Ok(None),
            (Value::List(one), Value::List(other)) if one.len() == other.len() => {
                all_equal(one.iter().zip(other.iter()), steps)
            }
            (Value::Map(one), Value::Map(other)) if same_keys(one, other, steps)? => {
                all_equal(one.values().zip(other.values()), steps)
            }
            (Value::Optional(Some(one)), Value::Optional(Some(other))) => one.equals(other, steps),
            // Their lengths or their keys differ. To compare them as a whole would go inside all the same.
            (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => Ok(Some(false)),
            (Value::String(_), Value::String(_)) | (Value::Bytes(_), Value::Bytes(_)) => {
                steps.spend(width(self).min(width(other)))?;
                Ok(Some(self == other))
            }
            _ => Ok(Some(self == other)),
        }
    }

    /// The order of two values. `None` if their types have none between them.
    pub(super) fn order(&self, other: &Value) -> Option<Order> {
        let ordering = match (self, other) {
            (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
            (Value::String(one), Value::String(other)) => one.cmp(other),
            (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
            (Value::Timestamp(one), Value::Timestamp(other)) => one.cmp(other),
            (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
            _ => return order_numbers(self, other),
        };
        Some(Order::Ordered(ordering))
    }
}

/// Whether all pairs are equal. One that is not decides, whatever the unknown ones turn out to be.
fn all_equal<'v>(
    pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    steps: &Steps,
) -> Result<Option<bool>, Exhausted> {
    let mut known = true;
    for (one, other) in pairs {
        match one.equals(other, steps)? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => known = false,
        }
    }
    Ok(known.then_some(true))
}

fn same_keys(one: &Map, other: &Map, steps: &Steps) -> Result<bool, Exhausted> {
    if one.len() != other.len() {
        return Ok(false);
    }
    for (one, other) in one.keys().zip(other.keys()) {
        steps.spend(one.cost())?;
        if one != other {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How two values of comparable types compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Ordered(Ordering),
    /// One of them is not a number.
    Unordered,
}

/// Numbers of all types lie on one line. Beside a double, an integer counts as the double nearest to it, as CEL's
/// conformance tests have it.
fn order_numbers(one: &Value, other: &Value) -> Option<Order> {
    let doubles = |one: f64, other: f64| one.partial_cmp(&other).map_or(Order::Unordered, Order::Ordered);
    Some(match (one, other) {
        (Value::Int(one), Value::Int(other)) => Order::Ordered(one.cmp(other)),
        (Value::Double(one), other) => doubles(*one, nearest_double(other)?),
        (one, Value::Double(other)) => doubles(nearest_double(one)?, *other),
        (one, other) => Order::Ordered(integer(one)?.cmp(&integer(other)?)),
    })
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Uint(value) => Some(i128::from(*value)),
        _ => None,
    }
}

fn nearest_double(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Uint(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

impl PartialEq for Value {
    /// CEL's `==`: values of different types are unequal, except that numbers compare by what they amount to.
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::String(one), Value::String(other)) => one == other,
            (Value::Bytes(one), Value::Bytes(other)) => one == other,
            (Value::List(one), Value::List(other)) => one == other,
            (Value::Map(one), Value::Map(other)) => one == other,
            (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
            (Value::Duration(one), Value::Duration(other)) => one == other,
            (Value::Type(one), Value::Type(other)) => one == other,
            (Value::Optional(one), Value::Optional(other)) => one == other,
            _ => order_numbers(self, other) == Some(Order::Ordered(Ordering::Equal)),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl fmt::Display for Value {
    /// The value as an expression that evaluates to it, infinities and NaN aside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Uint(value) => write!(f, "{value}u"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::String(text) => write_quoted(f, text),
            Value::Bytes(bytes) => {
                f.write_str("b\"")?;
                bytes.iter().try_for_each(|byte| match byte {
                    b'"' | b'\\' => write!(f, "\\{}", char::from(*byte)),
                    b' '..=b'~' => write!(f, "{}", char::from(*byte)),
                    _ => write!(f, "\\x{byte:02x}"),
                })?;
                f.write_str("\"")
            }
            Value::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Map(map) => write!(f, "{map}"),
            Value::Timestamp(timestamp) => write!(f, "timestamp(\"{timestamp}\")"),
            Value::Duration(duration) => write!(f, "duration(\"{duration}\")"),
            Value::Type(of) => f.write_str(of.name()),
            Value::Optional(None) => f.write_str("optional.none()"),
            Value::Optional(Some(value)) => write!(f, "optional.of({value})"),
            Value::Unknown => f.write_str("unknown"),
        }
    }
}

pub(super) fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    text.chars().try_for_each(|character| match character {
        '"' | '\\' => write!(f, "\\{character}"),
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        _ if character.is_control() => write!(f, "\\u{:04x}", u32::from(character)),
        _ => write!(f, "{character}"),
    })?;
    f.write_str("\"")
}
