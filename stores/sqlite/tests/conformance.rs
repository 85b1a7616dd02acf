//! The SQLite store, by the suite that every store runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use trueup_core::Secret;
use trueup_state::Store;
use trueup_state::sealing::{KeyKind, KeySources, SealedStore};
use trueup_store_sqlite::SqliteStore;
use trueup_store_suite::conformance::{self, HandClock, StoreUnderTest};

struct InFolder {
    folder: TempDir,
    places: AtomicU64,
    clock: HandClock,
    sealed: bool,
}

impl InFolder {
    fn new(sealed: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        InFolder { folder, places: AtomicU64::default(), clock: HandClock::new(), sealed }
    }
}

impl StoreUnderTest for InFolder {
    type Place = PathBuf;

    async fn place(&self) -> PathBuf {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join(format!("{number}.db"))
    }

    async fn open(&self, place: &PathBuf) -> Arc<dyn Store> {
        let store = Arc::new(SqliteStore::open(place, Arc::new(self.clock.clone())).await.unwrap());
        let key = Some(Secret::new("5a".repeat(32)));
        let sources = KeySources { chosen: KeyKind::Env, env: key, ..KeySources::default() };
        if self.sealed { Arc::new(SealedStore::new(store, sources)) } else { store }
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        self.clock.advance(duration);
        true
    }

    fn knows_who_lives(&self) -> bool {
        true
    }
}

/// CRUD-13, CRASH-8, STATE-1, STATE-2, STATE-8, STATE-10, STATE-14: all that the suite asserts.
#[tokio::test]
async fn the_sqlite_store_does_what_every_store_must() {
    conformance::check(&InFolder::new(false)).await;
}

/// STATE-10, SECRET-3: sealed secrets come back through the file as they were.
#[tokio::test]
async fn so_it_does_with_sealed_secrets() {
    conformance::check(&InFolder::new(true)).await;
}
