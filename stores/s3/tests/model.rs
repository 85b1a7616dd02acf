//! Whatever is done to it, the store says what the memory store says.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use proptest::prelude::*;
use shop::{SMALL, adopted, holder, id, line, object, scope};
use trueup_core::value;
use trueup_provider::GenerationNumber;
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, MemoryStore, Record, RecordId, Step, Store, Version, Write,
    transition,
};
use trueup_store_s3::Limits;
use trueup_store_suite::conformance::HandClock;

/// Something that is done to a store.
#[derive(Clone, Debug)]
enum Deed {
    /// Each number comes, changes or goes; with so many bytes; so many lines of history; perhaps outputs.
    Commit {
        touched: Vec<(u64, bool)>,
        bytes: usize,
        lines: u64,
        outputs: bool,
    },
    /// Another process goes on.
    Reopen,
    GiveBackAndTake,
    Prune(usize),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let touched = proptest::collection::vec((0u64..30, proptest::bool::weighted(0.3)), 0..6);
    let commit = (touched, 0usize..2_000, 0u64..4, proptest::bool::weighted(0.2))
        .prop_map(|(touched, bytes, lines, outputs)| Deed::Commit { touched, bytes, lines, outputs });
    let deed = prop_oneof![
        12 => commit,
        1 => Just(Deed::Reopen),
        1 => Just(Deed::GiveBackAndTake),
        1 => (0usize..4).prop_map(Deed::Prune),
    ];
    proptest::collection::vec(deed, 1..60)
}

/// The steps of a record that comes, changes or goes.
fn writes(
    known: &BTreeMap<RecordId, (Arc<Record>, Version)>,
    touched: &[(u64, bool)],
    bytes: usize,
) -> Vec<Write> {
    let mut writes: Vec<Write> = Vec::new();
    for (number, goes) in touched {
        if writes.iter().any(|write| write.entry.id == id(*number)) {
            continue;
        }
        let Some((record, version)) = known.get(&id(*number)) else {
            writes.push(adopted(*number, bytes));
            continue;
        };
        let step = if *goes {
            Step::Dropped { number: GenerationNumber::FIRST }
        } else {
            Step::Refreshed { number: GenerationNumber::FIRST, object: object(*number, bytes) }
        };
        let entry = Entry::new(id(*number), step);
        let after = transition(Some((**record).clone()), &entry).unwrap();
        writes.push(Write { expected: Some(*version), record: after.map(Arc::new), entry });
    }
    writes
}

async fn take(store: &dyn Store) -> FencingToken {
    match store.acquire(&scope(), &holder("run"), shop::TERM).await.unwrap() {
        Acquired::Lease(lease) => lease.token,
        Acquired::Held(held) => panic!("{} holds the lease", held.holder),
    }
}

/// All that a store says.
async fn all(store: &dyn Store) -> String {
    let scope = scope();
    let snapshot = store.load(&scope).await.unwrap();
    let mut journals = Vec::new();
    for number in 0..30 {
        journals.push(store.journal(&scope, id(number)).await.unwrap());
    }
    let runs = store.runs(&scope).await.unwrap();
    let mut histories = Vec::new();
    for run in &runs {
        histories.push(store.history(&scope, &run.run).await.unwrap());
    }
    let (versions, scopes) = (store.versions(&scope).await.unwrap(), store.scopes().await.unwrap());
    format!("{snapshot:?}\n{versions:?}\n{journals:?}\n{runs:?}\n{histories:?}\n{scopes:?}")
}

async fn check(deeds: Vec<Deed>, limits: Limits) {
    let clock = HandClock::new();
    let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let model = MemoryStore::on_clock(Arc::new(clock.clone()));
    let mut store = shop::open_on(bucket.clone(), limits, &clock).await.unwrap();
    let mut run = 0;
    assert_eq!(take(&store).await, take(&model).await);
    let mut token = FencingToken(1);
    for deed in deeds {
        match deed {
            Deed::Commit { touched, bytes, lines, outputs } => {
                let known = model.load(&scope()).await.unwrap().records;
                let known =
                    known.into_iter().map(|(record, version)| (record.id, (record, version))).collect();
                let batch = Batch {
                    writes: writes(&known, &touched, bytes),
                    history: (0..lines).map(|sequence| line(&format!("run-{run}"), sequence)).collect(),
                    outputs: outputs.then(|| value!({ bytes: (bytes as u64) })),
                    ..Batch::default()
                };
                let committed = store.commit(&scope(), token, &batch).await;
                assert_eq!(committed, model.commit(&scope(), token, &batch).await);
            }
            Deed::Reopen => store = shop::open_on(bucket.clone(), limits, &clock).await.unwrap(),
            Deed::GiveBackAndTake => {
                run += 1;
                for store in [&store as &dyn Store, &model] {
                    let lease = trueup_state::Lease { token, term: shop::TERM };
                    store.release(&scope(), &lease).await.unwrap();
                }
                token = take(&store).await;
                assert_eq!(take(&model).await, token);
            }
            Deed::Prune(keep) => {
                store.prune(&scope(), keep).await.unwrap();
                model.prune(&scope(), keep).await.unwrap();
            }
        }
    }
    let expected = all(&model).await;
    assert_eq!(all(&store).await, expected, "the handle that wrote it");
    let other = shop::open_on(bucket, limits, &clock).await.unwrap();
    assert_eq!(all(&other).await, expected, "another handle");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: trueup_test_servers::sized(10, 64), ..ProptestConfig::default() })]

    /// CRASH-8, STATE-2, STATE-8.
    #[test]
    fn it_says_what_the_memory_store_says(deeds in deeds(), small in any::<bool>()) {
        let limits = if small { SMALL } else { Limits { head_bytes_max: 0, ..SMALL } };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(deeds, limits));
    }
}
