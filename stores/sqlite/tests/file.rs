//! The file: how it comes to be, who may read it, and several handles on it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::fs;
use std::sync::Arc;

use shop::{adopted, commit, lease, open, scope};
use trueup_state::{Acquired, Holder, Snapshot, Store, StoreError};
use trueup_store_sqlite::SqliteStore;
use trueup_store_suite::conformance::HandClock;

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn folders_and_file_are_made_and_only_one_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("deep/er");
    let path = inner.join("state.db");
    let store = open(&path).await.unwrap();
    assert_eq!(store.location(), path.display().to_string());
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    store.release(&scope(), &lease).await.unwrap();
    drop(store);
    assert_eq!(names(&inner), ["state.db"]);
}

/// STATE-4: after a crash nobody waits until a lease expires.
#[tokio::test]
async fn the_lease_of_a_run_that_is_gone_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (first, second) = (open(&path).await.unwrap(), open(&path).await.unwrap());
    let old = lease(&first).await;
    let other =
        Holder { run: "run-2".into(), user: "eve".into(), host: "here".into(), reason: "deploy".into() };
    let term = std::time::Duration::from_secs(60);
    let ask = async || second.acquire(&scope(), &other, term).await.unwrap();
    assert!(matches!(ask().await, Acquired::Held(held) if held.token == old.token), "it is at work");
    // Closing its files is what the operating system does with a process that was killed.
    drop(first);
    let Acquired::Lease(new) = ask().await else { panic!("the run is gone") };
    assert!(new.token > old.token);
    // A lease that was taken without a sign of life says nothing: its run may well be at work.
    fs::remove_file(folder.path().join("state.db-lease-1")).unwrap();
    let third = open(&path).await.unwrap();
    assert!(matches!(third.acquire(&scope(), &other, term).await.unwrap(), Acquired::Held(_)));
}

/// STATE-17: the clock of whoever asks is an hour ahead, as after a step of the clock or a suspension.
#[tokio::test]
async fn a_wrong_clock_does_not_give_the_lease_of_a_living_run_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let ahead = HandClock::new();
    ahead.advance(std::time::Duration::from_secs(3600));
    let first = open(&path).await.unwrap();
    let second = SqliteStore::open(&path, Arc::new(ahead)).await.unwrap();
    let old = lease(&first).await;
    let held = second.acquire(&scope(), &other("here"), TERM).await.unwrap();
    assert!(matches!(held, Acquired::Held(held) if held.token == old.token), "its holder lives");
    // Taken away by hand, it is free although the one that had it has not noticed yet.
    assert!(second.unlock(&scope(), "run-1").await.unwrap().is_some());
    let next = second.acquire(&scope(), &other("here"), TERM).await.unwrap();
    assert!(matches!(next, Acquired::Lease(_)), "{next:?}");
    assert_eq!(first.renew(&scope(), &old).await, Err(StoreError::Superseded));
    drop(first);
    let third = open(&path).await.unwrap();
    let held = third.acquire(&scope(), &other("here"), TERM).await.unwrap();
    assert!(matches!(held, Acquired::Held(_)), "the second one lives: {held:?}");
}

/// STATE-17: locks of another machine may not be seen here, so only the end of its term frees its lease.
#[tokio::test]
async fn a_free_lock_of_another_machine_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let clock = HandClock::new();
    let first = open(&path).await.unwrap();
    let old = lease(&first).await;
    drop(first);
    fs::write(folder.path().join("state.db-lease-1"), format!("{} another-boot", old.token.0)).unwrap();
    let second = SqliteStore::open(&path, Arc::new(clock.clone())).await.unwrap();
    let held = second.acquire(&scope(), &other("elsewhere"), TERM).await.unwrap();
    assert!(matches!(held, Acquired::Held(_)), "it may be at work there: {held:?}");
    let Acquired::Held(held) = held else { unreachable!() };
    clock.advance(held.expires.duration_since(held.since).unwrap());
    let next = second.acquire(&scope(), &other("elsewhere"), TERM).await.unwrap();
    assert!(matches!(next, Acquired::Lease(_)), "{next:?}");
}

/// STATE-17: a lock file that somebody removed is there again after the next renewal.
#[tokio::test]
async fn a_removed_lock_file_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let ahead = HandClock::new();
    let first = open(&path).await.unwrap();
    let old = lease(&first).await;
    fs::remove_file(folder.path().join("state.db-lease-1")).unwrap();
    first.renew(&scope(), &old).await.unwrap();
    ahead.advance(std::time::Duration::from_secs(3600));
    let second = SqliteStore::open(&path, Arc::new(ahead)).await.unwrap();
    let held = second.acquire(&scope(), &other("here"), TERM).await.unwrap();
    assert!(matches!(held, Acquired::Held(_)), "{held:?}");
}

/// STATE-17: whoever takes the lease of a killed run may be killed as well, before the store has it.
#[tokio::test]
async fn a_lease_is_free_although_its_taking_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("state.db"), folder.path().join("copy.db"));
    let first = open(&path).await.unwrap();
    lease(&first).await;
    drop(first);
    fs::copy(&path, &copy).unwrap();
    for _ in 0..3 {
        let next = open(&path).await.unwrap();
        let taken = next.acquire(&scope(), &other("here"), TERM).await.unwrap();
        assert!(matches!(taken, Acquired::Lease(_)), "{taken:?}");
        drop(next);
        // As if the commit had not come about; the lock file is as it was left.
        fs::copy(&copy, &path).unwrap();
    }
}

const TERM: std::time::Duration = std::time::Duration::from_secs(60);

fn other(host: &str) -> Holder {
    Holder { run: "run-2".into(), user: "eve".into(), host: host.into(), reason: "deploy".into() }
}

/// STATE-4: a run that ends on a full disk cannot give its lease back, and is over all the same.
#[tokio::test]
async fn a_lease_that_could_not_be_given_back_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (first, second) = (open(&path).await.unwrap(), open(&path).await.unwrap());
    let old = lease(&first).await;
    let refuse = "CREATE TRIGGER full BEFORE UPDATE ON leases WHEN NEW.holder IS NULL
                  BEGIN SELECT RAISE(FAIL, 'disk full'); END";
    rusqlite::Connection::open(&path).unwrap().execute_batch(refuse).unwrap();
    assert!(first.release(&scope(), &old).await.is_err());
    let new = lease(&second).await;
    assert!(new.token > old.token);
}

/// The file holds secrets in the clear.
#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("state.db")).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    assert_eq!(names(folder.path()), ["state.db", "state.db-lease-1", "state.db-shm", "state.db-wal"]);
    for name in names(folder.path()) {
        let mode = fs::metadata(folder.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// STATE-5.
#[tokio::test]
async fn reading_goes_on_while_another_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let writer = open(&path).await.unwrap();
    let lease = lease(&writer).await;
    let reader = open(&path).await.unwrap();

    // A commit that is under way, and stays so.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE scopes SET version = version + 1").unwrap();
    assert_eq!(reader.load(&scope()).await, Ok(Snapshot::default()));
    other.execute_batch("ROLLBACK").unwrap();

    let scope = scope();
    for number in 0..50 {
        let commit = commit(&writer, &lease, vec![adopted(2 * number), adopted(2 * number + 1)]);
        let (committed, seen) = tokio::join!(commit, reader.load(&scope));
        committed.unwrap();
        assert_eq!(seen.unwrap().records.len() % 2, 0, "commits are seen as a whole");
    }
    assert_eq!(reader.load(&scope).await.unwrap().records.len(), 100);
}

#[tokio::test]
async fn a_commit_waits_for_that_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = open(&path).await.unwrap();
    let lease = lease(&store).await;
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE scopes SET stage = stage").unwrap();
    let finish = async { other.execute_batch("COMMIT").unwrap() };
    let (committed, ()) = tokio::join!(commit(&store, &lease, vec![adopted(1)]), finish);
    committed.unwrap();
    assert_eq!(store.load(&scope()).await.unwrap().records.len(), 1);
}

/// STATE-6: one transaction for each batch, whatever its size.
#[tokio::test]
async fn ten_thousand_records_load_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("state.db")).await.unwrap();
    let lease = lease(&store).await;
    assert_eq!(store.commits(), 1, "the lease");
    let version = commit(&store, &lease, (0..10_000).map(adopted).collect()).await.unwrap();
    assert_eq!(store.commits(), 2, "the lease and the batch");
    let expected: Vec<_> = (0..10_000).map(|number| (adopted(number).record.unwrap(), version)).collect();
    assert_eq!(store.load(&scope()).await.unwrap().records, expected);
    commit(&store, &lease, vec![adopted(1)]).await.unwrap_err();
    assert_eq!(store.commits(), 2, "neither reading nor a refusal is a commit");
}

/// STATE-16: a commit to a file that no path leads to is no commit; what it wrote is in a copy.
#[cfg(unix)]
#[tokio::test]
async fn a_commit_to_a_file_that_was_taken_away_fails_and_is_in_the_copy() {
    type Blow = fn(&std::path::Path);
    let blows: [(Blow, &str); 5] = [
        (|state| fs::remove_dir_all(state).unwrap(), "state was removed or renamed"),
        (|state| fs::rename(state, state.with_extension("old")).unwrap(), "state was removed or renamed"),
        (|state| fs::remove_file(state.join("state.db")).unwrap(), "state.db was removed or renamed"),
        (
            |state| {
                fs::copy(state.join("state.db"), state.join("other")).unwrap();
                fs::rename(state.join("other"), state.join("state.db")).unwrap();
            },
            "state.db was replaced by another file",
        ),
        (|state| fs::remove_file(state.join("state.db-wal")).unwrap(), "state.db-wal was removed or renamed"),
    ];
    for (blow, happened) in blows {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let store = open(&state.join("state.db")).await.unwrap();
        let lease = lease(&store).await;
        commit(&store, &lease, vec![adopted(1)]).await.unwrap();
        blow(&state);
        assert_eq!(store.renew(&scope(), &lease).await, Ok(()), "the next commit tells, and has a copy");
        let saved = |outcome: StoreError| match outcome {
            StoreError::TakenAway { what, copy: Ok(copy), .. } => {
                assert!(what.ends_with(happened), "{what}");
                copy
            }
            other => panic!("{happened}: {other}"),
        };
        let copy = saved(commit(&store, &lease, vec![adopted(2)]).await.unwrap_err());
        assert_eq!(
            saved(store.release(&scope(), &lease).await.unwrap_err()),
            copy,
            "one copy, written again"
        );
        drop(store);
        let copy = open(std::path::Path::new(&copy)).await.unwrap();
        assert_eq!(copy.load(&scope()).await.unwrap().records.len(), 2, "{happened}");
        let next = shop::lease(&copy).await;
        assert!(next.token > lease.token, "the lease was given back in the copy");
    }
}

/// STATE-16: closing a database must not delete the log of another one at the same path.
#[cfg(unix)]
#[tokio::test]
async fn a_database_that_replaced_an_open_one_keeps_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = state.join("state.db");
    let first = open(&path).await.unwrap();
    lease(&first).await;
    fs::rename(&state, folder.path().join("old")).unwrap();
    let second = open(&path).await.unwrap();
    let held = lease(&second).await;
    drop(first);
    assert_eq!(names(&state), ["state.db", "state.db-lease-1", "state.db-shm", "state.db-wal"]);
    commit(&second, &held, vec![adopted(1)]).await.unwrap();
    let third = open(&path).await.unwrap();
    assert_eq!(third.load(&scope()).await.unwrap().records.len(), 1);
}
