//! Numbers: abs ceil floor log max min parseint pow signum sum.

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, RoundingMode};
use trueup_core::{Kind, Number, Type, Value, convert};

use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, function, param};
use crate::eval::rounded;

const NUM: &[super::Parameter] = &[param("num", Wanted::Number)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", NUM, Returns::Number, |call| decimal(call, BigDecimal::abs)),
    function("ceil", NUM, Returns::Number, |call| {
        decimal(call, |number| number.with_scale_round(0, RoundingMode::Ceiling))
    }),
    function("floor", NUM, Returns::Number, |call| {
        decimal(call, |number| number.with_scale_round(0, RoundingMode::Floor))
    }),
    function("signum", NUM, Returns::Number, |call| Ok(Value::from(call.integer(0)?.signum()))),
    function("log", &[param("num", Wanted::Number), param("base", Wanted::Number)], Returns::Number, log),
    function("pow", &[param("num", Wanted::Number), param("power", Wanted::Number)], Returns::Number, pow),
    function("max", &[], Returns::Number, |call| extreme(call, "max", |number, best| number > best))
        .more(param("numbers", Wanted::Number)),
    function("min", &[], Returns::Number, |call| extreme(call, "min", |number, best| number < best))
        .more(param("numbers", Wanted::Number)),
    function("parseint", &[any("number"), param("base", Wanted::Number)], Returns::Number, parseint),
    function("sum", &[any("list")], Returns::Number, sum),
];

fn decimal(call: &Call<'_>, compute: impl Fn(&BigDecimal) -> BigDecimal) -> Outcome {
    let number = number_at(call, 0);
    result(&compute(&number.to_decimal()))
}

fn result(decimal: &BigDecimal) -> Outcome {
    rounded(decimal).map(Value::number).map_err(|error| Problem::new(error.to_string()))
}

fn number_at(call: &Call<'_>, at: usize) -> Number {
    call.arguments.get(at).and_then(Value::as_number).cloned().unwrap_or_else(|| Number::from(0))
}

/// Floats, as in Terraform: what they cannot say exactly is not said.
fn float_result(float: f64) -> Outcome {
    Number::try_from(float)
        .map(Value::number)
        .map_err(|_| Problem::new("the result is no number: it is infinite or not defined"))
}

fn log(call: &Call<'_>) -> Outcome {
    let (number, base) = (number_at(call, 0).nearest_f64(), number_at(call, 1).nearest_f64());
    float_result(number.ln() / base.ln())
}

fn pow(call: &Call<'_>) -> Outcome {
    float_result(number_at(call, 0).nearest_f64().powf(number_at(call, 1).nearest_f64()))
}

fn extreme(call: &Call<'_>, name: &str, better: impl Fn(&Number, &Number) -> bool) -> Outcome {
    let mut numbers = call.arguments.iter().filter_map(Value::as_number);
    let Some(first) = numbers.next() else {
        return Err(Problem::new("needs at least one number")
            .hint(format!("to use the elements of a list write {name}(list...)")));
    };
    let best = numbers.fold(first, |best, number| if better(number, best) { number } else { best });
    Ok(Value::number(best.clone()))
}

fn parseint(call: &Call<'_>) -> Outcome {
    let Some(text) = call.arguments[0].as_str() else {
        let found = call.arguments[0].kind_name();
        return Err(Problem::at(0, format!("the first argument is {found}; it must be a text")));
    };
    let base = call.integer(1)?;
    let base = u32::try_from(base).ok().filter(|base| (2..=62).contains(base));
    let Some(base) = base else {
        return Err(Problem::at(1, "the base must be from 2 to 62"));
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let invalid = || Problem::at(0, format!("{} is not a whole number in base {base}", call.shown(text)));
    if digits.is_empty() || digits.len() > Number::DIGITS_MAX {
        return Err(invalid());
    }
    let mut value = BigInt::from(0);
    for char in digits.chars() {
        let digit = match char {
            '0'..='9' => u32::from(char) - u32::from('0'),
            'a'..='z' => u32::from(char) - u32::from('a') + 10,
            // Above base 36 the cases differ.
            'A'..='Z' if base <= 36 => u32::from(char) - u32::from('A') + 10,
            'A'..='Z' => u32::from(char) - u32::from('A') + 36,
            _ => return Err(invalid()),
        };
        if digit >= base {
            return Err(invalid());
        }
        value = value * base + digit;
    }
    let value = if negative { -value } else { value };
    Number::from_decimal(&BigDecimal::from(value)).map(Value::number).map_err(|_| invalid())
}

fn sum(call: &Call<'_>) -> Outcome {
    let Some(items) = call.arguments[0].as_items() else {
        return Err(Problem::at(
            0,
            format!("needs a list of numbers, found {}", call.arguments[0].kind_name()),
        ));
    };
    if items.is_empty() {
        return Err(Problem::at(0, "cannot add up an empty list"));
    }
    let mut total = BigDecimal::from(0);
    for (at, item) in items.iter().enumerate() {
        match convert(item, &Type::Number).as_ref().map(Value::kind) {
            Ok(Kind::Number(number)) => total += number.to_decimal(),
            _ => {
                let found = item.kind_name();
                return Err(Problem::at(0, format!("needs a list of numbers, and element {at} is {found}")));
            }
        }
    }
    result(&total)
}
