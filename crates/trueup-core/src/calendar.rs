//! Days of the Gregorian calendar.
//!
//! Days are counted in eras of 400 years that begin in March, so that a leap day is the last day of its year.

/// Days in an era.
const ERA_DAYS: i64 = 146_097;

/// Days from the beginning of the first era to 1970.
const EPOCH_DAYS: i64 = 719_468;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

impl Date {
    /// The date of these numbers, if there is one.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        is_date.then(|| Date { year, month: small(month), day: small(day) })
    }

    /// The day this many days after the first of January 1970.
    pub fn from_days(days: i64) -> Self {
        let days = days + EPOCH_DAYS;
        let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Date { year, month: small(month), day: small(day) }
    }

    /// Days since the first of January 1970.
    pub fn days(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = if month <= 2 { self.year - 1 } else { self.year };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * ERA_DAYS + day_of_era - EPOCH_DAYS
    }

    /// The day of the week, from 0 for Sunday.
    pub fn weekday(self) -> u32 {
        // The first of January 1970 was a Thursday.
        small((self.days() + 4).rem_euclid(7))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Months and days are small numbers.
fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut expected = Date { year: 1600, month: 1, day: 1 };
        let first = expected.days();
        for days in first..first + 2 * ERA_DAYS {
            let date = Date::from_days(days);
            assert_eq!((date, date.days()), (expected, days));
            let next = |year, month, day| Date::new(year, month, day);
            let (year, month, day) = (date.year, i64::from(date.month), i64::from(date.day));
            let followers = [next(year, month, day + 1), next(year, month + 1, 1), next(year + 1, 1, 1)];
            expected = followers.into_iter().flatten().next().expect("a year has an end");
        }
    }

    #[test]
    fn known_days_are_where_they_should_be() {
        let date = |year, month, day| Date { year, month, day };
        assert_eq!(Date::from_days(0), date(1970, 1, 1));
        assert_eq!(Date::from_days(-719_162), date(1, 1, 1));
        assert_eq!(date(2000, 2, 29).days(), 11_016);
        assert_eq!((date(1970, 1, 1).weekday(), date(2026, 11, 15).weekday()), (4, 0));
        for (year, month, day) in [(2026, 2, 29), (1900, 2, 29), (2026, 13, 1), (2026, 0, 1), (2026, 4, 31)] {
            assert_eq!(Date::new(year, month, day), None);
        }
    }
}
