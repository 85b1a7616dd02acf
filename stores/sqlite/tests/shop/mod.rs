//! A small stack to write to stores, and how to open one.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

use std::path::Path;
use std::sync::Arc;

use trueup_state::StoreError;
use trueup_store_sqlite::SqliteStore;
use trueup_store_suite::conformance::HandClock;

pub(crate) use trueup_store_suite::conformance::shop::{adopted, commit, lease, scope};

pub(crate) async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, Arc::new(HandClock::new())).await
}
