//! A run that dies at any request loses nothing that was acknowledged, and leaves nothing half.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use shop::unreliable::{Fate, Unreliable};
use shop::{SMALL, TERM, adopted, commit, holder, id, lease, line, numbers, scope};
use trueup_core::value;
use trueup_provider::GenerationNumber;
use trueup_state::{Acquired, Batch, Entry, FencingToken, Step, Store, StoreError, Write, transition};
use trueup_store_s3::S3Store;
use trueup_store_suite::conformance::HandClock;

/// How many commits a run makes. Each brings two records and takes away one, with a line of history.
const COMMITS: u64 = 16;

/// The commit of a number, as it follows from those before it.
fn batch(number: u64, versions: &[(trueup_state::RecordId, trueup_state::Version)]) -> Batch {
    let mut writes = vec![adopted(2 * number, 300), adopted(2 * number + 1, 300)];
    if let Some(before) = number.checked_sub(1) {
        let gone = adopted(2 * before, 300);
        let entry = Entry::new(gone.entry.id, Step::Dropped { number: GenerationNumber::FIRST });
        let after = transition(gone.record.map(Arc::unwrap_or_clone), &entry).unwrap();
        let expected = versions.iter().find(|(id, _)| *id == entry.id).map(|(_, version)| *version);
        writes.push(Write { expected, record: after.map(Arc::new), entry });
    }
    let outputs = number.is_multiple_of(5).then(|| value!({ number: number }));
    Batch { writes, history: vec![line("run-1", number)], outputs, ..Batch::default() }
}

/// Goes on until all commits are made, or something fails. How many were acknowledged, and whether it came to its end.
async fn run(store: &S3Store, done: u64, token: FencingToken) -> (u64, Result<(), StoreError>) {
    for number in done..COMMITS {
        let made = async {
            let versions = store.versions(&scope()).await?;
            store.commit(&scope(), token, &batch(number, &versions)).await
        };
        if let Err(error) = made.await {
            return (number, Err(error));
        }
        if number == COMMITS / 2
            && let Err(error) = store.prune(&scope(), 10).await
        {
            return (number + 1, Err(error));
        }
    }
    let released = store.release(&scope(), &trueup_state::Lease { token, term: TERM }).await;
    (COMMITS, released)
}

/// What is recorded must be what some number of commits leave. That number.
async fn commits_made(store: &S3Store) -> u64 {
    let history = store.history(&scope(), "run-1").await.unwrap();
    let made = history.len() as u64;
    let mut expected: Vec<u64> = (0..made).map(|number| 2 * number + 1).collect();
    expected.extend(made.checked_sub(1).map(|last| 2 * last));
    expected.sort_unstable();
    assert_eq!(numbers(store).await, expected, "the records of {made} commits");
    let outputs = made.checked_sub(1).map(|last| value!({ number: (last / 5 * 5) }));
    assert_eq!(store.load(&scope()).await.unwrap().outputs, outputs);
    for number in expected.into_iter().rev().take(2) {
        let journal = store.journal(&scope(), id(number)).await.unwrap();
        assert_eq!(journal.len(), 1, "the journal of record {number} after {made} commits");
    }
    made
}

/// Dies at the request of this number. Whether that came.
async fn dies_at(request: u64, fate: Fate) -> bool {
    let clock = HandClock::new();
    let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mortal =
        Unreliable::new(bucket.clone(), move |number, _| if number == request { fate } else { Fate::Passes });
    let mut acknowledged = 0;
    if let Ok(store) = shop::open_on(mortal.clone(), SMALL, &clock).await
        && let Ok(Acquired::Lease(lease)) = store.acquire(&scope(), &holder("run-1"), TERM).await
    {
        acknowledged = run(&store, 0, lease.token).await.0;
    }

    clock.advance(TERM);
    let store = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    let made = commits_made(&store).await;
    let may_be = acknowledged..=(acknowledged + u64::from(mortal.died())).min(COMMITS);
    assert!(may_be.contains(&made), "{acknowledged} of {made} commits were acknowledged");
    let next = match store.acquire(&scope(), &holder("run-2"), TERM).await.unwrap() {
        Acquired::Lease(lease) => lease,
        // This handle has not seen the lease for its whole term.
        Acquired::Held(_) => {
            clock.advance(TERM);
            lease(&store, "run-2").await
        }
    };
    let (all, ended) = run(&store, made, next.token).await;
    assert_eq!((all, ended), (COMMITS, Ok(())));
    assert_eq!(commits_made(&store).await, COMMITS);
    store.prune(&scope(), 1).await.unwrap();
    let other = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    assert_eq!(commits_made(&other).await, COMMITS);
    mortal.died()
}

/// CRASH-8: a run that makes commits, pieces and merges, prunes, and gives its lease back.
#[tokio::test]
async fn a_run_may_die_at_any_request() {
    for fate in [Fate::DiesBefore, Fate::DiesAfter] {
        let mut request = 0;
        while dies_at(request, fate).await {
            // Every third in the ordinary run.
            request += trueup_test_servers::sized(3, 1);
        }
        assert!(request > 80, "a run should make more than {request} requests");
    }
}

/// What a crash leaves behind is cleared away by whoever comes next.
#[tokio::test]
async fn pieces_that_no_head_names_are_swept_up() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let mut heads = 0;
    // Dies right before the third head that names pieces.
    let mortal = Unreliable::new(bucket.clone(), move |_, request| {
        heads += u64::from(request.contains("-records-"));
        if heads == 3 && request.ends_with("/head") { Fate::DiesBefore } else { Fate::Passes }
    });
    let store = shop::open_on(mortal.clone(), SMALL, &clock).await.unwrap();
    let first = lease(&store, "run-1").await;
    let mut number = 0;
    while commit(&store, &first, vec![adopted(number, 600)]).await.is_ok() {
        number += 1;
    }
    assert!(mortal.died());
    clock.advance(TERM);
    let store = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    assert_eq!(store.unlock(&scope(), "run-1").await.unwrap().unwrap().token, first.token);
    let second = lease(&store, "run-2").await;
    commit(&store, &second, vec![adopted(number, 600)]).await.unwrap();
    store.release(&scope(), &second).await.unwrap();
    let left = shop::pieces(&*bucket).await;
    let named = shop::named_pieces(&*bucket).await;
    assert_eq!(left, named, "what is there should be what the head names");
    assert_eq!(numbers(&store).await, (0..=number).collect::<Vec<_>>());
}

/// What another is about to name is not taken for something left behind.
#[tokio::test]
async fn pieces_that_the_next_head_may_name_are_left_alone() {
    let (clock, bucket) = (HandClock::new(), Arc::new(InMemory::new()));
    let store = shop::open_on(bucket.clone(), SMALL, &clock).await.unwrap();
    let lease = lease(&store, "run-1").await;
    commit(&store, &lease, vec![adopted(0, 10)]).await.unwrap();
    let text = shop::head(&*bucket).await;
    let serial: u64 = text.split("\"serial\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    // Pruning writes the next head and then clears away.
    for base in [serial, serial + 1] {
        let path = format!("team/scopes/shop/prod/pieces/{base:020}-records-other-{base}");
        bucket.put(&path.into(), "prepared".into()).await.unwrap();
    }
    store.prune(&scope(), 1).await.unwrap();
    let left = shop::pieces(&*bucket).await;
    let other: Vec<&String> = left.iter().filter(|name| name.contains("other")).collect();
    assert_eq!(other, [&format!("{:020}-records-other-{}", serial + 1, serial + 1)]);
}
