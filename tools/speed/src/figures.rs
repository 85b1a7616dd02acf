//! Figures as people read them.

/// Seconds with three digits that count, in milliseconds where there are few.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        under if under < 0.0995 => format!("{} ms", digits(seconds * 1e3)),
        _ => format!("{} s", digits(seconds)),
    }
}

/// Megabytes, or kilobytes where there are few.
pub(crate) fn bytes(bytes: f64) -> String {
    match bytes {
        under if under < 1e6 => format!("{} kB", digits(bytes / 1e3)),
        _ => format!("{} MB", digits(bytes / 1e6)),
    }
}

/// How many times, with two digits that count, or all there are.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        under if under < 10.0 => format!("{ratio:.1}×"),
        _ => format!("{}×", count(ratio.round() as usize)),
    }
}

/// A number with its thousands apart.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn digits(number: f64) -> String {
    match number {
        under if under < 9.995 => format!("{number:.2}"),
        under if under < 99.95 => format!("{number:.1}"),
        _ => count(number.round() as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_few_digits() {
        assert_eq!(
            [0.00412, 0.0995, 1.0, 21.63, 204.4].map(seconds),
            ["4.12 ms", "0.10 s", "1.00 s", "21.6 s", "204 s"]
        );
        assert_eq!([12_000.0, 291e6, 2.278e9].map(bytes), ["12.0 kB", "291 MB", "2,278 MB"]);
        assert_eq!([1.04, 9.96, 51.7, 1234.5].map(times), ["1.0×", "10.0×", "52×", "1,235×"]);
    }
}
