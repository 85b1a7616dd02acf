//! Spans of time as text, such as `1h30m`.

use std::time::Duration;

/// Nanoseconds of the units that spans are written in.
const UNITS: [(&str, i128); 8] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ns", 1),
];

/// Digits after the point that are read. An hour has 13 digits of nanoseconds, so that more of them make no difference.
const FRACTION_DIGITS_MAX: usize = 18;

/// Reads numbers with units, such as `1h30m`, `-1.5s` or `0`, in nanoseconds. Returns `None` for anything else, and for
/// spans of more than 292 years.
pub fn parse_span(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Some(0);
    }
    if unsigned.is_empty() {
        return None;
    }
    let mut rest = unsigned;
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let is_of_number = |char: char| char.is_ascii_digit() || char == '.';
        let (number, after) = rest.split_at(rest.find(|char| !is_of_number(char))?);
        let (unit, after) = after.split_at(after.find(is_of_number).unwrap_or(after.len()));
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(scaled(number, *unit)?)?;
        rest = after;
    }
    i64::try_from(if text.starts_with('-') { -total } else { total }).ok()
}

/// Reads a span of more than nothing.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let nanoseconds = u64::try_from(parse_span(text)?).ok()?;
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}

/// A decimal number of units, in whole nanoseconds.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS_MAX)];
    let part = match fraction {
        "" => 0,
        digits => digits.parse::<i128>().ok()? * unit / 10i128.pow(u32::try_from(digits.len()).ok()?),
    };
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_sums_of_numbers_with_units() {
        let check =
            |text: &str, nanoseconds: Option<i64>| assert_eq!(parse_span(text), nanoseconds, "{text}");
        check("0", Some(0));
        check("-0", Some(0));
        check("1h30m", Some(5_400_000_000_000));
        check("+1.5s", Some(1_500_000_000));
        check("-.5ms", Some(-500_000));
        check("1.s2µs3μs4us5ns", Some(1_000_009_005));
        check("0.0000000000001h", Some(0));
        check("2562047h", Some(9_223_369_200_000_000_000));
        for wrong in
            ["", "-", "1", "h", "1d", "1h30", ".h", "1.2.3s", "1 h", "2562048h", "9999999999999999999999999h"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        let texts = [("90s", 90.0), ("10m", 600.0), ("1h30m", 5400.0), ("250ms", 0.25), ("1.5h", 5400.0)];
        for (text, seconds) in texts {
            assert_eq!(parse_duration(text).map(|it| it.as_secs_f64()), Some(seconds), "{text}");
        }
        for text in ["", "10", "m", "1x", "0s", "0", "-5s", "1h30", "99999999999999999999s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
