//! A bare SQLite program: writes rows of given sizes in given transactions, each durable, and nothing else.
//!
//! It has the pragmas of the store, and tables with a number for a key and a body: no scopes, versions, checks or
//! indices, no JSON to write, no thread to wait for. The benchmarks of the engine include this file too.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::watch::Watch;

const DURABLE: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
";

const TABLES: &str = "
    CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE journal (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE history (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE outputs (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
";

/// What one transaction writes, in bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Numbers of records, with the bytes of their rows; 0 for one that is deleted.
    pub(crate) records: Vec<(i64, usize)>,
    pub(crate) journal: Vec<usize>,
    pub(crate) history: Vec<usize>,
    pub(crate) outputs: Option<usize>,
}

impl Rows {
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let records = self.records.iter().map(|(_, bytes)| *bytes);
        records.chain(self.journal.iter().copied()).chain(self.history.iter().copied()).chain(self.outputs)
    }
}

/// A database in a new file.
pub(crate) struct Bare(Connection);

impl Bare {
    pub(crate) fn create(file: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(DURABLE)?;
        connection.execute_batch(TABLES)?;
        Ok(Bare(connection))
    }

    /// Writes transactions, and says how long that took.
    pub(crate) fn write(&mut self, transactions: &[Rows]) -> rusqlite::Result<Duration> {
        let text = "x".repeat(transactions.iter().flat_map(Rows::sizes).max().unwrap_or(0));
        let watch = Watch::start();
        for rows in transactions {
            self.write_one(rows, &text)?;
        }
        Ok(watch.elapsed())
    }

    fn write_one(&mut self, rows: &Rows, text: &str) -> rusqlite::Result<()> {
        let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut upsert = transaction.prepare_cached("REPLACE INTO records (id, body) VALUES (?1, ?2)")?;
            let mut delete = transaction.prepare_cached("DELETE FROM records WHERE id = ?1")?;
            for (id, bytes) in &rows.records {
                match bytes {
                    0 => delete.execute([id])?,
                    _ => upsert.execute(params![id, &text[..*bytes]])?,
                };
            }
            let mut journal = transaction.prepare_cached("INSERT INTO journal (body) VALUES (?1)")?;
            for bytes in &rows.journal {
                journal.execute([&text[..*bytes]])?;
            }
            let mut history = transaction.prepare_cached("INSERT INTO history (body) VALUES (?1)")?;
            for bytes in &rows.history {
                history.execute([&text[..*bytes]])?;
            }
            if let Some(bytes) = rows.outputs {
                transaction.execute("REPLACE INTO outputs (id, body) VALUES (1, ?1)", [&text[..bytes]])?;
            }
        }
        transaction.commit()
    }
}
