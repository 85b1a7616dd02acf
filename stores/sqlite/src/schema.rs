//! The tables, and the version of their format.
//!
//! Scopes are numbered, so that rows stay small. Bodies are JSON, as the types in `trueup-state` write them; the columns
//! beside them are what queries need. A row of `leases` stays when its lease is given back, so that tokens only grow, as
//! does `scopes.version`. Addresses have no unique index because two resources may swap theirs within one batch.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::fault::Fault;

/// The newest format this program knows, which is the one it writes.
pub(crate) const FORMAT: u64 = 4;

const TABLES: &str = "
    CREATE TABLE meta (format INTEGER NOT NULL) STRICT;
    CREATE TABLE scopes (
        id INTEGER PRIMARY KEY,
        stack TEXT NOT NULL,
        stage TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0,
        UNIQUE (stack, stage)
    ) STRICT;
    CREATE TABLE leases (
        scope INTEGER PRIMARY KEY REFERENCES scopes,
        token INTEGER NOT NULL,
        holder TEXT,
        since INTEGER NOT NULL,
        expires INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        scope INTEGER NOT NULL REFERENCES scopes,
        id TEXT NOT NULL,
        address TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (scope, id)
    ) STRICT;
    CREATE TABLE journal (
        position INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX journal_of_record ON journal (scope, id);
    CREATE TABLE outputs (
        scope INTEGER PRIMARY KEY REFERENCES scopes,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE runs (
        position INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes,
        run TEXT NOT NULL,
        started INTEGER NOT NULL,
        UNIQUE (scope, run)
    ) STRICT;
    CREATE TABLE history (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        at INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (run, sequence)
    ) STRICT;
";

/// What leads from each format to the next, from format 1 on.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE keyrings (
        scope INTEGER PRIMARY KEY REFERENCES scopes,
        body TEXT NOT NULL
    ) STRICT;
    ",
    // Bodies leave out inputs with defaults where there are none: older programs cannot read that, we read both.
    "",
    // Generations name the configuration that they were made with: older programs would forget it.
    "
    CREATE TABLE configurations (
        scope INTEGER PRIMARY KEY REFERENCES scopes,
        body TEXT NOT NULL
    ) STRICT;
    ",
];

/// Lays out an empty database.
pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(&MIGRATIONS.concat())?;
    transaction.execute("INSERT INTO meta (format) VALUES (?1)", [FORMAT.cast_signed()])?;
    transaction.commit()
}

/// Brings an older format up to date as a whole or not at all; refuses what is not ours or newer than we know, and
/// changes nothing then (STATE-7).
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    if format(connection)? == FORMAT {
        return Ok(());
    }
    // Another process may have been faster.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = usize::try_from(format(&transaction)? - 1).unwrap_or(usize::MAX);
    for migration in MIGRATIONS.iter().skip(known) {
        transaction.execute_batch(migration)?;
    }
    transaction.execute("UPDATE meta SET format = ?1", [FORMAT.cast_signed()])?;
    Ok(transaction.commit()?)
}

/// The format of a database: one that this program knows.
fn format(connection: &Connection) -> Result<u64, Fault> {
    let ours = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'";
    if connection.query_row(ours, [], |_| Ok(())).optional()?.is_none() {
        return Err(Fault::Garbled("it is a database of something else than trueup".into()));
    }
    let found = connection.query_row("SELECT format FROM meta", [], |row| row.get::<_, i64>(0)).optional()?;
    match found.and_then(|found| u64::try_from(found).ok()) {
        Some(found) if found > FORMAT => Err(Fault::Newer { found }),
        Some(found @ 1..) => Ok(found),
        _ => Err(Fault::Garbled("it says no format version".into())),
    }
}
