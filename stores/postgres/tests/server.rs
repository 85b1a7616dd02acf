//! A server that goes away: what it acknowledged is there when it is back.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use trueup_provider::RuntimeClock;
use trueup_state::{Store, StoreError, Version};
use trueup_store_postgres::PostgresStore;
use trueup_test_servers::postgres::Postgres;
use wire::{adopted, commit, config, lease, open, refusal, scope};

/// How many commits come between two deaths of the server.
const COMMITS: u64 = 40;

const DEATHS: u64 = 3;

/// How long a server may take to come back.
const PATIENCE: Duration = Duration::from_secs(120);

/// CRASH-8.
#[tokio::test]
async fn a_server_that_is_down_is_named_and_a_rerun_goes_on_when_it_is_back() {
    let Some(server) = Postgres::own() else { return };
    let database = server.new_database().unwrap();
    let url = server.url(&database);
    let store = open(&url).await.unwrap();
    let held = lease(&store).await;
    commit(&store, &held, vec![adopted(1)]).await.unwrap();

    server.kill().unwrap();
    for outcome in [
        commit(&store, &held, vec![adopted(2)]).await.map(drop),
        store.load(&scope()).await.map(drop),
        store.renew(&scope(), &held).await,
    ] {
        let Err(StoreError::Unavailable { cause, location, .. }) = outcome else { panic!("{outcome:?}") };
        assert!(cause.to_string().starts_with("error connecting to server: Connection refused"), "{cause}");
        assert_eq!(location, url);
    }
    assert!(refusal(&url).await.contains("error connecting to server: Connection refused"));

    server.restart().unwrap();
    assert_eq!(commit(&store, &held, vec![adopted(2)]).await, Ok(Version(2)), "the same handle goes on");
    assert_eq!(open(&url).await.unwrap().load(&scope()).await.unwrap().records.len(), 2);
}

/// CRASH-8, STATE-3: killed between and during commits, again and again.
#[tokio::test]
async fn what_was_acknowledged_survives_the_death_of_the_server() {
    let Some(server) = Postgres::own() else { return };
    let database = server.new_database().unwrap();
    let clock = Arc::new(RuntimeClock::new());
    let config = config(&server.url(&database)).with_patience(PATIENCE);
    let store = PostgresStore::open(config, clock).await.unwrap();
    let lease = lease(&store).await;

    // It dies while the next commits go on.
    let (die, deaths) = mpsc::channel();
    let killer = std::thread::spawn(move || {
        for () in deaths {
            server.kill().unwrap();
            server.restart().unwrap();
        }
        server
    });
    for number in 1..=(DEATHS + 1) * COMMITS {
        let version = commit(&store, &lease, vec![adopted(number)]).await.unwrap();
        assert_eq!(version, Version(number), "each should happen once");
        if number % COMMITS == 0 && number / COMMITS <= DEATHS {
            die.send(()).unwrap();
        }
    }
    drop(die);
    let _server = killer.join().unwrap();
    let records = store.load(&scope()).await.unwrap().records;
    assert_eq!(records.len() as u64, (DEATHS + 1) * COMMITS, "all that was acknowledged should be there");
}
