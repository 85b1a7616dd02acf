//! Eight processes that contend for one file.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trueup_provider::RuntimeClock;
use trueup_store_sqlite::SqliteStore;
use trueup_store_suite::contest::{Contest, contend, place};

async fn open(path: &str) -> SqliteStore {
    SqliteStore::open(path, Arc::new(RuntimeClock::new())).await.unwrap()
}

/// What the processes run; nothing otherwise.
#[tokio::test]
async fn contestant() {
    if let Some(path) = place() {
        contend(&open(&path).await).await;
    }
}

/// STATE-2, STATE-3, STATE-4, STATE-17.
#[tokio::test]
async fn nothing_gets_lost_among_processes_that_are_killed_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db").display().to_string();
    let mut contest = Contest::new("contest::contestant", &path);
    contest.living_keep_leases = true;
    let account = contest.hold();
    println!("{account}");
    account.check(&open(&path).await).await;
}
