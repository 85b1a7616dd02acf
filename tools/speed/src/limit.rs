//! What the machine allows: how long a [`Bare`] program takes for the rows that a run wrote, in the same transactions.
//!
//! What was written is read from a copy of the state: the journal says which commit each step was part of. A record is
//! taken to have been as large in each of its steps as it is at the end.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::bare::{Bare, Rows};
use crate::failure::Failure;

/// How many steps share a commit where each is a call to a provider, ten of which are under way at a time. What is
/// nothing but its record shares one with many more.
pub(crate) const STEPS: usize = 10;

/// What a state file holds, in bytes.
#[derive(Default)]
pub(crate) struct Contents {
    records: BTreeMap<String, usize>,
    /// Commit, record and size of each entry, in order.
    journal: Vec<(i64, String, usize)>,
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
    pub(crate) fn commits_since(&self, before: &Contents) -> Vec<Rows> {
        let entries = self.journal.get(before.journal.len()..).unwrap_or_default();
        let last: BTreeMap<&str, usize> =
            entries.iter().enumerate().map(|(index, (_, id, _))| (id.as_str(), index)).collect();
        let numbers: BTreeMap<&str, i64> = last.keys().copied().zip(0..).collect();
        let size = |index: usize, id: &str| match self.records.get(id) {
            None if last.get(id) == Some(&index) => 0,
            known => known.or_else(|| before.records.get(id)).copied().unwrap_or(1),
        };
        let mut commits: Vec<(i64, Rows)> = Vec::new();
        for (index, (version, id, bytes)) in entries.iter().enumerate() {
            if commits.last().is_none_or(|(last, _)| last != version) {
                commits.push((*version, Rows::default()));
            }
            if let Some((_, commit)) = commits.last_mut() {
                commit.journal.push(*bytes);
                commit.records.push((numbers[id.as_str()], size(index, id)));
            }
        }
        let mut commits: Vec<Rows> = commits.into_iter().map(|(_, commit)| commit).collect();
        let history = self.history.get(before.history.len()..).unwrap_or_default();
        let share = history.len().div_ceil(commits.len().max(1)).max(1);
        for (commit, lines) in commits.iter_mut().zip(history.chunks(share)) {
            commit.history = lines.to_vec();
        }
        commits
    }
}

/// The same rows in commits of so many steps.
pub(crate) fn in_commits_of(steps: usize, commits: &[Rows]) -> Vec<Rows> {
    let records: Vec<_> = commits.iter().flat_map(|it| &it.records).copied().collect();
    let journal: Vec<_> = commits.iter().flat_map(|it| &it.journal).copied().collect();
    let history: Vec<_> = commits.iter().flat_map(|it| &it.history).copied().collect();
    let share = (history.len() * steps).div_ceil(journal.len().max(1)).max(1);
    let mut lines = history.chunks(share);
    let pairs = records.chunks(steps).zip(journal.chunks(steps));
    pairs
        .map(|(records, journal)| Rows {
            records: records.to_vec(),
            journal: journal.to_vec(),
            history: lines.next().unwrap_or_default().to_vec(),
            outputs: None,
        })
        .collect()
}

/// How long the bare program takes to write commits into a new file, in seconds.
pub(crate) fn replay(commits: &[Rows], folder: &Path) -> Result<f64, Failure> {
    let file = folder.join("limit.db");
    for suffix in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        let _ = std::fs::remove_file(path);
    }
    let took = Bare::create(&file).and_then(|mut bare| bare.write(commits));
    Ok(took.map_err(|error| Failure::at(&file, error))?.as_secs_f64())
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
        let first =
            Rows { records: vec![(0, 10), (1, 11)], journal: vec![5, 5], history: vec![1, 2], outputs: None };
        let second = Rows { records: vec![(0, 10)], journal: vec![6], history: vec![3], outputs: None };
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
    fn the_same_rows_can_be_cut_into_other_commits() {
        let whole = Rows {
            records: (0..25).map(|it| (it, 10)).collect(),
            journal: vec![5; 25],
            history: vec![3; 50],
            outputs: None,
        };
        let cut = in_commits_of(10, &[whole]);
        let sizes: Vec<_> =
            cut.iter().map(|it| (it.records.len(), it.journal.len(), it.history.len())).collect();
        assert_eq!(sizes, [(10, 10, 20), (10, 10, 20), (5, 5, 10)]);
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
