//! Operators: operands become numbers or bools where they can, and are told where they cannot.

use trueup_core::{Diagnostic, Kind, Number, Origin, Type, Value, convert};

use super::conditional::bounds;
use super::{ArithmeticError, Evaluator, arithmetic, equal};
use crate::syntax::{Binary, BinaryOperator, Expr, Operation, UnaryOperator, spanning};

impl Evaluator<'_> {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expr) -> Value {
        let value = self.value(operand);
        let result = match operator {
            UnaryOperator::Negate => self.operand(&value, &Type::Number, operator.symbol(), operand.origin),
            UnaryOperator::Not => self.operand(&value, &Type::Bool, operator.symbol(), operand.origin),
        };
        let Some(result) = result else { return Value::unknown(wanted_by(operator)).never_null() };
        let computed = match result.kind() {
            Kind::Number(number) => Value::number(arithmetic::negate(number)),
            Kind::Bool(truth) => Value::from(!truth),
            _ => Value::unknown(wanted_by(operator)).never_null(),
        };
        computed.with_marks(value.marks())
    }

    /// A chain of operations, from left to right.
    pub(super) fn binary(&mut self, chain: &Binary) -> Value {
        let mut value = self.value(&chain.first);
        let mut origin = chain.first.origin;
        for operation in &chain.operations {
            let left_origin = origin;
            origin = spanning(origin, operation.right.origin);
            value = self.operation(&value, left_origin, operation).with_origin(origin);
        }
        value
    }

    fn operation(&mut self, left: &Value, left_origin: Origin, binary: &Operation) -> Value {
        match binary.operator {
            BinaryOperator::And => self.logical(left, left_origin, binary, false),
            BinaryOperator::Or => self.logical(left, left_origin, binary, true),
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let right = self.value(&binary.right);
                let marks = left.all_marks() | right.all_marks();
                let wanted = binary.operator == BinaryOperator::Equal;
                let result = match equal(left, &right) {
                    Some(equal) => Value::from(equal == wanted),
                    None => Value::unknown(Type::Bool).never_null(),
                };
                result.with_marks(marks)
            }
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual
            | BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder => self.numeric(left, left_origin, binary),
        }
    }

    /// `deciding` on the left settles the result, and then what is wrong on the right does not matter.
    fn logical(&mut self, left: &Value, left_origin: Origin, binary: &Operation, deciding: bool) -> Value {
        let symbol = binary.operator.symbol();
        let converted = self.operand(left, &Type::Bool, symbol, left_origin);
        if converted.as_ref().and_then(Value::as_bool) == Some(deciding) {
            let (right, told) = self.attempt(&binary.right);
            // What can be no bool at all is a mistake all the same.
            if told.is_empty() && !right.is_null() {
                self.operand(&right, &Type::Bool, symbol, binary.right.origin);
            }
            return Value::from(deciding).with_marks(left.marks());
        }
        let right = self.value(&binary.right);
        let right_converted = self.operand(&right, &Type::Bool, symbol, binary.right.origin);
        let marks = left.marks() | right.marks();
        let result = match (converted, right_converted.as_ref().and_then(Value::as_bool)) {
            (Some(_), Some(right)) if right == deciding => Value::from(deciding),
            (Some(left), Some(right)) if left.as_bool().is_some() => Value::from(right),
            _ => Value::unknown(Type::Bool).never_null(),
        };
        result.with_marks(marks)
    }

    fn numeric(&mut self, left: &Value, left_origin: Origin, binary: &Operation) -> Value {
        let right = self.value(&binary.right);
        let symbol = binary.operator.symbol();
        let left_number = self.operand(left, &Type::Number, symbol, left_origin);
        let right_number = self.operand(&right, &Type::Number, symbol, binary.right.origin);
        let divides = matches!(binary.operator, BinaryOperator::Divide | BinaryOperator::Remainder);
        let result = match (left_number, right_number) {
            (Some(left), Some(right)) => match (left.as_number(), right.as_number()) {
                (Some(left), Some(right)) => self.computed(left, right, binary),
                // Whatever the left one turns out to be.
                (_, Some(right)) if divides && *right == Number::from(0) => {
                    self.arithmetic_mistake(ArithmeticError::DivisionByZero, binary)
                }
                _ => compared(&left, &right, binary.operator)
                    .unwrap_or_else(|| Value::unknown(result_type(binary.operator)).never_null()),
            },
            _ => Value::unknown(result_type(binary.operator)).never_null(),
        };
        result.with_marks(left.marks() | right.marks())
    }

    fn computed(&mut self, left: &Number, right: &Number, binary: &Operation) -> Value {
        let result = match binary.operator {
            BinaryOperator::Less => return Value::from(left < right),
            BinaryOperator::LessOrEqual => return Value::from(left <= right),
            BinaryOperator::Greater => return Value::from(left > right),
            BinaryOperator::GreaterOrEqual => return Value::from(left >= right),
            BinaryOperator::Subtract => arithmetic::subtract(left, right),
            BinaryOperator::Multiply => arithmetic::multiply(left, right),
            BinaryOperator::Divide => arithmetic::divide(left, right),
            BinaryOperator::Remainder => arithmetic::remainder(left, right),
            // The others never come here.
            _ => arithmetic::add(left, right),
        };
        match result {
            Ok(number) => Value::number(number),
            Err(error) => self.arithmetic_mistake(error, binary),
        }
    }

    fn arithmetic_mistake(&mut self, error: ArithmeticError, binary: &Operation) -> Value {
        let origin = match error {
            ArithmeticError::DivisionByZero => binary.right.origin,
            ArithmeticError::TooLarge => binary.operator_origin,
        };
        self.mistake(origin, format!("`{}` {error}", binary.operator.symbol()))
    }

    /// The operand as a bool or number, unknown if it is, or `None` once it is told that it cannot be one.
    fn operand(&mut self, value: &Value, wanted: &Type, symbol: &str, origin: Origin) -> Option<Value> {
        if value.is_null() {
            let summary = format!("`{symbol}` needs a {wanted}, and this is null");
            self.mistake(origin, summary);
            return None;
        }
        match convert(value, wanted) {
            Ok(converted) => Some(converted),
            Err(_) => {
                let found = match value.kind() {
                    Kind::String(_) => "text that is none".to_owned(),
                    _ => self.described(value),
                };
                let mut diagnostic =
                    Diagnostic::error(format!("`{symbol}` needs a {wanted}, and this is {found}"));
                if symbol == "+" && matches!(value.kind(), Kind::String(_)) {
                    diagnostic = diagnostic.hint("texts are joined in a template: \"${a}${b}\"");
                } else if symbol == "+" && matches!(value.kind(), Kind::List(_)) {
                    diagnostic = diagnostic.hint("lists are joined by the function `concat`");
                }
                self.tell(origin, diagnostic);
                None
            }
        }
    }
}

/// What the bounds of unknown numbers say of a comparison.
fn compared(left: &Value, right: &Value, operator: BinaryOperator) -> Option<Value> {
    let (left, right) = (bounds(left)?, bounds(right)?);
    let below = |left: Bounds, right: Bounds| Some(left.1? < right.0?);
    let not_above = |left: Bounds, right: Bounds| Some(left.1? <= right.0?);
    let settled = |holds: Option<bool>, fails: Option<bool>| match (holds, fails) {
        (Some(true), _) => Some(Value::from(true)),
        (_, Some(true)) => Some(Value::from(false)),
        _ => None,
    };
    match operator {
        BinaryOperator::Less => settled(below(left, right), not_above(right, left)),
        BinaryOperator::LessOrEqual => settled(not_above(left, right), below(right, left)),
        BinaryOperator::Greater => settled(below(right, left), not_above(left, right)),
        BinaryOperator::GreaterOrEqual => settled(not_above(right, left), below(left, right)),
        _ => None,
    }
}

/// The least and the most that a number can be.
type Bounds = (Option<usize>, Option<usize>);

fn wanted_by(operator: UnaryOperator) -> Type {
    match operator {
        UnaryOperator::Negate => Type::Number,
        UnaryOperator::Not => Type::Bool,
    }
}

fn result_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder => Type::Number,
        _ => Type::Bool,
    }
}
