//! Exact numbers.
//!
//! A [`Number`] is a decimal of any size. Those that fit a signed 64-bit integer are held as one, all others as a
//! shared big decimal. Every number has exactly one representation, so `1`, `1.0` and `1e0` are equal and hash alike,
//! and nothing is rounded: 2^53 + 1 and `u64::MAX` survive every round trip.
//!
//! Digits and exponents are bounded, because `1e999999999` in an input must not cost a gigabyte to print.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, ToPrimitive};

/// An exact decimal number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Int(i64),
    /// Normalised, and never a number that fits `Int`.
    Big(Arc<BigDecimal>),
}

/// Why a text or float is not a [`Number`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not a decimal number.
    #[error("is not a number")]
    Syntax,
    /// More digits than [`Number::DIGITS_MAX`] or a larger exponent than [`Number::EXPONENT_MAX`].
    #[error("has more than {} digits or an exponent beyond {}", Number::DIGITS_MAX, Number::EXPONENT_MAX)]
    TooLarge,
    /// NaN or an infinity.
    #[error("is not a finite number")]
    NotFinite,
}

impl Number {
    /// The most significant digits a number may have.
    pub const DIGITS_MAX: usize = 1024;
    /// The largest decimal exponent, up or down.
    pub const EXPONENT_MAX: i64 = 4096;

    /// The number as a signed 64-bit integer, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Int(int) => Some(*int),
            Repr::Big(_) => None,
        }
    }

    /// The number as an unsigned 64-bit integer, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Int(int) => u64::try_from(*int).ok(),
            Repr::Big(big) if big.is_integer() => big.to_u64(),
            Repr::Big(_) => None,
        }
    }

    /// The float that stands for this number, if one does without loss: its shortest text is this number again.
    pub fn as_f64(&self) -> Option<f64> {
        let float = self.nearest_f64();
        (Number::try_from(float).as_ref() == Ok(self)).then_some(float)
    }

    /// The float nearest to this number; infinite if it is beyond their range.
    pub fn nearest_f64(&self) -> f64 {
        // Rust's parser rounds correctly for any length, which arithmetic on the parts would not.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The digits without an exponent, as the stack language writes numbers in texts.
    pub fn to_plain_string(&self) -> String {
        match &self.0 {
            Repr::Int(int) => int.to_string(),
            Repr::Big(big) => big.to_plain_string(),
        }
    }

    /// Whether the number has no fraction.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Int(_) => true,
            Repr::Big(big) => big.is_integer(),
        }
    }

    /// The number as a big decimal, for arithmetic.
    pub fn to_decimal(&self) -> BigDecimal {
        match &self.0 {
            Repr::Int(int) => BigDecimal::from(*int),
            Repr::Big(big) => (**big).clone(),
        }
    }

    /// The number that a big decimal stands for, within the bounds.
    pub fn from_decimal(decimal: &BigDecimal) -> Result<Self, NumberError> {
        let decimal = decimal.normalized();
        if decimal.is_integer()
            && let Some(int) = decimal.to_i64()
        {
            return Ok(Number(Repr::Int(int)));
        }
        let digits = decimal.digits();
        let exponent = i128::from(digits) - i128::from(decimal.fractional_digit_count());
        let within = i128::from(Self::EXPONENT_MAX);
        if digits > Self::DIGITS_MAX as u64 || exponent.abs() > within {
            return Err(NumberError::TooLarge);
        }
        Ok(Number(Repr::Big(Arc::new(decimal))))
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => {$(
        impl From<$int> for Number {
            fn from(int: $int) -> Self {
                match i64::try_from(int) {
                    Ok(int) => Number(Repr::Int(int)),
                    Err(_) => Number(Repr::Big(Arc::new(BigDecimal::from(BigInt::from(int)).normalized()))),
                }
            }
        }
    )*};
}
from_integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl TryFrom<f64> for Number {
    type Error = NumberError;

    /// Takes the shortest decimal that reads back as this float, which is what a person wrote: 0.1 is 0.1.
    fn try_from(float: f64) -> Result<Self, NumberError> {
        if !float.is_finite() {
            return Err(NumberError::NotFinite);
        }
        format!("{float:e}").parse()
    }
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        if let Ok(int) = text.parse::<i64>()
            && !text.starts_with('+')
        {
            return Ok(Number(Repr::Int(int)));
        }
        check_decimal_syntax(text)?;
        let decimal = BigDecimal::from_str(text).map_err(|_| NumberError::Syntax)?;
        Self::from_decimal(&decimal)
    }
}

/// Accepts `-?digits(.digits)?([eE][+-]?digits)?` within the bounds, before any big arithmetic sees it.
fn check_decimal_syntax(text: &str) -> Result<(), NumberError> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return Err(NumberError::Syntax);
    }
    // Leading and trailing zeros count here; a text of thousands of zeros is not worth a finer rule.
    if unsigned.len() > Number::DIGITS_MAX + Number::EXPONENT_MAX as usize {
        return Err(NumberError::TooLarge);
    }
    let Some(exponent) = exponent else { return Ok(()) };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !all_digits(digits) {
        return Err(NumberError::Syntax);
    }
    match exponent.parse::<i64>() {
        Ok(value) if value.abs() <= 2 * Number::EXPONENT_MAX => Ok(()),
        _ => Err(NumberError::TooLarge),
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Int(left), Repr::Int(right)) => left.cmp(right),
            _ => self.to_decimal().cmp(&other.to_decimal()),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    /// The one text of a number: plain digits where that stays readable, else scientific. Valid JSON either way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(int) => int.fmt(f),
            Repr::Big(big) => {
                let scale = big.fractional_digit_count();
                if (-20..=60).contains(&scale) {
                    f.write_str(&big.to_plain_string())
                } else {
                    f.write_str(&big.to_scientific_notation())
                }
            }
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    #[test]
    fn equal_numbers_have_one_representation() {
        for text in ["1", "1.0", "1e0", "10e-1", "100.00E-2"] {
            assert_eq!(number(text), Number::from(1));
            assert_eq!(number(text).to_string(), "1");
        }
        assert_eq!(number("-0.0"), Number::from(0));
        assert_eq!(number("18446744073709551615"), Number::from(u64::MAX));
    }

    /// CRUD-13 at the bottom: the values that a float would round stay what they are.
    #[test]
    fn integers_beyond_a_float_stay_exact() {
        assert_eq!(number("9007199254740993").as_i64(), Some(9_007_199_254_740_993));
        assert_eq!(number("9007199254740993").as_f64(), None);
        assert_eq!(Number::from(u64::MAX).as_u64(), Some(u64::MAX));
        assert_eq!(Number::from(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
    }

    #[test]
    fn floats_are_their_shortest_decimal() {
        assert_eq!(Number::try_from(0.1), Ok(number("0.1")));
        assert_eq!(number("0.1").as_f64(), Some(0.1));
        assert_eq!(Number::try_from(f64::MAX).unwrap().as_f64(), Some(f64::MAX));
        assert_eq!(Number::try_from(5e-324).unwrap().as_f64(), Some(5e-324));
        assert_eq!(Number::try_from(f64::NAN), Err(NumberError::NotFinite));
    }

    #[test]
    fn what_is_not_a_number_or_too_large_is_refused() {
        for text in ["", "-", "+1", ".5", "1.", "0x10", "1e", "1_000", "NaN", "inf", "1 "] {
            assert_eq!(text.parse::<Number>(), Err(NumberError::Syntax), "{text}");
        }
        for text in ["1e999999999", "1e-999999999", "1e99999999999999999999", &"9".repeat(10_000)] {
            assert_eq!(text.parse::<Number>(), Err(NumberError::TooLarge), "{text}");
        }
    }

    #[test]
    fn order_is_numeric_across_representations() {
        let mut numbers = [number("1e30"), number("-1e30"), number("0.5"), number("2"), number("-3")];
        numbers.sort();
        let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        assert_eq!(texts.join(" "), "-1e30 -3 0.5 2 1e30");
    }
}
