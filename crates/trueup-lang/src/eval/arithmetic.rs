//! Arithmetic on exact numbers.
//!
//! Terraform computes with 512 bits, which is about 154 decimal digits. We add, subtract and multiply decimals exactly
//! up to that many digits and round beyond. A quotient keeps one digit more, so that dividing and multiplying again
//! comes out where it began: 10 / 3 * 3 is 10.

use std::num::NonZeroU64;

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::{BigDecimal, RoundingMode, Zero};
use trueup_core::Number;

/// How many digits a result has at most.
const DIGITS: NonZeroU64 = NonZeroU64::new(154).expect("not zero");
/// How many digits a quotient has at most.
const QUOTIENT_DIGITS: NonZeroU64 = NonZeroU64::new(155).expect("not zero");

/// Why there is no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum ArithmeticError {
    #[error("divides by zero")]
    DivisionByZero,
    #[error("gives a number that is too large or too small")]
    TooLarge,
}

pub(super) fn add(left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) if left.checked_add(right).is_some() => Ok(Number::from(left + right)),
        _ => rounded(&(left.to_decimal() + right.to_decimal())),
    }
}

pub(super) fn subtract(left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) if left.checked_sub(right).is_some() => Ok(Number::from(left - right)),
        _ => rounded(&(left.to_decimal() - right.to_decimal())),
    }
}

pub(super) fn multiply(left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) if left.checked_mul(right).is_some() => Ok(Number::from(left * right)),
        _ => rounded(&(left.to_decimal() * right.to_decimal())),
    }
}

pub(super) fn divide(left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    let (left, right) = (left.to_decimal(), right.to_decimal());
    if right.is_zero() {
        return Err(ArithmeticError::DivisionByZero);
    }
    // Enough zeros after the dividend that the whole quotient has a few digits more than are kept.
    let digits = QUOTIENT_DIGITS.get() + 3 + right.digits();
    let zeros = digits.saturating_sub(left.digits());
    let (dividend, dividend_scale) = left.into_bigint_and_exponent();
    let (divisor, divisor_scale) = right.into_bigint_and_exponent();
    let dividend = dividend * BigInt::from(10u8).pow(u32::try_from(zeros).unwrap_or(u32::MAX));
    let quotient = &dividend / &divisor;
    let exact = (&quotient * &divisor) == dividend;
    let scale = dividend_scale - divisor_scale + i64::try_from(zeros).unwrap_or(i64::MAX);
    // What was cut off still decides which way a half is rounded.
    let (quotient, scale) = if exact {
        (quotient, scale)
    } else {
        let sign = if (dividend.sign() == Sign::Minus) == (divisor.sign() == Sign::Minus) { 1 } else { -1 };
        (quotient * 10 + sign, scale + 1)
    };
    let quotient =
        BigDecimal::new(quotient, scale).with_precision_round(QUOTIENT_DIGITS, RoundingMode::HalfEven);
    Number::from_decimal(&quotient).map_err(|_| ArithmeticError::TooLarge)
}

pub(super) fn remainder(left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    let divisor = right.to_decimal();
    if divisor.is_zero() {
        return Err(ArithmeticError::DivisionByZero);
    }
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return Ok(Number::from(left.checked_rem(right).unwrap_or(0)));
    }
    rounded(&(left.to_decimal() % divisor))
}

pub(super) fn negate(number: &Number) -> Number {
    subtract(&Number::from(0), number).unwrap_or_else(|_| number.clone())
}

/// The number for a decimal, within the digits that are kept.
pub(crate) fn rounded(decimal: &BigDecimal) -> Result<Number, ArithmeticError> {
    let decimal = decimal.normalized();
    let decimal = if decimal.digits() > DIGITS.get() {
        decimal.with_precision_round(DIGITS, RoundingMode::HalfEven)
    } else {
        decimal
    };
    Number::from_decimal(&decimal).map_err(|_| ArithmeticError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    #[test]
    fn decimals_are_exact_and_division_can_be_undone() {
        assert_eq!(add(&number("0.1"), &number("0.2")), Ok(number("0.3")));
        for divisor in ["3", "7", "0.3", "-11", "1e9"] {
            let quotient = divide(&number("10"), &number(divisor)).unwrap();
            assert_eq!(multiply(&quotient, &number(divisor)), Ok(number("10")), "{divisor}");
        }
        assert_eq!(divide(&number("1"), &number("4")), Ok(number("0.25")));
        assert_eq!(divide(&number("1"), &number("0")), Err(ArithmeticError::DivisionByZero));
        assert_eq!(remainder(&number("-5"), &number("3")), Ok(number("-2")));
        assert_eq!(remainder(&number("-9223372036854775808"), &number("-1")), Ok(number("0")));
        assert_eq!(multiply(&number("1e4000"), &number("1e4000")), Err(ArithmeticError::TooLarge));
        assert_eq!(negate(&number("-9223372036854775808")), number("9223372036854775808"));
    }
}
