//! Points in time and spans of time.

use std::fmt;

use trueup_core::{Date, parse_span};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The first second of the year 1, and the last of the year 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// A point in time between the years 1 and 9999, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Timestamp {
    /// Since 1970, rounded down.
    seconds: i64,
    nanos: u32,
}

/// A span of time in nanoseconds, at most 292 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Duration {
    nanos: i64,
}

/// The parts of a date and time.
pub(super) struct Calendar {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
    /// From 0, which is Sunday.
    pub(super) weekday: i64,
    /// From 0.
    pub(super) day_of_year: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) millisecond: i64,
}

impl Timestamp {
    pub(super) fn from_seconds(seconds: i64) -> Option<Self> {
        SECONDS.contains(&seconds).then_some(Timestamp { seconds, nanos: 0 })
    }

    pub(super) fn seconds(self) -> i64 {
        self.seconds
    }

    fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS_PER_SECOND + i128::from(self.nanos)
    }

    fn from_nanos(nanos: i128) -> Option<Self> {
        let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?;
        let nanos = u32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).ok()?;
        Timestamp::from_seconds(seconds).map(|whole| Timestamp { nanos, ..whole })
    }

    pub(super) fn checked_add(self, duration: Duration) -> Option<Self> {
        Timestamp::from_nanos(self.total_nanos() + i128::from(duration.nanos))
    }

    pub(super) fn checked_sub(self, duration: Duration) -> Option<Self> {
        Timestamp::from_nanos(self.total_nanos() - i128::from(duration.nanos))
    }

    pub(super) fn since(self, earlier: Timestamp) -> Option<Duration> {
        let nanos = i64::try_from(self.total_nanos() - earlier.total_nanos()).ok()?;
        Some(Duration { nanos })
    }

    /// Reads RFC 3339, such as `2026-11-16T12:30:00.5+01:00`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_at_checked(10)?;
        let [year, month, day] = fields(date, '-', [4, 2, 2])?;
        let time = time.strip_prefix(['T', 't'])?;
        let (clock, rest) = time.split_at_checked(8)?;
        let [hour, minute, second] = fields(clock, ':', [2, 2, 2])?;
        let date = Date::new(year, month, day)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (nanos, zone) = match rest.strip_prefix('.') {
            Some(fraction) => {
                let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
                (nanos_of_fraction(&fraction[..digits])?, &fraction[digits..])
            }
            None => (0, rest),
        };
        let offset = match zone {
            "Z" | "z" => 0,
            _ => offset_seconds(zone).filter(|_| zone.starts_with(['+', '-']))?,
        };
        let seconds = date.days() * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset;
        Timestamp::from_seconds(seconds).map(|whole| Timestamp { nanos, ..whole })
    }

    /// The date and time in a zone that many seconds east of UTC.
    pub(super) fn calendar(self, offset_seconds: i64) -> Calendar {
        let local = self.seconds + offset_seconds;
        let days = local.div_euclid(SECONDS_PER_DAY);
        let within = local.rem_euclid(SECONDS_PER_DAY);
        let date = Date::from_days(days);
        let Date { year, month, day } = date;
        Calendar {
            year,
            month: month.into(),
            day: day.into(),
            weekday: date.weekday().into(),
            day_of_year: days - Date { year, month: 1, day: 1 }.days(),
            hour: within / 3600,
            minute: within / 60 % 60,
            second: within % 60,
            millisecond: i64::from(self.nanos / 1_000_000),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Calendar { year, month, day, hour, minute, second, .. } = self.calendar(0);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        write_fraction(f, self.nanos)?;
        f.write_str("Z")
    }
}

impl Duration {
    pub(super) fn nanos(self) -> i64 {
        self.nanos
    }

    pub(super) fn checked_add(self, other: Duration) -> Option<Self> {
        self.nanos.checked_add(other.nanos).map(|nanos| Duration { nanos })
    }

    pub(super) fn checked_sub(self, other: Duration) -> Option<Self> {
        self.nanos.checked_sub(other.nanos).map(|nanos| Duration { nanos })
    }

    /// Reads numbers with units, such as `1h30m`, `-1.5s` or `0`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse_span(text).map(|nanos| Duration { nanos })
    }
}

impl fmt::Display for Duration {
    /// In seconds, such as `5400s` or `-1.5s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.nanos.unsigned_abs();
        let sign = if self.nanos < 0 { "-" } else { "" };
        write!(f, "{sign}{}", magnitude / 1_000_000_000)?;
        write_fraction(f, (magnitude % 1_000_000_000) as u32)?;
        f.write_str("s")
    }
}

/// The seconds east of UTC that a fixed zone such as `-08:00` means.
pub(super) fn offset_seconds(zone: &str) -> Option<i64> {
    let unsigned = zone.strip_prefix(['+', '-']).unwrap_or(zone);
    let [hours, minutes] = fields(unsigned, ':', [2, 2])?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60;
    Some(if zone.starts_with('-') { -seconds } else { seconds })
}

fn write_fraction(f: &mut fmt::Formatter<'_>, nanos: u32) -> fmt::Result {
    match nanos {
        0 => Ok(()),
        _ => write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0')),
    }
}

/// Numbers of fixed widths with a separator between them.
fn fields<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Digits after a decimal point, of a second; those beyond nanoseconds are dropped.
fn nanos_of_fraction(digits: &str) -> Option<u32> {
    let kept = &digits[..digits.len().min(9)];
    let value: u32 = kept.parse().ok()?;
    Some(value * 10u32.pow(9 - kept.len() as u32))
}
