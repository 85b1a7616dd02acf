//! A server that answers too much, or falls silent, fails the call in time, and is told so.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use std::sync::Arc;
use std::time::Duration;

use trueup_state::Store;
use trueup_store_postgres::PostgresStore;
use trueup_store_suite::conformance::HandClock;
use trueup_test_servers::postgres::Postgres;
use wire::{Cut, Wire, adopted, commit, config, lease, open, scope};

const LONG: Duration = Duration::from_secs(60);

/// BOUND-2: however many rows there are, and whatever is asked for.
#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.new_database().unwrap());
    let store = open(&url).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, (0..60).map(adopted).collect()).await.unwrap();
    let small = config(&url).with_answers_within(LONG, 4096);
    let store = PostgresStore::open(small, Arc::new(HandClock::new())).await.unwrap();
    let told = [
        store.load(&scope()).await.map(drop).unwrap_err(),
        store.versions(&scope()).await.map(drop).unwrap_err(),
    ];
    for told in told.map(|error| error.to_string()) {
        assert!(told.contains("the answer has more than 4096 bytes"), "{told}");
    }
    // The rest of the answer is nobody's: the next call has a connection of its own.
    assert_eq!(store.keyring(&scope()).await, Ok(None));
}

/// BOUND-1: the connection stays open, and nothing comes.
#[tokio::test]
async fn a_server_that_falls_silent_is_left_in_time() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    open(&server.url(&database)).await.unwrap();
    let wire = Wire::to(server.port()).await;
    let by_wire = config(&wire.url(&database)).with_answers_within(Duration::from_secs(2), 1 << 20);
    let opened = async |config| PostgresStore::open(config, Arc::new(HandClock::new())).await;
    let reading = "SELECT address, version, body";

    let store = opened(by_wire.clone()).await.unwrap();
    wire.cut(reading, Cut::Never);
    assert!(store.load(&scope()).await.is_ok(), "another connection answers");
    assert!(wire.was_cut());

    let store = opened(by_wire.clone().with_patience(Duration::ZERO)).await.unwrap();
    wire.cut(reading, Cut::Never);
    let told = store.load(&scope()).await.map(drop).unwrap_err().to_string();
    assert!(told.contains("the server does not answer"), "{told}");

    wire.cut("search_path", Cut::Never);
    let told = opened(by_wire).await.map(drop).unwrap_err().to_string();
    assert!(told.contains("the server does not answer"), "{told}");
}
