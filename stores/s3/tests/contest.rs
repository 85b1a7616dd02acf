//! Eight processes that contend for one bucket.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;

use trueup_provider::RuntimeClock;
use trueup_store_s3::{S3Config, S3Store};
use trueup_store_suite::contest::{Contest, contend, place};
use trueup_test_servers::emulator::{Emulator, credentials};

async fn open(endpoint: &str) -> S3Store {
    let text = str::to_owned;
    let config = S3Config {
        bucket: text("states"),
        endpoint: Some(text(endpoint)),
        environment: credentials(),
        // So that pieces are written, merged and deleted while others read them.
        limits: shop::SMALL,
        ..S3Config::default()
    };
    S3Store::open(&config, Arc::new(RuntimeClock::new())).await.unwrap()
}

/// What the processes run; nothing otherwise.
#[tokio::test]
async fn contestant() {
    if let Some(endpoint) = place() {
        contend(&open(&endpoint).await).await;
    }
}

/// STATE-2, STATE-3, STATE-4.
#[tokio::test]
async fn nothing_gets_lost_among_processes_that_are_killed_and_stopped() {
    let Some(emulator) = Emulator::Ministack.start() else { return };
    emulator.create_bucket("states");
    let account = Contest::new("contest::contestant", &emulator.endpoint()).hold();
    println!("{account}");
    account.check(&open(&emulator.endpoint()).await).await;
}
