//! What goes wrong inside, and what callers are told of it.

use std::borrow::Cow;
use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};
use trueup_core::JsonError;
use trueup_postgres_client::{AnswerError, ConnectError};
use trueup_state::{Cause, StoreError};

use crate::config::PostgresConfig;
use crate::schema;

/// Why something could not be done, before it is known where.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no connection, or it was lost: trying again may help.
    Lost(String),
    /// The server says no, or cannot be used for this.
    Unusable(String),
    /// What is there does not read back: what and why.
    Garbled(Cause),
    /// What is there has a newer format.
    Newer { found: u64 },
    /// The store works, and refuses. The session is outside of any transaction.
    Refused(StoreError),
}

impl Fault {
    /// What callers are told. The server may repeat the password that it was given.
    pub(crate) fn told(self, attempted: &'static str, config: &PostgresConfig) -> StoreError {
        let location = config.location();
        let scrubbed = |cause: Cause| match config.secrets.scrubbed(&cause.to_string()) {
            Cow::Borrowed(_) => cause,
            Cow::Owned(text) => text.into(),
        };
        match self {
            Fault::Refused(refusal) => refusal,
            Fault::Newer { found } => {
                StoreError::Format { location, found, known: schema::newest(schema::MIGRATIONS) }
            }
            Fault::Garbled(what) => StoreError::Damaged { location, what: scrubbed(what) },
            Fault::Lost(cause) | Fault::Unusable(cause) => {
                StoreError::Unavailable { attempted, location, cause: scrubbed(cause.into()) }
            }
        }
    }

    /// A text that should be JSON and is not.
    pub(crate) fn unreadable(what: &str, error: JsonError) -> Fault {
        Fault::Garbled(Cause::about(format!("{what} is unreadable"), error))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            // The causes say more than the error itself; none of them knows the password.
            let mut cause = error.to_string();
            let mut source = error.source();
            while let Some(inner) = source {
                cause = format!("{cause}: {inner}");
                source = inner.source();
            }
            return if is_lost(&error) { Fault::Lost(cause) } else { Fault::Unusable(cause) };
        };
        let said = said(refusal);
        match refusal.code() {
            code if ends_connection(code) => Fault::Lost(said),
            code if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::UNDEFINED_COLUMN => {
                Fault::Garbled(format!("{said}: its tables are not those of its format").into())
            }
            _ => Fault::Unusable(said),
        }
    }
}

impl From<ConnectError> for Fault {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::NoAnswer => Fault::Lost(error.to_string()),
            ConnectError::Failed(error) => error.into(),
        }
    }
}

impl From<AnswerError> for Fault {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::TooLarge(_) => Fault::Unusable(error.to_string()),
            AnswerError::Failed(error) => error.into(),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(refusal: StoreError) -> Self {
        Fault::Refused(refusal)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Fault::Unusable(error.to_string())
    }
}

/// Whether an error that the server did not send is one of the connection.
fn is_lost(error: &Error) -> bool {
    let system = error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
    error.is_closed() || system
}

/// Whether the server ends connections, or takes none, for this reason.
fn ends_connection(code: &SqlState) -> bool {
    // 57P01 to 57P03: it is being stopped, crashed, or starts; 25P03: the transaction was idle for too long.
    code.code().starts_with("08") || code.code().starts_with("57P0") || code.code() == "25P03"
}

/// What the server says, and what to do about it. Its details are left out: they quote rows.
fn said(error: &DbError) -> String {
    let message = error.message();
    let advice = match error.code().code() {
        "28P01" | "28000" => "check the user and the password, in the address or in PGUSER and PGPASSWORD",
        "3D000" => "create it, or name another in the address",
        "42501" => "the user may not do that: grant it, or connect as another user",
        "25006" => "this server or user may only read: connect to the primary, as a user that may write",
        "53100" | "53200" => "make room on the server",
        "53300" => "wait until others disconnect, or raise the server's max_connections",
        _ => return message.to_owned(),
    };
    format!("{message}; {advice}")
}
