//! Commits happen as a whole or not at all, and on what the writer knows or not at all.

use trueup_provider::GenerationNumber;
use trueup_state::{Batch, Step, StoreError, Version};

use super::StoreUnderTest;
use super::samples::{address, create_begun, id, line, scope, settled};
use super::writer::{Writer, load};

/// STATE-2.
pub(super) async fn versions_grow_and_only_what_changed_gets_a_new_one(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let first = writer.commit([(id(1), create_begun("a")), (id(2), create_begun("b"))]).await;
    let second = writer.commit([(id(2), settled("b"))]).await;
    assert!(first < second, "versions should grow: {first:?}, {second:?}");
    let stored: Vec<_> = load(&store, &scope()).await.records.into_iter().map(|it| it.1).collect();
    assert_eq!(stored, [first, second], "each record should have the version of its last commit");
}

/// STATE-2.
pub(super) async fn several_writes_of_one_record_in_a_batch_leave_the_last(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a")), (id(1), settled("new"))]).await;
    writer.check_stored("after two writes to a new record").await;
    let moved = |to| Step::Moved { to: address(to) };
    writer.commit([(id(1), moved("b")), (id(1), moved("c")), (id(1), moved("d"))]).await;
    writer.check_stored("after three writes to a known record").await;
    let journal = store.journal(&scope(), id(1)).await.expect("the journal is readable");
    assert_eq!(journal.len(), 5, "each write should be journalled");
}

/// CRASH-1: a create that is known not to have happened is begun again.
pub(super) async fn a_record_may_go_and_come_within_a_batch(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let again = || [(id(1), Step::Abandoned { number: GenerationNumber::FIRST }), (id(1), create_begun("a"))];
    writer.commit([(id(1), create_begun("a"))].into_iter().chain(again())).await;
    writer.check_stored("after a new record went and came").await;
    writer.commit(again()).await;
    writer.check_stored("after a known record went and came").await;
    writer
        .commit(again().into_iter().chain([(id(1), Step::Abandoned { number: GenerationNumber::FIRST })]))
        .await;
    writer.check_stored("after it went, came and went").await;
}

/// MOVE-1.
pub(super) async fn resources_may_swap_addresses_within_a_batch(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a")), (id(2), create_begun("b"))]).await;
    let moved = |to| Step::Moved { to: address(to) };
    writer.commit([(id(1), moved("b")), (id(2), moved("a"))]).await;
    writer.check_stored("after a swap of addresses").await;
}

/// DELETE-1.
pub(super) async fn a_deleted_record_is_gone(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let created = [1, 2].map(|number| [(id(number), create_begun("a")), (id(number), settled("x"))]);
    let before = writer.commit(created.into_iter().flatten()).await;
    writer.commit([(id(1), Step::DeleteBegun { number: GenerationNumber::FIRST })]).await;
    writer.commit([(id(1), Step::Deleted { number: GenerationNumber::FIRST })]).await;
    writer.check_stored("after a delete").await;
    let after = writer.commit([(id(1), create_begun("a"))]).await;
    assert!(before < after, "a record that comes again should have a version it never had");
}

/// STATE-2.
pub(super) async fn a_stale_version_is_refused_and_nothing_of_its_batch_is_written(
    stores: &impl StoreUnderTest,
) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let stale = writer.commit([(id(1), create_begun("a")), (id(2), create_begun("b"))]).await;
    let fresh = writer.commit([(id(2), settled("theirs"))]).await;
    let before = load(&store, &scope()).await;

    for wrong in [None, Some(stale), Some(Version(fresh.0 + 1))] {
        // A good write on either side of the bad one.
        let mut writes = writer.writes([
            (id(1), settled("mine")),
            (id(2), Step::DeleteBegun { number: GenerationNumber::FIRST }),
            (id(3), create_begun("c")),
        ]);
        writes[1].expected = wrong;
        let (history, outputs) = (vec![line("run-1", 0, "mine")], Some(true.into()));
        let batch = Batch { writes, history, outputs, ..Batch::default() };
        let conflict = StoreError::Conflict { address: address("b").to_string() };
        let refused = writer.try_commit(&batch).await;
        assert_eq!(refused, Err(conflict), "a write that expects {wrong:?} should be refused");
        assert_eq!(load(&store, &scope()).await, before, "a refused batch should change nothing");
        let journal = store.journal(&scope(), id(1)).await.expect("the journal is readable");
        assert_eq!(journal.len(), 1, "a refused batch should not be journalled");
        assert_eq!(store.runs(&scope()).await, Ok(vec![]), "a refused batch should leave no history");
    }
    writer.commit([(id(1), settled("mine"))]).await;
    writer.check_stored("after a refusal").await;
}

/// STATE-2.
pub(super) async fn a_record_that_is_new_to_the_writer_alone_is_refused(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let twice = Batch { writes: writer.writes([(id(1), create_begun("a"))]), ..Batch::default() };
    writer.commit_batch(twice.clone()).await;
    let refused = writer.try_commit(&twice).await;
    let conflict = StoreError::Conflict { address: address("a").to_string() };
    assert_eq!(refused, Err(conflict), "a record that is there should not be made again");
    writer.check_stored("after a refused create").await;
}

/// STATE-2.
pub(super) async fn a_vanished_record_is_a_conflict(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a"))]).await;
    let late = Batch { writes: writer.writes([(id(1), settled("late"))]), ..Batch::default() };
    writer.commit([(id(1), Step::Abandoned { number: GenerationNumber::FIRST })]).await;
    let refused = writer.try_commit(&late).await;
    let conflict = StoreError::Conflict { address: address("a").to_string() };
    assert_eq!(refused, Err(conflict), "a record that is gone should not come back by a stale write");
    writer.check_stored("after a refused write").await;
}
