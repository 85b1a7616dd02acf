//! The S3 store, by the suite that every store runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use trueup_state::Store;
use trueup_store_s3::{Limits, S3Store};
use trueup_store_suite::conformance::{self, HandClock, StoreUnderTest};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

struct InBucket {
    emulator: RunningEmulator,
    bucket: String,
    places: AtomicU64,
    clock: HandClock,
}

impl StoreUnderTest for InBucket {
    type Place = String;

    async fn place(&self) -> String {
        format!("place/{}", self.places.fetch_add(1, Ordering::Relaxed))
    }

    async fn open(&self, place: &String) -> Arc<dyn Store> {
        let config = shop::config(&self.emulator, &self.bucket, place);
        Arc::new(S3Store::open(&config, Arc::new(self.clock.clone())).await.unwrap())
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        self.clock.advance(duration);
        true
    }
}

async fn check(emulator: Emulator) {
    let Some(emulator) = emulator.shared() else { return };
    let bucket = emulator.new_bucket();
    let places = AtomicU64::default();
    conformance::check(&InBucket { emulator, bucket, places, clock: HandClock::new() }).await;
}

/// CRUD-13, CRASH-8, STATE-1, STATE-2, STATE-8, STATE-10, STATE-14: all that the suite asserts.
#[tokio::test]
async fn the_s3_store_does_what_every_store_must() {
    check(Emulator::Ministack).await;
}

/// STATE-10.
#[tokio::test]
async fn it_does_so_on_another_server() {
    check(Emulator::Moto).await;
}

struct InMemoryBucket {
    limits: Limits,
    clock: HandClock,
}

impl StoreUnderTest for InMemoryBucket {
    type Place = Arc<dyn ObjectStore>;

    async fn place(&self) -> Arc<dyn ObjectStore> {
        Arc::new(InMemory::new())
    }

    async fn open(&self, place: &Arc<dyn ObjectStore>) -> Arc<dyn Store> {
        Arc::new(shop::open_on(place.clone(), self.limits, &self.clock).await.unwrap())
    }

    fn let_time_pass(&self, duration: Duration) -> bool {
        self.clock.advance(duration);
        true
    }
}

/// STATE-10: the bucket that the tests of faults are run on, with limits that let everything happen.
#[tokio::test]
async fn it_does_so_on_a_bucket_in_memory() {
    let nothing = Limits { head_bytes_max: 0, piece_bytes_max: 0, merge_bytes_max: 0 };
    for limits in [Limits::default(), shop::SMALL, nothing] {
        conformance::check(&InMemoryBucket { limits, clock: HandClock::new() }).await;
    }
}
