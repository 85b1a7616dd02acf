//! Requests that fail for a while cost time and nothing else; what is answered is what happened.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use shop::unreliable::{Fate, Unreliable};
use shop::{SMALL, TERM, adopted, commit, holder, lease, line, numbers, scope};
use trueup_state::{Acquired, Batch, Store, StoreError, Version};
use trueup_store_suite::conformance::HandClock;

/// A source of chance that can be had again by its seed.
fn chance(seed: u64) -> impl FnMut(u64) -> u64 + Send {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    }
}

/// One request in four goes wrong, in one of three ways.
fn flaky(bucket: &Arc<InMemory>, seed: u64) -> Arc<Unreliable> {
    let mut chance = chance(seed);
    Unreliable::new(bucket.clone(), move |_, _| match chance(12) {
        0 => Fate::Throttled,
        1 => Fate::AnswerLost,
        2 => Fate::Doubled,
        _ => Fate::Passes,
    })
}

/// STATE-2, STATE-3.
#[tokio::test]
async fn whatever_fails_for_a_while_every_commit_happens_once() {
    for seed in 0..40 {
        let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
        let store = shop::open_on(flaky(&bucket, seed), SMALL, &clock).await.unwrap();
        let first = lease(&store, "run-1").await;
        for number in 0..20 {
            let batch = Batch {
                writes: vec![adopted(number, 300)],
                history: vec![line("run-1", number)],
                ..Batch::default()
            };
            let version = store.commit(&scope(), first.token, &batch).await;
            assert_eq!(version, Ok(Version(number + 1)), "seed {seed}");
            assert_eq!(store.renew(&scope(), &first).await, Ok(()), "seed {seed}");
        }
        assert_eq!(store.replace_keyring(&scope(), None, "keys").await, Ok(true), "seed {seed}");
        store.release(&scope(), &first).await.unwrap();
        let other = shop::open_on(bucket, SMALL, &clock).await.unwrap();
        assert_eq!(numbers(&other).await, (0..20).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(other.history(&scope(), "run-1").await.unwrap().len(), 20, "seed {seed}");
        assert_eq!(other.keyring(&scope()).await, Ok(Some("keys".to_owned())), "seed {seed}");
    }
}

/// STATE-3: of those who ask at once, one gets the lease, and its token is its own.
#[tokio::test]
async fn of_many_who_ask_at_once_one_gets_the_lease() {
    for seed in 0..40 {
        let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
        let mut stores = Vec::new();
        for number in 0..6 {
            stores.push(shop::open_on(flaky(&bucket, 100 * seed + number), SMALL, &clock).await.unwrap());
        }
        let scope = scope();
        let asking = stores.iter().enumerate().map(|(number, store)| {
            let scope = &scope;
            async move { store.acquire(scope, &holder(&format!("run-{number}")), TERM).await.unwrap() }
        });
        let answers = futures_util::future::join_all(asking).await;
        let got: Vec<usize> = (0..6).filter(|at| matches!(answers[*at], Acquired::Lease(_))).collect();
        assert_eq!(got.len(), 1, "seed {seed}: {answers:?}");
        for answer in &answers {
            match answer {
                Acquired::Lease(lease) => assert_eq!(lease.token.0, 1, "seed {seed}"),
                Acquired::Held(held) => assert_eq!(held.holder.run, format!("run-{}", got[0]), "seed {seed}"),
            }
        }
    }
}

/// STATE-2: two who write to one scope, one under the lease and one who changes keys and prunes, lose nothing.
#[tokio::test]
async fn writers_of_different_things_do_not_undo_one_another() {
    for seed in 0..20 {
        let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
        let run = shop::open_on(flaky(&bucket, 2 * seed), SMALL, &clock).await.unwrap();
        let other = shop::open_on(flaky(&bucket, 2 * seed + 1), SMALL, &clock).await.unwrap();
        let lease = lease(&run, "run-1").await;
        let committing = async {
            for number in 0..15 {
                commit(&run, &lease, vec![adopted(number, 300)]).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let changing = async {
            for number in 0..15 {
                let before = u64::checked_sub(number, 1).map(|before| before.to_string());
                let changed = other.replace_keyring(&scope(), before.as_deref(), &number.to_string()).await;
                assert_eq!(changed, Ok(true), "seed {seed}");
                tokio::task::yield_now().await;
            }
        };
        futures_util::future::join(committing, changing).await;
        other.prune(&scope(), 1).await.unwrap();
        assert_eq!(numbers(&other).await, (0..15).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(run.keyring(&scope()).await, Ok(Some("14".to_owned())), "seed {seed}");
    }
}

/// What cannot be found out is said, not guessed; afterwards the store goes on with what is there.
#[tokio::test]
async fn a_server_that_is_down_is_told_and_the_store_goes_on_when_it_is_back() {
    for lost in [Fate::Throttled, Fate::AnswerLost] {
        let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
        let down = Arc::new(AtomicU64::default());
        let is_down = down.clone();
        let unreliable = Unreliable::new(bucket.clone(), move |_, _| {
            // Only the first request may still be carried out.
            match is_down.load(Ordering::SeqCst) {
                0 => Fate::Passes,
                1 => {
                    is_down.store(2, Ordering::SeqCst);
                    lost
                }
                _ => Fate::Throttled,
            }
        });
        let store = shop::open_on(unreliable, SMALL, &clock).await.unwrap();
        let lease = lease(&store, "run-1").await;
        commit(&store, &lease, vec![adopted(0, 10)]).await.unwrap();
        down.store(1, Ordering::SeqCst);
        let told = commit(&store, &lease, vec![adopted(1, 10)]).await.unwrap_err();
        assert!(matches!(told, StoreError::Unavailable { .. }), "{told}");
        assert!(told.to_string().starts_with("cannot write the state at s3://states/team: "), "{told}");
        down.store(0, Ordering::SeqCst);
        let happened = lost == Fate::AnswerLost;
        let expected: Vec<u64> = if happened { vec![0, 1] } else { vec![0] };
        assert_eq!(numbers(&store).await, expected);
        let again = commit(&store, &lease, vec![adopted(1, 10)]).await;
        assert_eq!(again.is_ok(), !happened, "what is there cannot be made again: {again:?}");
        commit(&store, &lease, vec![adopted(2, 10)]).await.unwrap();
        assert_eq!(numbers(&store).await, [0, 1, 2]);
    }
}

/// A service that takes no notice of conditions would lose updates: it is found out before anything is kept in it.
#[tokio::test]
async fn a_service_that_ignores_conditions_is_refused() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let careless = Unreliable::new(bucket.clone(), |_, _| Fate::ConditionIgnored);
    let store = shop::open_on(careless, SMALL, &clock).await.unwrap();
    let refused = store.acquire(&scope(), &holder("run-1"), TERM).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot keep the state at s3://states/team: it overwrites objects that a condition protects, so that this \
         service cannot keep a state safely"
    );
    let left = futures_util::StreamExt::count(bucket.list(None)).await;
    assert_eq!(left, 0, "nothing should be left of the trial");
}

/// A commit is one request, whatever else there is.
#[tokio::test]
async fn a_commit_is_one_request() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let counted = Unreliable::new(bucket, |_, _| Fate::Passes);
    let store = shop::open_on(counted.clone(), trueup_store_s3::Limits::default(), &clock).await.unwrap();
    let lease = lease(&store, "run-1").await;
    commit(&store, &lease, (0..100).map(|number| adopted(number, 100)).collect()).await.unwrap();
    let before = counted.requests();
    for number in 100..110 {
        commit(&store, &lease, vec![adopted(number, 100)]).await.unwrap();
    }
    assert_eq!(counted.requests() - before, 10);
}
