//! Numbers as texts. Terraform holds numbers with 512 binary digits, and a half that is exact in decimal need not be
//! one in binary; where digits are cut off, we therefore round what a number of that kind would be.

use std::num::NonZeroU64;

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::{BigDecimal, RoundingMode, Zero};

const BINARY_DIGITS: u64 = 512;

/// A whole number in the base of a verb, with the prefix of that base if wanted.
pub(super) fn in_base(decimal: &BigDecimal, verb: char, prefixed: bool) -> String {
    let whole = decimal.with_scale(0).into_bigint_and_exponent().0;
    let (radix, prefix) = match verb {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' | 'X' => (16, "0x"),
        _ => (10, ""),
    };
    let digits = whole.magnitude().to_str_radix(radix);
    let text = if prefixed { format!("{prefix}{digits}") } else { digits };
    let text = if verb == 'X' { text.to_uppercase() } else { text };
    if whole.sign() == Sign::Minus { format!("-{text}") } else { text }
}

/// `%f`: this many digits after the point.
pub(super) fn with_decimals(decimal: &BigDecimal, digits: usize) -> String {
    let scale = i64::try_from(digits).unwrap_or(i64::MAX);
    in_binary(decimal).with_scale_round(scale, RoundingMode::HalfEven).to_plain_string()
}

/// `%e`: one digit before the point and this many after it.
pub(super) fn scientific(decimal: &BigDecimal, digits: usize) -> String {
    let significant = NonZeroU64::new(digits as u64 + 1).unwrap_or(NonZeroU64::MIN);
    let rounded = in_binary(decimal).with_precision_round(significant, RoundingMode::HalfEven);
    let (sign, all, exponent) = significant_digits(&rounded);
    exponential(sign, &format!("{all:0<width$}", width = digits + 1), exponent)
}

/// `%g`: as few digits as say the number exactly, or this many, in whichever notation is shorter.
pub(super) fn shortest(decimal: &BigDecimal, precision: Option<usize>) -> String {
    let rounded = match precision {
        Some(digits) => {
            let significant = NonZeroU64::new(digits as u64).unwrap_or(NonZeroU64::MIN);
            in_binary(decimal).with_precision_round(significant, RoundingMode::HalfEven).normalized()
        }
        None => decimal.normalized(),
    };
    let (sign, digits, exponent) = significant_digits(&rounded);
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let threshold = match precision {
        None => 6,
        Some(precision) => {
            let precision = i64::try_from(precision.max(1)).unwrap_or(i64::MAX);
            if precision > count && count > exponent { count } else { precision }
        }
    };
    if exponent < -4 || exponent >= threshold.max(1) && !decimal.is_zero() {
        exponential(sign, &digits, exponent)
    } else {
        rounded.to_plain_string()
    }
}

/// The sign, the digits without zeros at the end, and the exponent of the first of them.
fn significant_digits(decimal: &BigDecimal) -> (&'static str, String, i64) {
    let (whole, scale) = decimal.normalized().into_bigint_and_exponent();
    let sign = if whole.sign() == Sign::Minus { "-" } else { "" };
    let digits = whole.magnitude().to_string();
    let exponent =
        if whole.is_zero() { 0 } else { i64::try_from(digits.len()).unwrap_or(i64::MAX) - 1 - scale };
    (sign, digits, exponent)
}

fn exponential(sign: &str, digits: &str, exponent: i64) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.abs())
}

/// The number of 512 binary digits that is nearest, exactly.
fn in_binary(decimal: &BigDecimal) -> BigDecimal {
    let (whole, scale) = decimal.normalized().into_bigint_and_exponent();
    if whole.is_zero() || scale <= 0 {
        // Whole numbers that fit are themselves; larger ones lose digits that no format shows.
        return decimal.clone();
    }
    let Ok(power) = u32::try_from(scale) else { return decimal.clone() };
    let divisor = BigInt::from(10u8).pow(power);
    // As many binary digits as wanted and two more, so that cutting off the rest cannot matter.
    let shift = (BINARY_DIGITS + 2 + divisor.bits()).saturating_sub(whole.bits());
    let Ok(shift) = u32::try_from(shift) else { return decimal.clone() };
    let negative = whole.sign() == Sign::Minus;
    let magnitude = BigInt::from_biguint(Sign::Plus, whole.magnitude().clone());
    let scaled = magnitude << shift;
    let mut quotient: BigInt = &scaled / &divisor;
    if &quotient * &divisor != scaled {
        // The lowest bit says that something was cut off.
        quotient.set_bit(0, true);
    }
    let surplus = quotient.bits().saturating_sub(BINARY_DIGITS);
    let half: BigInt = (BigInt::from(1) << surplus) >> 1;
    let mut mantissa: BigInt = &quotient >> surplus;
    let rest: BigInt = &quotient - (&mantissa << surplus);
    if rest > half || (rest == half && surplus > 0 && mantissa.bit(0)) {
        mantissa += 1;
    }
    let mantissa = if negative { -mantissa } else { mantissa };
    // mantissa * 2^(surplus - shift), and a power of one half is a power of five over one of ten.
    let halvings = i64::from(shift) - i64::try_from(surplus).unwrap_or(0);
    match u32::try_from(halvings) {
        Ok(halvings) => BigDecimal::new(mantissa * BigInt::from(5u8).pow(halvings), i64::from(halvings)),
        Err(_) => decimal.clone(),
    }
}
