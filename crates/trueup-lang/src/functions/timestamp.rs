//! Points in time as RFC 3339 writes them, and spans of time as `1h30m`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Problem;

/// A point in time, and the offset of the clock that showed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timestamp {
    /// Since the beginning of 1970, in UTC.
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
    pub(super) offset_minutes: i32,
}

/// A date and time of day, as a clock shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// From 0 for Sunday.
    pub(super) weekday: usize,
}

const DAY_SECONDS: i64 = 86_400;

impl Timestamp {
    /// Reads `2017-11-22T00:00:00Z`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_at_checked(10)?;
        let time = time.strip_prefix('T')?;
        let zone_at = time.find(['Z', '+', '-'])?;
        let (clock, zone) = time.split_at(zone_at);
        Self::from_parts(date, clock, zone_offset(zone)?)
    }

    /// Reads the forms that YAML takes for points in time.
    pub(super) fn from_yaml(text: &str) -> Option<Self> {
        if text.len() == 10 {
            return Self::from_parts(text, "00:00:00", 0);
        }
        Self::parse(text).or_else(|| {
            let (date, clock) = text.split_at_checked(10)?;
            Self::from_parts(date, clock.strip_prefix(' ')?.trim(), 0)
        })
    }

    fn from_parts(date: &str, clock: &str, offset_minutes: i32) -> Option<Self> {
        let mut parts = date.splitn(3, '-').map(digits);
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let mut parts = clock.splitn(3, ':').map(|part| digits(part).filter(|_| part.len() == 2));
        let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
        let valid = date.len() == 10
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !valid || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
        let local = days_from_civil(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
        Some(Timestamp { seconds: local - i64::from(offset_minutes) * 60, nanoseconds, offset_minutes })
    }

    pub(super) fn from_system(time: SystemTime) -> Self {
        let (seconds, nanoseconds) = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => (i64::try_from(after.as_secs()).unwrap_or(i64::MAX), after.subsec_nanos()),
            Err(before) => (-i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX), 0),
        };
        Timestamp { seconds, nanoseconds, offset_minutes: 0 }
    }

    /// The same clock, this much later.
    pub(super) fn plus(self, span: Span) -> Option<Self> {
        let total =
            i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds) + span.nanoseconds;
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        let nanoseconds = u32::try_from(total.rem_euclid(1_000_000_000)).ok()?;
        Some(Timestamp { seconds, nanoseconds, offset_minutes: self.offset_minutes })
    }

    pub(super) fn civil(self) -> Civil {
        let local = self.seconds.saturating_add(i64::from(self.offset_minutes) * 60);
        let (days, time) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        let (year, month, day) = civil_from_days(days);
        let part = |value: i64| u32::try_from(value).unwrap_or(0);
        Civil {
            year,
            month,
            day,
            hour: part(time / 3600),
            minute: part(time / 60 % 60),
            second: part(time % 60),
            // The first day of 1970 was a Thursday.
            weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0),
        }
    }

    /// `+05:30`, or with another separator.
    pub(super) fn offset(self, separator: &str) -> String {
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.abs();
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, in whole seconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.offset_minutes == 0 { f.write_str("Z") } else { f.write_str(&self.offset(":")) }
    }
}

/// A span of time, forwards or backwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    nanoseconds: i128,
}

impl Span {
    /// Reads `1h30m`, `-500ms`, `1.5h`.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let invalid = || {
            Problem::at(1, "this is no span of time")
                .hint("write numbers with units, as in 1h30m; units are h, m, s, ms, us and ns")
        };
        let (sign, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Ok(Span { nanoseconds: 0 });
        }
        if rest.is_empty() || rest.len() > 100 {
            return Err(invalid());
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let number_end =
                rest.find(|char: char| !char.is_ascii_digit() && char != '.').ok_or_else(invalid)?;
            let (number, after) = rest.split_at(number_end);
            let unit_end =
                after.find(|char: char| char.is_ascii_digit() || char == '.').unwrap_or(after.len());
            let (unit, next) = after.split_at(unit_end);
            let unit: i128 = match unit {
                "ns" => 1,
                "us" | "µs" | "μs" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                "m" => 60_000_000_000,
                "h" => 3_600_000_000_000,
                _ => return Err(invalid()),
            };
            total = total.checked_add(scaled(number, unit).ok_or_else(invalid)?).ok_or_else(invalid)?;
            rest = next;
        }
        // As far as a span of 64 bits reaches: 292 years.
        if total > i128::from(i64::MAX) {
            return Err(invalid());
        }
        Ok(Span { nanoseconds: sign * total })
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Span { nanoseconds: i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX) }
    }
}

/// A decimal number of units.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = fraction.get(..fraction.len().min(15))?;
    let part = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<i128>().ok()?.checked_mul(unit)? / 10i128.pow(u32::try_from(fraction.len()).ok()?)
    };
    whole.checked_mul(unit)?.checked_add(part)
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

fn zone_offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let part = |text: &str, limit: i64| {
        let value = digits(text).filter(|value| text.len() == 2 && *value < limit)?;
        i32::try_from(value).ok()
    };
    Some(sign * (part(hours, 24)? * 60 + part(minutes, 60)?))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since the beginning of 1970, counted in eras of 400 years that begin in March, so that a leap day comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}
