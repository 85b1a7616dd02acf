//! How numbers and times stand in columns.

use std::time::{Duration, SystemTime};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A count; SQLite has no unsigned ones, and none of ours comes near the end of the signed ones.
pub(crate) struct Count(pub(crate) u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let count = i64::try_from(self.0);
        count.map(Into::into).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let count = value.as_i64()?;
        u64::try_from(count).map(Count).map_err(|_| FromSqlError::OutOfRange(count))
    }
}

/// A time: nanoseconds since 1970, exact from 1678 to 2262 and held at those ends beyond them.
pub(crate) struct Time(pub(crate) SystemTime);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let nanoseconds = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Ok(match self.0.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => nanoseconds(after).into(),
            Err(before) => (-nanoseconds(before.duration())).into(),
        })
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let nanoseconds = value.as_i64()?;
        let duration = Duration::from_nanos(nanoseconds.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        let time = if nanoseconds < 0 { epoch.checked_sub(duration) } else { epoch.checked_add(duration) };
        time.map(Time).ok_or(FromSqlError::OutOfRange(nanoseconds))
    }
}
