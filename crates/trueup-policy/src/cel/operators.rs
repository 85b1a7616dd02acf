//! Operators on values.

use std::cmp::Ordering;

use super::steps::{Exhausted, Steps, width};
use super::value::{Order, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnaryOperator {
    Not,
    Negate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BinaryOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl UnaryOperator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Not => "!",
            UnaryOperator::Negate => "-",
        }
    }
}

impl BinaryOperator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::In => "in",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
        }
    }
}

/// The failure of an operator or a function.
pub(super) enum Fault {
    /// It is not defined for operands of these types.
    Mismatch,
    /// It is defined for them, but not for these values.
    Failed(String),
    /// The same with a message that quotes a value, and what is left of it without.
    Quoting { message: String, valueless: &'static str },
    /// It depends on parts that are unknown.
    Unknown,
    /// It takes more steps than are left.
    Exhausted(Exhausted),
}

impl From<Exhausted> for Fault {
    fn from(exhausted: Exhausted) -> Self {
        Fault::Exhausted(exhausted)
    }
}

impl Fault {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Fault::Failed(message.into())
    }
}

pub(super) fn unary(operator: UnaryOperator, operand: &Value) -> Result<Value, Fault> {
    match (operator, operand) {
        (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (UnaryOperator::Negate, Value::Int(value)) => {
            value.checked_neg().map(Value::Int).ok_or_else(overflow)
        }
        (UnaryOperator::Negate, Value::Double(value)) => Ok(Value::Double(-value)),
        _ => Err(Fault::Mismatch),
    }
}

pub(super) fn binary(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
    steps: &Steps,
) -> Result<Value, Fault> {
    let ordered = |holds: fn(Ordering) -> bool| {
        steps.spend(width(left).min(width(right)))?;
        match left.order(right) {
            Some(Order::Ordered(ordering)) => Ok(Value::Bool(holds(ordering))),
            Some(Order::Unordered) => Ok(Value::Bool(false)),
            None => Err(Fault::Mismatch),
        }
    };
    let equal = || left.equals(right, steps)?.ok_or(Fault::Unknown);
    match operator {
        BinaryOperator::Equal => equal().map(Value::Bool),
        BinaryOperator::NotEqual => equal().map(|equal| Value::Bool(!equal)),
        BinaryOperator::Less => ordered(Ordering::is_lt),
        BinaryOperator::LessOrEqual => ordered(Ordering::is_le),
        BinaryOperator::Greater => ordered(Ordering::is_gt),
        BinaryOperator::GreaterOrEqual => ordered(Ordering::is_ge),
        BinaryOperator::In => contains(right, left, steps),
        BinaryOperator::Add => {
            steps.spend(width(left) + width(right))?;
            add(left, right)
        }
        BinaryOperator::Subtract => subtract(left, right),
        BinaryOperator::Multiply => multiply(left, right),
        BinaryOperator::Divide => divide(left, right),
        BinaryOperator::Remainder => remainder(left, right),
    }
}

fn contains(container: &Value, item: &Value, steps: &Steps) -> Result<Value, Fault> {
    match container {
        Value::List(items) => {
            let mut known = true;
            for other in items.iter() {
                match other.equals(item, steps)? {
                    Some(true) => return Ok(Value::Bool(true)),
                    Some(false) => {}
                    None => known = false,
                }
            }
            if known { Ok(Value::Bool(false)) } else { Err(Fault::Unknown) }
        }
        Value::Map(map) if may_find_key(item) => {
            steps.spend(width(item))?;
            Ok(Value::Bool(map.get(item).is_some()))
        }
        _ => Err(Fault::Mismatch),
    }
}

fn may_find_key(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_))
}

fn add(left: &Value, right: &Value) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_add(*other).ok_or_else(overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_add(*other).ok_or_else(overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one + other),
        (Value::String(one), Value::String(other)) => Value::String([one.as_str(), other].concat().into()),
        (Value::Bytes(one), Value::Bytes(other)) => Value::Bytes([&**one, other].concat().into()),
        (Value::List(one), Value::List(other)) => Value::List(one.iter().chain(&**other).cloned().collect()),
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_add(*other).ok_or_else(out_of_time)?)
        }
        (Value::Timestamp(at), Value::Duration(by)) | (Value::Duration(by), Value::Timestamp(at)) => {
            Value::Timestamp(at.checked_add(*by).ok_or_else(out_of_time)?)
        }
        _ => return Err(Fault::Mismatch),
    })
}

fn subtract(left: &Value, right: &Value) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_sub(*other).ok_or_else(overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_sub(*other).ok_or_else(overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one - other),
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_sub(*other).ok_or_else(out_of_time)?)
        }
        (Value::Timestamp(at), Value::Duration(by)) => {
            Value::Timestamp(at.checked_sub(*by).ok_or_else(out_of_time)?)
        }
        (Value::Timestamp(at), Value::Timestamp(earlier)) => {
            Value::Duration(at.since(*earlier).ok_or_else(out_of_time)?)
        }
        _ => return Err(Fault::Mismatch),
    })
}

fn multiply(left: &Value, right: &Value) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_mul(*other).ok_or_else(overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_mul(*other).ok_or_else(overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one * other),
        _ => return Err(Fault::Mismatch),
    })
}

/// Integers are rounded towards zero; doubles follow IEEE 754, where a division by zero is infinite.
fn divide(left: &Value, right: &Value) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::failed("division by zero"));
        }
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_div(*other).ok_or_else(overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one / other),
        (Value::Double(one), Value::Double(other)) => Value::Double(one / other),
        _ => return Err(Fault::Mismatch),
    })
}

/// The remainder has the sign of the dividend.
fn remainder(left: &Value, right: &Value) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::failed("remainder of a division by zero"));
        }
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_rem(*other).ok_or_else(overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one % other),
        _ => return Err(Fault::Mismatch),
    })
}

fn overflow() -> Fault {
    Fault::failed("integer overflow")
}

fn out_of_time() -> Fault {
    Fault::failed("time out of range")
}
