//! A small stack to write to stores, for tests of what the suite does not ask of every store.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Value, value};
use trueup_provider::{GenerationNumber, Slot, State};
use trueup_state::{
    Acquired, Batch, Entry, Lease, Metadata, RecordId, Scope, Step, Store, StoreError, Version, Write,
    transition,
};

use super::samples;

pub use samples::holder;

/// Its scope.
pub fn scope() -> Scope {
    samples::scope()
}

/// Takes the lease for `run-1`, for a minute.
///
/// # Panics
/// If it cannot be had.
pub async fn lease(store: &dyn Store) -> Lease {
    match store.acquire(&scope(), &holder("run-1"), Duration::from_secs(60)).await {
        Ok(Acquired::Lease(lease)) => lease,
        other => panic!("the lease should be free: {other:?}"),
    }
}

/// A write that adopts the resource of this number, `std_file.n7`, which must be new.
pub fn adopted(number: u64) -> Write {
    let address = samples::address(&format!("n{number}"));
    let object = State {
        inputs: None,
        outputs: value!({ path: (format!("/srv/{number}")), content: (Value::from("x".repeat(500))) }),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    };
    let step = Step::Adopted {
        origin: address.clone(),
        address,
        meta: Metadata::default(),
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    let entry = Entry::new(id(number), step);
    let record = transition(None, &entry).expect("adopting begins a record").map(Arc::new);
    Write { expected: None, record, entry }
}

/// The id of the resource of this number.
pub fn id(number: u64) -> RecordId {
    samples::id(number)
}

/// Commits writes.
pub async fn commit(store: &dyn Store, lease: &Lease, writes: Vec<Write>) -> Result<Version, StoreError> {
    store.commit(&scope(), lease.token, &Batch { writes, ..Batch::default() }).await
}
