//! Conditionals: the chosen result, converted to the type that both results have in common.

use trueup_core::{Diagnostic, Diagnostics, Kind, Number, Origin, Refinement, Type, Value, convert};

use super::Evaluator;
use crate::syntax::{Branch, Conditional, Expr, spanning};
use crate::types::{convert_unified, unify};

/// A branch of a conditional, evaluated, and what is wrong with its condition and its result.
struct Evaluated {
    condition: Value,
    told: Diagnostics,
    then: Value,
    told_then: Diagnostics,
}

impl Evaluator<'_> {
    /// The branch not taken is looked at for its type alone; what is wrong in it is nobody's business. The last branch
    /// and what it falls back to are a result of their own, to which the branch before falls back, and so on.
    pub(super) fn conditional(&mut self, conditional: &Conditional) -> Value {
        let Conditional { branches, otherwise } = conditional;
        let evaluated: Vec<Evaluated> = branches.iter().map(|branch| self.branch(branch)).collect();
        let end = otherwise.origin;
        let mut fallback = self.attempt(otherwise);
        for (branch, evaluated) in branches.iter().zip(evaluated).rev() {
            fallback = self.chosen(evaluated, fallback, spanning(branch.condition.origin, end));
        }
        let (value, told) = fallback;
        self.diagnostics.extend(told);
        value
    }

    fn branch(&mut self, branch: &Branch) -> Evaluated {
        let before = std::mem::take(&mut self.diagnostics);
        let condition = self.condition(&branch.condition, "the condition");
        let told = std::mem::replace(&mut self.diagnostics, before);
        let (then, told_then) = self.attempt(&branch.then);
        Evaluated { condition, told, then, told_then }
    }

    /// The result of one branch and of what it falls back to, and what is wrong with it.
    fn chosen(
        &mut self,
        branch: Evaluated,
        (otherwise, told_otherwise): (Value, Diagnostics),
        origin: Origin,
    ) -> (Value, Diagnostics) {
        let Evaluated { condition, mut told, then, told_then } = branch;
        let decided = condition.as_bool();
        if decided != Some(false) {
            told.extend(told_then);
        }
        if decided != Some(true) {
            told.extend(told_otherwise);
        }
        let before = std::mem::replace(&mut self.diagnostics, told);
        let value = self.common(&condition, &then, &otherwise, origin);
        (value, std::mem::replace(&mut self.diagnostics, before))
    }

    /// The chosen result, as one of the type that both have in common.
    fn common(&mut self, condition: &Value, then: &Value, otherwise: &Value, origin: Origin) -> Value {
        let marks = condition.marks();
        let Some(ty) = result_type(then, otherwise) else {
            return self.mismatch(then, otherwise, origin);
        };
        let chosen = match condition.as_bool() {
            Some(true) => then,
            Some(false) => otherwise,
            None => {
                let marks = marks | then.marks() | otherwise.marks();
                return undecided(ty, then, otherwise).with_marks(marks);
            }
        };
        match convert_unified(chosen, &ty) {
            Ok(converted) => converted.with_marks(marks),
            Err(_) => self.mismatch(then, otherwise, origin),
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

/// What is known of a result while it is open which one it is.
fn undecided(ty: Type, then: &Value, otherwise: &Value) -> Value {
    if then.is_null() && otherwise.is_null() {
        return Value::NULL;
    }
    if !then.is_never_null() || !otherwise.is_never_null() {
        return Value::unknown(ty);
    }
    if let (Some(number), Some(other)) = (then.as_number(), otherwise.as_number())
        && number == other
    {
        return then.clone();
    }
    let known = match (bounds(then), bounds(otherwise)) {
        (Some((least, most)), Some((other_least, other_most))) if Type::of(then) == Type::of(otherwise) => {
            let most = most.zip(other_most).map(|(most, other)| most.max(other));
            Refinement { least: least.min(other_least), most, ..Refinement::default() }
        }
        _ => Refinement::default(),
    };
    Value::refined(ty, known)
}

/// How many elements a collection has, or how large a number is, at least and at most.
pub(super) fn bounds(value: &Value) -> Option<(Option<usize>, Option<usize>)> {
    let exactly = |size: usize| Some((Some(size), Some(size)));
    match value.kind() {
        Kind::List(_) if value.is_tuple() => None,
        Kind::List(items) => exactly(items.len()),
        Kind::Set(items) if value.is_wholly_known() => exactly(items.len()),
        Kind::Set(items) => Some((Some(items.len().min(1)), Some(items.len()))),
        Kind::Map(entries) => exactly(entries.len()),
        Kind::Number(number) if *number < Number::from(0) => Some((None, Some(0))),
        Kind::Number(number) => exactly(usize::try_from(number.as_u64()?).ok()?),
        Kind::Unknown(Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Number) => {
            Some(value.refinement().map_or((None, None), |known| (known.least, known.most)))
        }
        _ => None,
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
