//! The suite that every store passes, on a store that seals.

use std::sync::Arc;
use std::time::Duration;

use trueup_state::sealing::SealedStore;
use trueup_state::{MemoryStore, Store};
use trueup_store_suite::conformance::{self, HandClock, StoreUnderTest};

use crate::sealing::world::sources;

struct Sealing(HandClock);

impl StoreUnderTest for Sealing {
    type Place = MemoryStore;

    async fn place(&self) -> MemoryStore {
        MemoryStore::on_clock(Arc::new(self.0.clone()))
    }

    async fn open(&self, place: &MemoryStore) -> Arc<dyn Store> {
        Arc::new(SealedStore::new(Arc::new(place.clone()), sources()))
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        self.0.advance(duration);
        true
    }
}

/// STATE-10. The memory store underneath checks that sealed steps still lead to sealed records.
#[tokio::test]
async fn a_store_that_seals_does_what_every_store_must() {
    conformance::check(&Sealing(HandClock::new())).await;
}
