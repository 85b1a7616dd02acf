//! Operators: operands become numbers or bools where they can, and are told where they cannot.

use trueup_core::{Diagnostic, Kind, Number, Origin, Type, Value, convert};

use super::{ArithmeticError, Evaluator, arithmetic, equal};
use crate::syntax::{Binary, BinaryOperator, Expr, ExprKind, UnaryOperator};

impl Evaluator<'_> {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expr) -> Value {
        let value = self.value(operand);
        let result = match operator {
            UnaryOperator::Negate => self.operand(&value, &Type::Number, operator.symbol(), operand.origin),
            UnaryOperator::Not => self.operand(&value, &Type::Bool, operator.symbol(), operand.origin),
        };
        let Some(result) = result else { return Value::unknown(wanted_by(operator)) };
        let computed = match result.kind() {
            Kind::Number(number) => Value::number(arithmetic::negate(number)),
            Kind::Bool(truth) => Value::from(!truth),
            _ => Value::unknown(wanted_by(operator)),
        };
        computed.with_marks(value.marks())
    }

    /// Chains lean to the left and may be long, so their left sides are walked in a loop.
    pub(super) fn binary(&mut self, expression: &Expr) -> Value {
        let mut spine = Vec::new();
        let mut leftmost = expression;
        while let ExprKind::Binary(binary) = &leftmost.kind {
            spine.push((&**binary, leftmost.origin));
            leftmost = &binary.left;
        }
        let mut value = self.value(leftmost);
        while let Some((binary, origin)) = spine.pop() {
            value = self.operation(&value, binary).with_origin(origin);
        }
        value
    }

    fn operation(&mut self, left: &Value, binary: &Binary) -> Value {
        match binary.operator {
            BinaryOperator::And => self.logical(left, binary, false),
            BinaryOperator::Or => self.logical(left, binary, true),
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let right = self.value(&binary.right);
                let marks = left.all_marks() | right.all_marks();
                let wanted = binary.operator == BinaryOperator::Equal;
                let result = match equal(left, &right) {
                    Some(equal) => Value::from(equal == wanted),
                    None => Value::unknown(Type::Bool),
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
            | BinaryOperator::Remainder => self.numeric(left, binary),
        }
    }

    /// `deciding` on the left settles the result, and then what is wrong on the right does not matter.
    fn logical(&mut self, left: &Value, binary: &Binary, deciding: bool) -> Value {
        let symbol = binary.operator.symbol();
        let converted = self.operand(left, &Type::Bool, symbol, binary.left.origin);
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
            _ => Value::unknown(Type::Bool),
        };
        result.with_marks(marks)
    }

    fn numeric(&mut self, left: &Value, binary: &Binary) -> Value {
        let right = self.value(&binary.right);
        let symbol = binary.operator.symbol();
        let left_number = self.operand(left, &Type::Number, symbol, binary.left.origin);
        let right_number = self.operand(&right, &Type::Number, symbol, binary.right.origin);
        let divides = matches!(binary.operator, BinaryOperator::Divide | BinaryOperator::Remainder);
        let result = match (left_number, right_number) {
            (Some(left), Some(right)) => match (left.as_number(), right.as_number()) {
                (Some(left), Some(right)) => self.computed(left, right, binary),
                // Whatever the left one turns out to be.
                (_, Some(right)) if divides && *right == Number::from(0) => {
                    self.arithmetic_mistake(ArithmeticError::DivisionByZero, binary)
                }
                _ => Value::unknown(result_type(binary.operator)),
            },
            _ => Value::unknown(result_type(binary.operator)),
        };
        result.with_marks(left.marks() | right.marks())
    }

    fn computed(&mut self, left: &Number, right: &Number, binary: &Binary) -> Value {
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

    fn arithmetic_mistake(&mut self, error: ArithmeticError, binary: &Binary) -> Value {
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
