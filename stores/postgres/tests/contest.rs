//! Eight processes that contend for one database.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trueup_provider::RuntimeClock;
use trueup_store_postgres::{PostgresConfig, PostgresStore};
use trueup_store_suite::contest::{Contest, contend, place};
use trueup_test_servers::postgres::Postgres;

async fn open(url: &str) -> PostgresStore {
    let config = PostgresConfig::parse(url, |_| None).unwrap();
    PostgresStore::open(config, Arc::new(RuntimeClock::new())).await.unwrap()
}

/// What the processes run; nothing otherwise.
#[tokio::test]
async fn contestant() {
    if let Some(url) = place() {
        contend(&open(&url).await).await;
    }
}

/// STATE-2, STATE-3, STATE-4.
#[tokio::test]
async fn nothing_gets_lost_among_processes_that_are_killed_and_stopped() {
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.new_database().unwrap());
    let account = Contest::new("contest::contestant", &url).hold();
    println!("{account}");
    account.check(&open(&url).await).await;
}
