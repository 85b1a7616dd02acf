//! A small stack to write to stores.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, Value, value};
use trueup_provider::State;
use trueup_state::conformance::HandClock;
use trueup_state::{
    Acquired, Batch, Entry, Holder, Lease, Metadata, RecordId, Scope, Step, Store, StoreError, Version,
    Write, transition,
};
use trueup_store_sqlite::SqliteStore;

pub(crate) async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, Arc::new(HandClock::new())).await
}

pub(crate) fn scope() -> Scope {
    Scope::new("shop", "prod")
}

pub(crate) async fn lease(store: &SqliteStore) -> Lease {
    let text = str::to_owned;
    let holder = Holder { run: text("run-1"), user: text("ada"), host: text("here"), reason: text("deploy") };
    match store.acquire(&scope(), &holder, Duration::from_secs(60)).await.unwrap() {
        Acquired::Lease(lease) => lease,
        Acquired::Held(held) => panic!("{} holds the lease", held.holder),
    }
}

/// A write that adopts the resource of this number, which is new.
pub(crate) fn adopted(number: u64) -> Write {
    let address = Address::resource("std_file", &format!("n{number}")).unwrap();
    let object = State {
        inputs: None,
        outputs: value!({ path: (format!("/srv/{number}")), content: (Value::from("x".repeat(500))) }),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    };
    let meta = Metadata::default();
    let id = RecordId::from_bytes(u128::from(number).to_be_bytes());
    let step = Step::Adopted { origin: address.clone(), address, meta, number: 0, slot: 0, object };
    let entry = Entry { id, step };
    Write { expected: None, record: transition(None, &entry).unwrap().map(Arc::new), entry }
}

pub(crate) async fn commit(
    store: &SqliteStore,
    lease: &Lease,
    writes: Vec<Write>,
) -> Result<Version, StoreError> {
    store.commit(&scope(), lease.token, &Batch { writes, ..Batch::default() }).await
}
