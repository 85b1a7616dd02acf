//! Leases in a bucket: no clock of a client counts, and who lost one writes nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use shop::unreliable::{Fate, Unreliable};
use shop::{SMALL, TERM, adopted, commit, holder, lease, numbers, scope};
use trueup_state::{Acquired, Store, StoreError};
use trueup_store_s3::Limits;
use trueup_store_suite::conformance::HandClock;

const HOUR: Duration = Duration::from_secs(60 * 60);
const SECOND: Duration = Duration::from_secs(1);

/// STATE-3: neither a clock that is ahead nor one that is behind takes a lease away or keeps it for ever.
#[tokio::test]
async fn clocks_that_disagree_by_an_hour_do_no_harm() {
    for ahead in [true, false] {
        let (server, ours, theirs) = (HandClock::new(), HandClock::new(), HandClock::new());
        (if ahead { &theirs } else { &ours }).advance(HOUR);
        let pass = |time| [&server, &ours, &theirs].map(|clock| clock.advance(time));
        let bucket = Unreliable::by_clock(Arc::new(InMemory::new()), &server);
        let us = shop::open_on(bucket.clone(), SMALL, &ours).await.unwrap();
        let them = shop::open_on(bucket.clone(), SMALL, &theirs).await.unwrap();
        let first = lease(&us, "run-1").await;
        for _ in 0..3 {
            pass(TERM - SECOND);
            let held = them.acquire(&scope(), &holder("run-2"), TERM).await.unwrap();
            assert!(matches!(held, Acquired::Held(_)), "a lease that is renewed should be held: {held:?}");
            us.renew(&scope(), &first).await.unwrap();
        }
        pass(TERM + SECOND + SECOND);
        let second = lease(&them, "run-2").await;
        assert!(first.token < second.token);
        assert_eq!(us.renew(&scope(), &first).await, Err(StoreError::Superseded));
        assert_eq!(commit(&us, &first, vec![adopted(1, 10)]).await, Err(StoreError::Superseded));
    }
}

/// STATE-4: a run that looks once and does not wait takes a lease that was left long ago.
#[tokio::test]
async fn a_lease_that_was_left_is_taken_at_first_sight() {
    let (server, clock) = (HandClock::new(), HandClock::new());
    let bucket = Unreliable::by_clock(Arc::new(InMemory::new()), &server);
    let gone = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    lease(&gone, "run-1").await;
    drop(gone);
    // Only the server's clock goes on: whoever looks comes new.
    server.advance(TERM - SECOND);
    let early = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    let Acquired::Held(held) = early.acquire(&scope(), &holder("run-2"), TERM).await.unwrap() else {
        panic!("the lease should last its term")
    };
    assert_eq!(held.holder, holder("run-1"));
    server.advance(SECOND * 3);
    let late = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    lease(&late, "run-3").await;
}

/// STATE-4: a run that waits takes over after what was left of the term when it came.
#[tokio::test]
async fn a_run_that_waits_counts_what_had_passed_before_it_came() {
    let (server, clock) = (HandClock::new(), HandClock::new());
    let bucket = Unreliable::by_clock(Arc::new(InMemory::new()), &server);
    lease(&shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap(), "run-1").await;
    server.advance(TERM / 2);
    let waiting = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    let held = |answer| matches!(answer, Ok(Acquired::Held(_)));
    assert!(held(waiting.acquire(&scope(), &holder("run-2"), TERM).await));
    clock.advance(TERM / 2);
    assert!(held(waiting.acquire(&scope(), &holder("run-2"), TERM).await), "servers tell whole seconds");
    clock.advance(SECOND);
    lease(&waiting, "run-2").await;
}

/// STATE-3: also when what it knew was merged and deleted while it slept.
#[tokio::test]
async fn a_holder_that_slept_through_everything_writes_nothing() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let asleep = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    let old = lease(&asleep, "run-1").await;
    for number in 0..10 {
        commit(&asleep, &old, vec![adopted(number, 300)]).await.unwrap();
    }
    let awake = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    awake.unlock(&scope(), "run-1").await.unwrap().unwrap();
    for turn in 0..5 {
        let lease = lease(&awake, &format!("run-{}", turn + 2)).await;
        for number in 0..20 {
            commit(&awake, &lease, vec![adopted(100 * (turn + 1) + number, 300)]).await.unwrap();
        }
        awake.prune(&scope(), 0).await.unwrap();
        awake.release(&scope(), &lease).await.unwrap();
    }
    let before = numbers(&awake).await;
    assert_eq!(commit(&asleep, &old, vec![adopted(10, 300)]).await, Err(StoreError::Superseded));
    assert_eq!(asleep.renew(&scope(), &old).await, Err(StoreError::Superseded));
    assert_eq!(asleep.release(&scope(), &old).await, Ok(()));
    assert_eq!(numbers(&awake).await, before);
    assert_eq!(numbers(&asleep).await, before, "it sees what the others wrote");
}

/// STATE-5: somebody who reads while pieces are merged and deleted sees the state of some moment.
#[tokio::test]
async fn readers_are_not_disturbed_by_merging() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let limits = Limits { head_bytes_max: 0, ..SMALL };
    let writer = shop::open_on(bucket.clone(), limits, &clock).await.unwrap();
    let lease = lease(&writer, "run-1").await;
    let writing = async {
        for number in 0..60 {
            commit(&writer, &lease, vec![adopted(number, 300)]).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let reading = async {
        let mut last = 0;
        while last < 60 {
            // A handle that remembers nothing reads every piece.
            let reader = shop::open_on(bucket.clone(), limits, &clock).await.unwrap();
            let seen = numbers(&reader).await;
            assert!(seen.len() as u64 >= last, "what was seen should not vanish");
            last = seen.len() as u64;
            assert_eq!(seen, (0..last).collect::<Vec<_>>());
            tokio::task::yield_now().await;
        }
    };
    futures_util::future::join(writing, reading).await;
}

/// STATE-5: somebody who finds no head and then pieces has met the first writer.
#[tokio::test]
async fn readers_are_not_disturbed_by_the_first_writer() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let written = Arc::new(InMemory::new());
    let writer = shop::open_on(written.clone(), SMALL, &clock).await.unwrap();
    let lease = lease(&writer, "run-1").await;
    for number in 0..30 {
        commit(&writer, &lease, vec![adopted(number, 300)]).await.unwrap();
    }
    assert!(!shop::pieces(&*written).await.is_empty());
    let mut objects = shop::everything(&*written).await;

    // All of it is written after the reader looked for the head, and before it looks for pieces.
    let writing = bucket.clone();
    let between = Unreliable::new(bucket.clone(), move |_, request| {
        if request == "list team/scopes/shop/prod/pieces" {
            for (path, body) in objects.drain(..) {
                writing.put(&path.into(), body.into()).now_or_never().unwrap().unwrap();
            }
        }
        Fate::Passes
    });
    let reader = shop::open_on(between, SMALL, &clock).await.unwrap();
    assert_eq!(numbers(&reader).await, (0..30).collect::<Vec<_>>());
}
