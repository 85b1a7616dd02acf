//! How numbers and times stand in columns.

use std::time::SystemTime;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use trueup_state::rows;

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

/// A time, as nanoseconds since 1970.
pub(crate) struct Time(pub(crate) SystemTime);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(rows::to_nanoseconds(self.0).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let nanoseconds = value.as_i64()?;
        rows::from_nanoseconds(nanoseconds).map(Time).ok_or(FromSqlError::OutOfRange(nanoseconds))
    }
}
