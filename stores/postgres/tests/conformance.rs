//! The PostgreSQL store, by the suite that every store runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use trueup_provider::RuntimeClock;
use trueup_state::Store;
use trueup_store_postgres::{PostgresConfig, PostgresStore};
use trueup_store_suite::conformance::{self, StoreUnderTest};
use trueup_test_servers::postgres::Postgres;

/// Places are schemas of one database. Their clock is a file that the server reads.
struct InDatabase {
    server: &'static Postgres,
    database: String,
    places: AtomicU64,
    time_ns: Mutex<u128>,
}

impl InDatabase {
    fn set_clock(&self) -> String {
        self.server.write("clock", &self.time_ns.lock().unwrap().to_string()).unwrap().display().to_string()
    }
}

impl StoreUnderTest for InDatabase {
    type Place = String;

    async fn place(&self) -> String {
        format!("Place {}", self.places.fetch_add(1, Ordering::Relaxed))
    }

    async fn open(&self, schema: &String) -> Arc<dyn Store> {
        let url = format!("{}?schema={}", self.server.url(&self.database), schema.replace(' ', "%20"));
        let config = PostgresConfig::parse(&url, |_| None).unwrap();
        let store = PostgresStore::open(config, Arc::new(RuntimeClock::new())).await.unwrap();
        let statement = format!(
            "CREATE OR REPLACE FUNCTION \"{schema}\".store_clock() RETURNS bigint LANGUAGE sql VOLATILE AS
             'SELECT pg_read_file(''{}'')::bigint'",
            self.set_clock()
        );
        self.server.sql(&self.database, &statement).unwrap();
        Arc::new(store)
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        *self.time_ns.lock().unwrap() += duration.as_nanos();
        self.set_clock();
        true
    }
}

/// CRUD-13, CRASH-8, STATE-1, STATE-2, STATE-8, STATE-10, STATE-14: all that the suite asserts.
#[tokio::test]
async fn the_postgres_store_does_what_every_store_must() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let time_ns = Mutex::new(1_770_000_000_000_000_000);
    conformance::check(&InDatabase { server, database, places: AtomicU64::default(), time_ns }).await;
}
