//! What goes wrong inside, and what callers are told of it.

use std::path::Path;

use rusqlite::ErrorCode;
use trueup_core::JsonError;
use trueup_state::{Cause, StoreError};

use crate::schema::FORMAT;

/// Why something could not be done, before it is known where.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite says so.
    Sqlite(rusqlite::Error),
    /// The operating system says so.
    System(std::io::Error),
    /// What is there does not read back: what and why.
    Garbled(Cause),
    /// What is there has a newer format.
    Newer { found: u64 },
    /// A file of the open database is no longer at its path: what happened, and where a copy of the contents is.
    TakenAway { what: String, copy: Result<String, Cause> },
    /// The store works, and refuses.
    Refused(StoreError),
}

impl Fault {
    /// What callers are told.
    pub(crate) fn told(self, attempted: &'static str, path: &Path) -> StoreError {
        let location = path.display().to_string();
        match self {
            Fault::Refused(refusal) => refusal,
            Fault::Newer { found } => StoreError::Format { location, found, known: FORMAT },
            Fault::TakenAway { what, copy } => StoreError::TakenAway { location, what, copy },
            Fault::Garbled(what) => StoreError::Damaged { location, what },
            Fault::Sqlite(error) if is_damage(&error) => {
                StoreError::Damaged { location, what: Cause::new(error) }
            }
            Fault::Sqlite(error) => StoreError::Unavailable { attempted, location, cause: Cause::new(error) },
            Fault::System(error) => StoreError::Unavailable { attempted, location, cause: Cause::new(error) },
        }
    }

    /// A text that should be JSON and is not.
    pub(crate) fn unreadable(what: &str, error: JsonError) -> Fault {
        Fault::Garbled(Cause::about(format!("{what} is unreadable"), error))
    }
}

impl From<Fault> for Cause {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(error) => Cause::new(error),
            Fault::System(error) => Cause::new(error),
            Fault::Garbled(what) => what,
            Fault::Refused(refusal) => Cause::new(refusal),
            Fault::Newer { found } => format!("it has format {found}").into(),
            Fault::TakenAway { what, .. } => what.into(),
        }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        }
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        _ => false,
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sqlite(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Fault::System(error)
    }
}

impl From<StoreError> for Fault {
    fn from(refusal: StoreError) -> Self {
        Fault::Refused(refusal)
    }
}
