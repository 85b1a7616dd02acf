//! The memory store, by the suite and in what it does beyond it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use trueup_core::Address;
use trueup_provider::{GenerationNumber, Slot};
use trueup_state::{
    Acquired, Batch, Entry, Holder, MemoryStore, RecordId, Scope, Step, Store, StoreError, Write,
};
use trueup_store_suite::conformance::{self, HandClock, StoreUnderTest};

struct InMemory(HandClock);

impl StoreUnderTest for InMemory {
    type Place = MemoryStore;

    async fn place(&self) -> MemoryStore {
        MemoryStore::on_clock(Arc::new(self.0.clone()))
    }

    async fn open(&self, place: &MemoryStore) -> Arc<dyn Store> {
        Arc::new(place.clone())
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        self.0.advance(duration);
        true
    }
}

/// CRUD-13, CRASH-8, STATE-1, STATE-2, STATE-8, STATE-10, STATE-14: all that the suite asserts.
#[tokio::test]
async fn the_memory_store_does_what_every_store_must() {
    conformance::check(&InMemory(HandClock::new())).await;
}

#[tokio::test]
async fn a_write_that_does_not_follow_from_its_entry_is_refused() {
    let store = MemoryStore::on_clock(Arc::new(HandClock::new()));
    let scope = Scope::new("shop", "prod");
    let text = str::to_owned;
    let holder = Holder { run: text("r"), user: text("u"), host: text("h"), reason: text("deploy") };
    let Acquired::Lease(lease) = store.acquire(&scope, &holder, Duration::MAX).await.unwrap() else {
        panic!("the lease is free");
    };
    let id = RecordId::from_bytes([7; 16]);
    let refusal = async |step| {
        let write = Write { expected: None, entry: Entry::new(id, step), record: None };
        let batch = Batch { writes: vec![write], ..Batch::default() };
        match store.commit(&scope, lease.token, &batch).await {
            Err(StoreError::Damaged { location, what }) => format!("{location}: {what}"),
            other => panic!("it should be refused: {other:?}"),
        }
    };
    let moved = Step::Moved { to: Address::resource("std_file", "a").unwrap() };
    assert_eq!(
        refusal(moved).await,
        "memory: the write of `moved` to 07070707070707070707070707070707 is wrong: \
         the step `moved` cannot follow here: there is no such record"
    );
    let object = trueup_provider::State {
        inputs: None,
        outputs: trueup_core::Value::NULL,
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    };
    let address = Address::resource("std_file", "a").unwrap();
    let adopted = Step::Adopted {
        origin: address.clone(),
        address,
        meta: trueup_state::Metadata::default(),
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    assert_eq!(
        refusal(adopted).await,
        "memory: the write of `adopted` to 07070707070707070707070707070707 is wrong: \
         the record written with it is another than it leads to"
    );
}
