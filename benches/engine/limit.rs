//! What the machine allows: a bare SQLite program that writes the same rows in the same transactions, and nothing else.
//!
//! It has the same pragmas, and tables with a number for a key and a body: no scopes, versions, checks or indices, no
//! JSON to write, no thread to wait for.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};
use trueup_state::RecordId;

use crate::trace::Commit;
use crate::watch::Watch;

const TABLES: &str = "
    CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE journal (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE history (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE outputs (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
";

/// A bare database, which keeps what earlier traces wrote.
pub(crate) struct Limit {
    connection: Connection,
    /// The ids seen so far, sorted, with their numbers.
    numbers: std::collections::BTreeMap<RecordId, i64>,
}

impl Limit {
    pub(crate) fn new(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("limit.db")).expect("the folder can be written");
        let set = |pragma: &str, value: &str| {
            connection.pragma_update_and_check(None, pragma, value, |_| Ok(())).or_else(|error| match error {
                // Some pragmas answer, some do not.
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                other => Err(other),
            })
        };
        for (pragma, value) in [
            ("journal_mode", "WAL"),
            ("synchronous", "FULL"),
            ("fullfsync", "ON"),
            ("checkpoint_fullfsync", "ON"),
        ] {
            set(pragma, value).expect("the pragma is known");
        }
        connection.execute_batch(TABLES).expect("the database is new");
        Limit { connection, numbers: std::collections::BTreeMap::new() }
    }

    /// Writes what commits wrote, and says how long that took.
    pub(crate) fn replay(&mut self, commits: &[Commit]) -> Duration {
        let widths = commits.iter().flat_map(Commit::sizes);
        let text = "x".repeat(widths.max().unwrap_or(0));
        let rows: Vec<Vec<(i64, usize)>> = commits.iter().map(|commit| self.numbered(commit)).collect();
        let watch = Watch::start();
        for (commit, records) in commits.iter().zip(&rows) {
            self.write(commit, records, &text).expect("the database can be written");
        }
        watch.elapsed()
    }

    fn numbered(&mut self, commit: &Commit) -> Vec<(i64, usize)> {
        let mut number = |id: &RecordId| {
            let next = self.numbers.len() as i64;
            *self.numbers.entry(*id).or_insert(next)
        };
        commit.records.iter().map(|(id, bytes)| (number(id), *bytes)).collect()
    }

    fn write(&mut self, commit: &Commit, records: &[(i64, usize)], text: &str) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut upsert = transaction.prepare_cached("REPLACE INTO records (id, body) VALUES (?1, ?2)")?;
            let mut delete = transaction.prepare_cached("DELETE FROM records WHERE id = ?1")?;
            for (id, bytes) in records {
                match bytes {
                    0 => delete.execute([id])?,
                    _ => upsert.execute(params![id, &text[..*bytes]])?,
                };
            }
            let mut journal = transaction.prepare_cached("INSERT INTO journal (body) VALUES (?1)")?;
            for bytes in &commit.journal {
                journal.execute([&text[..*bytes]])?;
            }
            let mut history = transaction.prepare_cached("INSERT INTO history (body) VALUES (?1)")?;
            for bytes in &commit.history {
                history.execute([&text[..*bytes]])?;
            }
            if let Some(bytes) = commit.outputs {
                transaction.execute("REPLACE INTO outputs (id, body) VALUES (1, ?1)", [&text[..bytes]])?;
            }
        }
        transaction.commit()
    }
}
