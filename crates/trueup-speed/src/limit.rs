//! What the machine allows: a bare SQLite program that writes the same rows in the same transactions, and nothing else.
//!
//! What was written is read from a copy of the state: the journal says which commit each step was part of. A record is
//! taken to have been as large in each of its steps as it is at the end. The program has the same pragmas, and tables
//! with a number for a key and a body: no scopes, versions, checks or indices, no JSON to write, no thread to wait for.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use crate::failure::Failure;
use crate::watch::Watch;

const TABLES: &str = "
    CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE journal (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE history (position INTEGER PRIMARY KEY, body TEXT NOT NULL);
";

const DURABLE: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
";

/// What a state file holds, in bytes.
#[derive(Default)]
pub(crate) struct Contents {
    records: BTreeMap<String, usize>,
    /// Commit, record and size of each entry, in order.
    journal: Vec<(i64, String, usize)>,
    history: Vec<usize>,
}

/// What one transaction wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Numbers of records, and the bytes of their rows; 0 for one that was deleted.
    records: Vec<(i64, usize)>,
    journal: Vec<usize>,
    history: Vec<usize>,
}

impl Contents {
    /// Of the state in a file, which stays as it is: a copy is read.
    pub(crate) fn of(file: &Path, folder: &Path) -> Result<Self, Failure> {
        let copy = folder.join("copy.db");
        for suffix in ["", "-wal"] {
            let [from, to] = [file, &copy].map(|path| {
                let mut path = path.as_os_str().to_owned();
                path.push(suffix);
                path
            });
            match std::fs::copy(&from, &to) {
                // What was closed well has no such file.
                Err(_) if suffix == "-wal" => {
                    let _ = std::fs::remove_file(&to);
                }
                copied => copied.map(|_| ()).map_err(|error| Failure::at(file, error))?,
            }
        }
        read(&copy).map_err(|error| Failure::at(file, error))
    }

    /// What led here from there.
    pub(crate) fn commits_since(&self, before: &Contents) -> Vec<Commit> {
        let entries = self.journal.get(before.journal.len()..).unwrap_or_default();
        let last: BTreeMap<&str, usize> =
            entries.iter().enumerate().map(|(index, (_, id, _))| (id.as_str(), index)).collect();
        let numbers: BTreeMap<&str, i64> = last.keys().copied().zip(0..).collect();
        let size = |index: usize, id: &str| match self.records.get(id) {
            None if last.get(id) == Some(&index) => 0,
            known => known.or_else(|| before.records.get(id)).copied().unwrap_or(1),
        };
        let mut commits: Vec<(i64, Commit)> = Vec::new();
        for (index, (version, id, bytes)) in entries.iter().enumerate() {
            if commits.last().is_none_or(|(last, _)| last != version) {
                commits.push((*version, Commit::default()));
            }
            if let Some((_, commit)) = commits.last_mut() {
                commit.journal.push(*bytes);
                commit.records.push((numbers[id.as_str()], size(index, id)));
            }
        }
        let mut commits: Vec<Commit> = commits.into_iter().map(|(_, commit)| commit).collect();
        let history = self.history.get(before.history.len()..).unwrap_or_default();
        let share = history.len().div_ceil(commits.len().max(1)).max(1);
        for (commit, lines) in commits.iter_mut().zip(history.chunks(share)) {
            commit.history = lines.to_vec();
        }
        commits
    }
}

impl Commit {
    /// How many rows it wrote.
    pub(crate) fn rows(&self) -> usize {
        self.records.len() + self.journal.len() + self.history.len()
    }
}

/// How long the bare program takes to write commits into a new file, in seconds.
pub(crate) fn replay(commits: &[Commit], folder: &Path) -> Result<f64, Failure> {
    let file = folder.join("limit.db");
    for suffix in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        let _ = std::fs::remove_file(path);
    }
    let written = || -> rusqlite::Result<f64> {
        let mut connection = Connection::open(&file)?;
        connection.execute_batch(DURABLE)?;
        connection.execute_batch(TABLES)?;
        let sizes = commits.iter().flat_map(|it| {
            let records = it.records.iter().map(|(_, bytes)| *bytes);
            records.chain(it.journal.iter().copied()).chain(it.history.iter().copied())
        });
        let text = "x".repeat(sizes.max().unwrap_or(0));
        let watch = Watch::start();
        for commit in commits {
            write(&mut connection, commit, &text)?;
        }
        Ok(watch.seconds())
    };
    written().map_err(|error| Failure::at(&file, error))
}

fn write(connection: &mut Connection, commit: &Commit, text: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut upsert = transaction.prepare_cached("REPLACE INTO records (id, body) VALUES (?1, ?2)")?;
        let mut delete = transaction.prepare_cached("DELETE FROM records WHERE id = ?1")?;
        for (id, bytes) in &commit.records {
            match bytes {
                0 => delete.execute([id])?,
                _ => upsert.execute(params![id, &text[..*bytes]])?,
            };
        }
        for (table, sizes) in [("journal", &commit.journal), ("history", &commit.history)] {
            let insert = format!("INSERT INTO {table} (body) VALUES (?1)");
            let mut insert = transaction.prepare_cached(&insert)?;
            for bytes in sizes {
                insert.execute([&text[..*bytes]])?;
            }
        }
    }
    transaction.commit()
}

fn read(file: &Path) -> rusqlite::Result<Contents> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    let size = |bytes: i64| usize::try_from(bytes).unwrap_or(0);
    let mut records =
        connection.prepare("SELECT id, length(id) + length(address) + octet_length(body) FROM records")?;
    let records = records.query_map([], |row| Ok((row.get(0)?, size(row.get(1)?))))?;
    let mut journal = connection
        .prepare("SELECT version, id, length(id) + octet_length(body) FROM journal ORDER BY position")?;
    let journal = journal.query_map([], |row| Ok((row.get(0)?, row.get(1)?, size(row.get(2)?))))?;
    let mut history = connection.prepare("SELECT octet_length(event) FROM history ORDER BY run, sequence")?;
    let history = history.query_map([], |row| Ok(size(row.get(0)?)))?;
    Ok(Contents {
        records: records.collect::<Result<_, _>>()?,
        journal: journal.collect::<Result<_, _>>()?,
        history: history.collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(records: &[(&str, usize)], journal: &[(i64, &str, usize)], history: &[usize]) -> Contents {
        Contents {
            records: records.iter().map(|(id, bytes)| ((*id).to_owned(), *bytes)).collect(),
            journal: journal.iter().map(|(at, id, bytes)| (*at, (*id).to_owned(), *bytes)).collect(),
            history: history.to_vec(),
        }
    }

    #[test]
    fn steps_of_one_version_are_one_commit() {
        let steps = [(1, "a", 5), (1, "b", 5), (2, "a", 6)];
        let deployed = contents(&[("a", 10), ("b", 11)], &steps, &[1, 2, 3]);
        let commits = deployed.commits_since(&Contents::default());
        let first = Commit { records: vec![(0, 10), (1, 11)], journal: vec![5, 5], history: vec![1, 2] };
        let second = Commit { records: vec![(0, 10)], journal: vec![6], history: vec![3] };
        assert_eq!(commits, [first, second]);
    }

    #[test]
    fn what_is_gone_was_deleted_in_its_last_step() {
        let deployed = contents(&[("a", 10)], &[(1, "a", 5)], &[]);
        let destroyed = contents(&[], &[(1, "a", 5), (2, "a", 6), (3, "a", 7)], &[]);
        let records: Vec<_> =
            destroyed.commits_since(&deployed).into_iter().map(|commit| commit.records).collect();
        assert_eq!(records, [[(0, 10)], [(0, 0)]]);
    }

    #[test]
    fn commits_can_be_replayed() {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let deployed = contents(&[("a", 10)], &[(1, "a", 5)], &[3]);
        let commits = deployed.commits_since(&Contents::default());
        for _ in 0..2 {
            assert!(replay(&commits, folder.path()).expect("the folder can be written") > 0.0);
        }
    }
}
