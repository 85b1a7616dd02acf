//! Moving what is recorded to another store of the same kind.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::value;
use trueup_provider::GenerationNumber;
use trueup_state::moving::{MoveError, Moved, move_scope};
use trueup_state::{Acquired, Batch, Configuration, Configurations, Record, Snapshot, Step, Store};

use super::StoreUnderTest;
use super::samples::{create_begun, holder, id, line, scope};
use super::shop::adopted;
use super::writer::{Writer, load};

/// A store in which something is recorded, and nobody at work.
async fn filled<S: StoreUnderTest>(stores: &S) -> (S::Place, Arc<dyn Store>) {
    let place = stores.place().await;
    let store = stores.open(&place).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit_batch(Batch { writes: vec![adopted(1)], ..Batch::default() }).await;
    writer.commit([(id(2), create_begun("b")), (id(3), create_begun("c"))]).await;
    writer.commit([(id(3), Step::Abandoned { number: GenerationNumber::FIRST })]).await;
    let history = vec![line("run-1", 0, "one"), line("run-1", 1, "two"), line("run-0", 0, "other")];
    let mut configurations = Configurations::default();
    configurations.add(Configuration::new("std", &value!({ folder: "sub" })));
    let (outputs, configurations) = (Some(value!({ port: 8080 })), Some(configurations));
    let batch = Batch { history, outputs, configurations, ..Batch::default() };
    store.commit(&scope(), writer.lease.token, &batch).await.expect("the lease is ours");
    writer.finish().await;
    (place, store)
}

fn records(snapshot: &Snapshot) -> Vec<Arc<Record>> {
    snapshot.records.iter().map(|(record, _)| record.clone()).collect()
}

/// STATE-14: everything arrives, the old store lets nobody in any more, and the new one does.
pub(super) async fn a_move_takes_everything_along_and_closes_the_old_store(stores: &impl StoreUnderTest) {
    let ((place, from), to) = (filled(stores).await, stores.open(&stores.place().await).await);
    let before = load(&from, &scope()).await;
    let moved = move_scope(&*from, &*to, &scope(), &holder("move-1")).await;
    assert_eq!(moved, Ok(Moved { records: 2, runs: 2 }));
    let after = load(&to, &scope()).await;
    assert_eq!(records(&after), records(&before));
    assert_eq!(after.outputs, before.outputs);
    assert_eq!(after.configurations, before.configurations);
    assert_eq!(to.runs(&scope()).await, from.runs(&scope()).await, "the runs should come in the same order");
    assert_eq!(to.history(&scope(), "run-1").await, from.history(&scope(), "run-1").await);
    for (record, _) in after.records {
        let journal = to.journal(&scope(), record.id).await.expect("the journal is readable");
        assert!(matches!(&journal[..], [entry] if matches!(entry.step, Step::Copied { .. })), "{journal:?}");
    }

    // For whoever comes later too.
    drop(from);
    let from = stores.open(&place).await;
    match from.acquire(&scope(), &holder("run-2"), Duration::from_secs(60)).await {
        Ok(Acquired::Held(held)) => assert_eq!(held.moved_to(), Some(to.location().as_str())),
        other => panic!("the old store should be closed: {other:?}"),
    }
    let mut writer = Writer::start(&to, &scope(), "run-2").await;
    writer.commit([(id(2), Step::Abandoned { number: GenerationNumber::FIRST })]).await;
    let again = move_scope(&*from, &*to, &scope(), &holder("move-2")).await;
    assert!(matches!(again, Err(MoveError::Held(_))), "{again:?}");
}

/// STATE-14: what is recorded elsewhere is never mixed with what comes, nor lost by it.
pub(super) async fn a_move_to_where_something_else_is_changes_nothing(stores: &impl StoreUnderTest) {
    let ((_, from), to) = (filled(stores).await, stores.open(&stores.place().await).await);
    let mut writer = Writer::start(&to, &scope(), "run-1").await;
    let busy = move_scope(&*from, &*to, &scope(), &holder("move-1")).await;
    assert!(matches!(&busy, Err(MoveError::Held(held)) if held.moved_to().is_none()), "{busy:?}");
    writer.commit([(id(2), create_begun("b"))]).await;
    to.release(&scope(), &writer.lease).await.expect("the lease is ours");
    let (old, new) = (load(&from, &scope()).await, load(&to, &scope()).await);
    let occupied = move_scope(&*from, &*to, &scope(), &holder("move-1")).await;
    assert!(matches!(occupied, Err(MoveError::Occupied { .. })), "{occupied:?}");
    assert_eq!((load(&from, &scope()).await, load(&to, &scope()).await), (old, new));
    for store in [&from, &to] {
        let free = store.acquire(&scope(), &holder("run-2"), Duration::from_secs(60)).await;
        assert!(matches!(free, Ok(Acquired::Lease(_))), "{free:?}");
    }
}
