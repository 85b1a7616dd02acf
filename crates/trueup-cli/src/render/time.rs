//! Times and durations as people read them.

use std::time::{Duration, SystemTime};

use trueup_core::Date;

/// `12 ms`, `0.3 s`, `12 s`, `3 min 5 s`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let whole = duration.as_secs();
    match whole {
        0 if seconds < 0.1 => format!("{} ms", duration.as_millis()),
        0..=9 => format!("{seconds:.1} s"),
        10..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// `14:02:07`, by universal time: what is compared across machines must not depend on where they stand.
pub(crate) fn clock(at: SystemTime) -> String {
    let seconds = since_epoch(at) % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `2026-11-15 14:02:07 UTC`.
pub(crate) fn date(at: SystemTime) -> String {
    let days = i64::try_from(since_epoch(at) / 86_400).unwrap_or_default();
    let Date { year, month, day } = Date::from_days(days);
    format!("{year:04}-{month:02}-{day:02} {} UTC", clock(at))
}

/// Milliseconds since 1970, for machines.
pub(crate) fn milliseconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

fn since_epoch(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_precision_that_matters() {
        let told = [12, 340, 4_200, 18_200, 185_000, 7_260_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(told, ["12 ms", "0.3 s", "4.2 s", "18 s", "3 min 5 s", "2 h 1 min"]);
    }

    #[test]
    fn dates_follow_the_calendar() {
        let at = |seconds| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(at(1_794_751_327), "2026-11-15 14:02:07 UTC");
    }
}
