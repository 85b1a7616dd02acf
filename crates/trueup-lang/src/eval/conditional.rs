//! Conditionals: the chosen result, converted to the type that both results have in common.

use trueup_core::{Diagnostic, Kind, Origin, Type, Value, convert};

use super::Evaluator;
use crate::syntax::{Conditional, Expr};
use crate::types::unify;

impl Evaluator<'_> {
    /// The branch not taken is looked at for its type alone; what is wrong in it is nobody's business.
    pub(super) fn conditional(&mut self, conditional: &Conditional, origin: Origin) -> Value {
        let condition = self.condition(&conditional.condition, "the condition");
        let marks = condition.marks();
        let (then, told_then) = self.attempt(&conditional.then);
        let (otherwise, told_otherwise) = self.attempt(&conditional.otherwise);
        let decided = condition.as_bool();
        if decided != Some(false) {
            self.diagnostics.extend(told_then);
        }
        if decided != Some(true) {
            self.diagnostics.extend(told_otherwise);
        }
        let Some(ty) = result_type(&then, &otherwise) else {
            return self.mismatch(&then, &otherwise, origin);
        };
        let chosen = match decided {
            Some(true) => &then,
            Some(false) => &otherwise,
            None => {
                let marks = marks | then.marks() | otherwise.marks();
                return Value::unknown(ty).with_marks(marks);
            }
        };
        match convert(chosen, &ty) {
            Ok(converted) => converted.with_marks(marks),
            Err(_) => self.mismatch(&then, &otherwise, origin),
        }
    }

    /// A bool that something depends on; unknown if it is, or if it was told that it is none.
    pub(super) fn condition(&mut self, expression: &Expr, what: &str) -> Value {
        let value = self.value(expression);
        if value.is_null() {
            return self.mistake(expression.origin, format!("{what} is null; it must be true or false"));
        }
        match convert(&value, &Type::Bool) {
            Ok(condition) => condition,
            Err(_) => {
                let found = self.described(&value);
                let mut diagnostic =
                    Diagnostic::error(format!("{what} is {found}; it must be true or false"));
                if matches!(value.kind(), Kind::List(_) | Kind::Set(_) | Kind::Map(_)) {
                    diagnostic =
                        diagnostic.hint("to ask whether it is empty, compare its length: length(x) > 0");
                }
                self.tell(expression.origin, diagnostic)
            }
        }
    }

    fn mismatch(&mut self, then: &Value, otherwise: &Value, origin: Origin) -> Value {
        let (then, otherwise) = (self.described_type(then), self.described_type(otherwise));
        self.tell(
            origin,
            Diagnostic::error("the two results of this conditional have no type in common")
                .detail(format!("if true: {then}; if false: {otherwise}")),
        )
    }
}

/// Null has every type, so the other one counts.
fn result_type(then: &Value, otherwise: &Value) -> Option<Type> {
    match (then.is_null(), otherwise.is_null()) {
        (true, _) => Some(Type::of(otherwise)),
        (_, true) => Some(Type::of(then)),
        _ => unify(&[Type::of(then), Type::of(otherwise)]),
    }
}
