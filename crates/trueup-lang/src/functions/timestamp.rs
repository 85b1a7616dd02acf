//! Points in time as RFC 3339 writes them, and spans of time as `1h30m`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trueup_core::{Date, parse_span};

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

const SPAN_BYTES_MAX: usize = 100;

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
        let is_valid = date.len() == 10 && hour < 24 && minute < 60 && second < 60;
        let date = Date::new(year, month, day)?;
        if !is_valid || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
        let local = date.days() * DAY_SECONDS + hour * 3600 + minute * 60 + second;
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
        let date = Date::from_days(days);
        let part = |value: i64| u32::try_from(value).unwrap_or(0);
        Civil {
            year: date.year,
            month: date.month,
            day: date.day,
            hour: part(time / 3600),
            minute: part(time / 60 % 60),
            second: part(time % 60),
            weekday: date.weekday() as usize,
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
        let nanoseconds = parse_span(text).filter(|_| text.len() <= SPAN_BYTES_MAX).ok_or_else(invalid)?;
        Ok(Span { nanoseconds: nanoseconds.into() })
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Span { nanoseconds: i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX) }
    }
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
