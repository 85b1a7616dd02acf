//! The thread that owns the connection, so that nothing asynchronous ever waits for the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;
use trueup_state::StoreError;

use crate::fault::Fault;
use crate::file;
use crate::presence::Presence;

type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// What the thread owns.
struct Database {
    connection: Connection,
    presence: Presence,
}

/// A handle on the thread. Dropping it waits until the thread has finished its jobs and closed the file, so that what
/// is left is one whole file without companions.
pub(crate) struct Worker {
    path: PathBuf,
    /// Taken when the worker is dropped, which ends the thread.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Worker {
    /// Opens the file on a thread of its own.
    pub(crate) async fn start(path: PathBuf) -> Result<Worker, StoreError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (opened, opening) = oneshot::channel();
        let run = {
            let path = path.clone();
            move || match file::open(&path) {
                Ok(connection) => {
                    let mut database = Database { connection, presence: Presence::of(&path) };
                    let _ = opened.send(Ok(()));
                    for job in queue {
                        job(&mut database);
                    }
                    database.presence.before_close(&database.connection);
                }
                Err(fault) => drop(opened.send(Err(fault))),
            }
        };
        let thread = std::thread::Builder::new().name("trueup-sqlite".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Fault::System(error).told("open", &path))?;
        let outcome = opening.await.unwrap_or_else(|_| Err(ended()));
        outcome.map_err(|fault| fault.told("open", &path))?;
        Ok(Worker { path, jobs: Some(jobs), thread: Some(thread), commits: Arc::default() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many transactions that changed anything were committed.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Reads, all from one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let job = |database: &mut Database| work(&database.connection.transaction()?);
        self.ask(job).await.map_err(|fault| fault.told("read", &self.path))
    }

    /// Writes, as a whole or not at all; durable when it returns. Fails if the files are no longer at their paths, where
    /// nobody would find what was written; the copy that is then made has it.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let commits = self.commits.clone();
        let job = move |database: &mut Database| {
            let outcome = commit(&mut database.connection, &commits, work);
            // A refusal is an answer; anything else may be because the files are gone.
            if !matches!(outcome, Err(Fault::Refused(_))) {
                database.presence.check(&database.connection)?;
            }
            outcome
        };
        self.ask(job).await.map_err(|fault| fault.told("write", &self.path))
    }

    /// Writes what is of no use to anyone else, without a look at the files.
    pub(crate) async fn write_unwatched<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let commits = self.commits.clone();
        let job = move |database: &mut Database| commit(&mut database.connection, &commits, work);
        self.ask(job).await.map_err(|fault| fault.told("write", &self.path))
    }

    /// Writes the file anew, so that nothing is left in it of what was deleted or overwritten.
    pub(crate) async fn leave_no_trace(&self) -> Result<(), StoreError> {
        let job = |database: &mut Database| {
            database.connection.execute_batch("VACUUM")?;
            // As long as someone reads, the log stays; it goes with the last who has the file open.
            Ok(database.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
        };
        self.ask(job).await.map_err(|fault| fault.told("write", &self.path))
    }

    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (answer, answered) = oneshot::channel();
        // Whoever asked may have stopped waiting: what was begun is done all the same.
        let job: Job = Box::new(|database| drop(answer.send(work(database))));
        let sent = self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok());
        sent.ok_or_else(ended)?;
        answered.await.unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // If it panicked, whoever waited for an answer has been told.
            let _ = thread.join();
        }
    }
}

fn commit<T>(
    connection: &mut Connection,
    commits: &AtomicU64,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let before = connection.total_changes();
    // Taking the write lock at the start is what lets SQLite wait for another process instead of failing.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let answer = work(&transaction)?;
    transaction.commit()?;
    if connection.total_changes() != before {
        commits.fetch_add(1, Ordering::Relaxed);
    }
    Ok(answer)
}

fn ended() -> Fault {
    Fault::System(std::io::Error::other("the thread that writes it has ended"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_pages_max(pages: u32) -> impl FnOnce(&Transaction<'_>) -> Result<(), Fault> + Send + 'static {
        move |transaction| {
            let answer = transaction.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
            Ok(answer?)
        }
    }

    fn add_stacks(transaction: &Transaction<'_>) -> Result<(), Fault> {
        let mut insert = transaction.prepare_cached("INSERT INTO scopes (stack, stage) VALUES (?1, '')")?;
        for number in 0..100 {
            insert.execute([format!("{number}").repeat(1000)])?;
        }
        Ok(())
    }

    fn count_stacks(transaction: &Transaction<'_>) -> Result<u64, Fault> {
        let count: i64 = transaction.query_row("SELECT COUNT(*) FROM scopes", [], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// STATE-7: the limit that SQLite keeps by itself stands for a full disk.
    #[tokio::test]
    async fn a_full_disk_refuses_a_commit_whole_and_recovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let worker = Worker::start(path.clone()).await.unwrap();
        worker.read(set_pages_max(30)).await.unwrap();
        let full = worker.write(add_stacks).await;
        let (location, cause) = (path.display().to_string(), "database or disk is full".into());
        assert_eq!(full, Err(StoreError::Unavailable { attempted: "write", location, cause }));
        assert_eq!((worker.read(count_stacks).await, worker.commits()), (Ok(0), 0));

        worker.read(set_pages_max(1_000_000)).await.unwrap();
        worker.write(add_stacks).await.unwrap();
        assert_eq!((worker.read(count_stacks).await, worker.commits()), (Ok(100), 1));
    }

    #[tokio::test]
    async fn a_panic_on_the_thread_is_told_to_whoever_waits() {
        let folder = tempfile::tempdir().unwrap();
        let worker = Worker::start(folder.path().join("state.db")).await.unwrap();
        for _ in ["the one that panics", "the next"] {
            let error = worker.write::<()>(|_| panic!("on purpose")).await.unwrap_err();
            assert!(error.to_string().ends_with("the thread that writes it has ended"), "{error}");
        }
    }
}
