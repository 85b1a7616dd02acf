//! Waiting for a lease: by being told, not by asking.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use std::sync::Arc;
use std::time::Duration;

use trueup_provider::RuntimeClock;
use trueup_state::{Acquired, Lease, Scope, Store};
use trueup_store_postgres::PostgresStore;
use trueup_store_suite::conformance::HandClock;
use trueup_test_servers::postgres::Postgres;
use wire::{config, holder, lease, open, scope};

async fn take(store: &PostgresStore, scope: &Scope, term: Duration) -> Option<Lease> {
    match store.acquire(scope, &holder("run-2"), term).await.unwrap() {
        Acquired::Lease(lease) => Some(lease),
        Acquired::Held(_) => None,
    }
}

const TERM: Duration = Duration::from_secs(60);

/// STATE-4.
#[tokio::test]
async fn who_waits_is_told_when_the_lease_is_given_back_or_taken_away() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let holding = open(&server.url(&database)).await.unwrap();
    let (here, there) = (scope(), Scope::new("shop", "dev"));
    for by_unlocking in [false, true] {
        let held = take(&holding, &here, TERM).await.unwrap();
        let other = take(&holding, &there, TERM).await.unwrap();
        let waiting = tokio::spawn(wait(server.url(&database)));
        until(server, &database, "SELECT count(*) FROM pg_stat_activity").await;
        holding.release(&there, &other).await.unwrap();
        assert_eq!(take(&holding, &here, TERM).await, None);
        assert!(!waiting.is_finished(), "the lease of another scope should wake nobody");
        match by_unlocking {
            false => holding.release(&here, &held).await.unwrap(),
            true => drop(holding.unlock(&here, "run-2").await.unwrap().unwrap()),
        }
        let next = waiting.await.unwrap().expect("it is free");
        holding.release(&here, &next).await.unwrap();
    }
}

/// Waits for the lease by being told once, and takes it.
async fn wait(url: String) -> Option<Lease> {
    let store = PostgresStore::open(config(&url), Arc::new(RuntimeClock::new())).await.unwrap();
    store.lease_freed(&scope()).unwrap().await;
    take(&store, &scope(), TERM).await
}

/// Asks until the answer for connections of this database that have looked at a lease, and listen now, is not 0.
async fn until(server: &Postgres, database: &str, question: &str) {
    // The question itself quotes the statement, and is not meant.
    let listening = "WHERE query LIKE '%store_clock() < expires%' AND state = 'idle'
                     AND application_name = 'trueup' AND datname = current_database()";
    while server.sql(database, &format!("{question} {listening}")).unwrap().trim() == "0" {
        tokio::task::yield_now().await;
    }
}

/// STATE-4: between being refused and listening the lease may have been given back, or be over.
#[tokio::test]
async fn what_is_free_already_is_not_waited_for() {
    let Some(server) = Postgres::shared() else { return };
    let store = open(&server.url(&server.new_database().unwrap())).await.unwrap();
    store.lease_freed(&scope()).unwrap().await;
    let lease = lease(&store).await;
    store.release(&scope(), &lease).await.unwrap();
    store.lease_freed(&scope()).unwrap().await;
    take(&store, &scope(), Duration::from_nanos(1)).await.unwrap();
    store.lease_freed(&scope()).unwrap().await;
}

/// STATE-4: where nothing can be heard any more, waiting means asking again.
#[tokio::test]
async fn a_listener_that_loses_its_connection_asks_again() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let clock = HandClock::new();
    let url = server.url(&database);
    let store = PostgresStore::open(config(&url), Arc::new(clock.clone())).await.unwrap();
    let _lease = lease(&store).await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity";
    let scope = scope();
    tokio::join!(store.lease_freed(&scope).unwrap(), until(server, &database, end));
}

/// STATE-3: whose lease is over is for the server's clock to say, whatever the clocks of clients show.
#[tokio::test]
async fn clients_whose_clocks_differ_by_an_hour_agree_on_leases() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let url = server.url(&database);
    let ahead = HandClock::new();
    ahead.advance(Duration::from_secs(3600));
    let ahead = PostgresStore::open(config(&url), Arc::new(ahead)).await.unwrap();
    let behind = PostgresStore::open(config(&url), Arc::new(HandClock::new())).await.unwrap();
    for (holder, other) in [(&ahead, &behind), (&behind, &ahead)] {
        let held = take(holder, &scope(), TERM).await.unwrap();
        assert_eq!(take(other, &scope(), TERM).await, None, "it has just begun");
        // The server's clock moves past its end.
        server.sql(&database, "UPDATE trueup.scopes SET expires = trueup.store_clock() - 1").unwrap();
        let next = take(other, &scope(), TERM).await.expect("it is over");
        assert!(next.token > held.token);
        other.release(&scope(), &next).await.unwrap();
    }
}
