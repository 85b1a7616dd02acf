//! On a real server, over HTTP: what networks and servers do, and what people get wrong.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;

use shop::proxy::{self, Way};
use shop::{TERM, adopted, commit, config, holder, lease, line, numbers, scope};
use trueup_state::{Acquired, Batch, Store, StoreError};
use trueup_store_s3::{S3Config, S3Store};
use trueup_store_suite::conformance::HandClock;
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

fn started() -> Option<RunningEmulator> {
    let emulator = Emulator::Ministack.start()?;
    emulator.create_bucket("states");
    Some(emulator)
}

async fn open(config: &S3Config) -> Result<S3Store, StoreError> {
    S3Store::open(config, Arc::new(HandClock::new())).await
}

/// STATE-3: every write happens once, though every third goes wrong in one way or another.
#[tokio::test]
async fn writes_over_a_bad_network_happen_once() {
    let Some(emulator) = started() else { return };
    for way in [Way::Throttled, Way::Fails, Way::AnswerLost, Way::FailsAfterwards, Way::Doubled] {
        let mut puts = 0;
        let port = proxy::start(emulator.port(), move |request| {
            puts += u32::from(request.starts_with("PUT"));
            if request.starts_with("PUT") && puts % 3 == 0 { way } else { Way::Passes }
        });
        let direct = config(&emulator, "states", &format!("{way:?}"));
        let bad = S3Config { endpoint: Some(format!("http://127.0.0.1:{port}")), ..direct.clone() };
        let store = open(&bad).await.unwrap();
        let lease = lease(&store, "run-1").await;
        for number in 0..12 {
            let batch = Batch {
                writes: vec![adopted(number, 10_000)],
                history: vec![line("run-1", number)],
                ..Batch::default()
            };
            let version = store.commit(&scope(), lease.token, &batch).await.unwrap();
            assert_eq!(version.0, number + 1, "{way:?}");
        }
        assert_eq!(store.replace_keyring(&scope(), None, "keys").await, Ok(true), "{way:?}");
        store.renew(&scope(), &lease).await.unwrap();
        store.release(&scope(), &lease).await.unwrap();
        let other = open(&direct).await.unwrap();
        assert_eq!(numbers(&other).await, (0..12).collect::<Vec<_>>(), "{way:?}");
        assert_eq!(other.history(&scope(), "run-1").await.unwrap().len(), 12, "{way:?}");
        assert!(
            matches!(other.acquire(&scope(), &holder("run-2"), TERM).await, Ok(Acquired::Lease(_))),
            "{way:?}"
        );
    }
}

/// CRASH-8: the server is killed in the middle of a run, and comes back.
#[tokio::test]
async fn a_run_ends_when_the_server_goes_and_another_goes_on_when_it_is_back() {
    let Some(mut emulator) = started() else { return };
    let config = config(&emulator, "states", "team");
    let store = open(&config).await.unwrap();
    let first = lease(&store, "run-1").await;
    for number in 0..10 {
        commit(&store, &first, vec![adopted(number, 20_000)]).await.unwrap();
    }
    emulator.kill();
    let told = commit(&store, &first, vec![adopted(10, 10)]).await.unwrap_err();
    assert!(matches!(&told, StoreError::Unavailable { .. }), "{told}");
    let location = format!("the state at s3://states/team at {}: ", emulator.endpoint());
    assert!(told.to_string().starts_with(&format!("cannot write {location}")), "{told}");
    assert!(told.to_string().contains("Connection refused"), "{told}");
    assert!(told.to_string().ends_with("; it may be written all the same"), "{told}");
    assert!(open(&config).await.is_err(), "nor can it be opened");

    emulator.restart();
    commit(&store, &first, vec![adopted(10, 10)]).await.unwrap();
    drop(store);
    let store = open(&config).await.unwrap();
    assert_eq!(numbers(&store).await, (0..=10).collect::<Vec<_>>(), "all that was acknowledged is there");
    assert!(store.unlock(&scope(), "run-1").await.unwrap().is_some());
    let second = lease(&store, "run-2").await;
    commit(&store, &second, vec![adopted(11, 10)]).await.unwrap();
    assert_eq!(numbers(&store).await, (0..=11).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_told() {
    let Some(emulator) = started() else { return };
    let told = open(&config(&emulator, "none", "team")).await.err().unwrap().to_string();
    let location = format!("s3://none/team at {}", emulator.endpoint());
    assert_eq!(
        told,
        format!(
            "cannot list the state at {location}: the service says NoSuchBucket: The specified bucket does not exist; \
             make the bucket, or name another"
        )
    );
}

#[tokio::test]
async fn credentials_that_are_wrong_are_told_and_not_shown() {
    let Some(strict) = Emulator::Ministack.start_with(&[("AUTH", "true")]) else { return };
    let mut config = config(&strict, "states", "team");
    config.environment = vec![
        ("AWS_ACCESS_KEY_ID".to_owned(), "AKIAWRONG".to_owned()),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), "hunter2-secret".to_owned()),
    ];
    let told = open(&config).await.err().unwrap().to_string();
    assert!(told.starts_with("cannot read the state at s3://states/team at http://127.0.0.1:"), "{told}");
    assert!(told.contains(": the service says ") && told.contains("; check the credentials "), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

/// STATE-1: a bucket holds several stores under prefixes of their own, and other things.
#[tokio::test]
async fn stores_under_different_prefixes_do_not_mix() {
    let Some(emulator) = started() else { return };
    let prefixes = ["", "team", "team/a", "team/b", "/slashes/"];
    for (number, prefix) in prefixes.iter().enumerate() {
        let store = open(&config(&emulator, "states", prefix)).await.unwrap();
        assert_eq!(store.scopes().await, Ok(vec![]), "`{prefix}` is empty yet");
        let lease = lease(&store, "run-1").await;
        commit(&store, &lease, vec![adopted(number as u64, 10)]).await.unwrap();
    }
    for (number, prefix) in prefixes.iter().enumerate() {
        let store = open(&config(&emulator, "states", prefix)).await.unwrap();
        assert_eq!(numbers(&store).await, [number as u64], "`{prefix}`");
        assert_eq!(store.scopes().await, Ok(vec![scope()]), "`{prefix}`");
    }
}
