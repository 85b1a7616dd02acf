//! One writer at a time for each scope.

use std::sync::Arc;
use std::time::Duration;

use trueup_state::{Acquired, Batch, FencingToken, HeldLease, Lease, Scope, Store, StoreError};

use super::StoreUnderTest;
use super::samples::{create_begun, holder, id, scope};
use super::writer::{TERM, Writer, load};

const INSTANT: Duration = Duration::from_millis(1);

/// STATE-3, STATE-4.
pub(super) async fn a_second_acquire_says_who_holds_the_lease(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let writer = Writer::start(&store, &scope(), "run-1").await;
    let held = held(&store, &scope()).await;
    assert_eq!(held.holder, holder("run-1"), "the holder should be told whole");
    assert_eq!(held.token, writer.lease.token, "the token should be that of the holder");
    assert_eq!(held.expires, held.since + TERM, "it should say since and until when");
    let own = store.acquire(&scope(), &holder("run-1"), TERM).await;
    assert!(matches!(own, Ok(Acquired::Held(_))), "a lease should not be taken twice by one run: {own:?}");
}

/// STATE-3.
pub(super) async fn a_released_lease_lets_the_next_one_in(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    Writer::start(&store, &scope(), "run-1").await.finish().await;
    let first = Writer::start(&store, &scope(), "run-2").await;
    let lease = first.lease.clone();
    first.finish().await;
    let second = Writer::start(&store, &scope(), "run-3").await;
    assert_eq!(store.release(&scope(), &lease).await, Ok(()), "giving back twice should do no harm");
    assert_eq!(
        held(&store, &scope()).await.token,
        second.lease.token,
        "another's lease should be left alone"
    );
}

/// STATE-3.
pub(super) async fn tokens_only_grow(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let mut last = None;
    for turn in 0..4 {
        let store = stores.open(&place).await;
        let writer = Writer::start(&store, &scope(), "run-1").await;
        assert!(last < Some(writer.lease.token), "token {turn} should be above {last:?}");
        last = Some(writer.lease.token);
        match turn {
            0 => writer.finish().await,
            1 => drop(store.unlock(&scope(), "run-1").await.expect("a lease can be unlocked")),
            _ => {
                writer.finish().await;
                store.prune(&scope(), 0).await.expect("a scope can be pruned");
            }
        }
    }
}

/// STATE-1, STATE-3.
pub(super) async fn leases_of_different_scopes_are_independent(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    for scope in [scope(), Scope::new("shop", "production"), Scope::new("shops", "prod")] {
        let mut writer = Writer::start(&store, &scope, "run-1").await;
        writer.commit([(id(1), create_begun("a"))]).await;
    }
}

/// STATE-3. A store that can tell that a process is gone may give its lease away at once; none may forget it.
pub(super) async fn a_lease_is_not_forgotten_with_the_process_that_took_it(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let store = stores.open(&place).await;
    let lease = Writer::start(&store, &scope(), "run-1").await.lease;
    drop(store);
    let store = stores.open(&place).await;
    match store.acquire(&scope(), &holder("run-2"), TERM).await {
        Ok(Acquired::Held(held)) => assert_eq!(held.token, lease.token, "a restart should keep the lease"),
        Ok(Acquired::Lease(next)) => {
            assert!(next.token > lease.token, "the successor's token should be higher");
        }
        Err(error) => panic!("{error}"),
    }
}

/// STATE-3, STATE-4.
pub(super) async fn an_expired_lease_is_taken_over_and_its_holder_refused(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut old = Writer::start(&store, &scope(), "run-1").await;
    old.commit([(id(1), create_begun("a"))]).await;
    if stores.knows_who_lives() || !stores.let_time_pass(TERM - INSTANT) {
        return;
    }
    held(&store, &scope()).await;
    stores.let_time_pass(INSTANT);
    let mut new = Writer::start(&store, &scope(), "run-2").await;
    assert!(old.lease.token < new.lease.token, "the successor's token should be higher");
    refused(&old).await;
    assert_eq!(store.release(&scope(), &old.lease).await, Ok(()), "a superseded release should do no harm");
    new.commit([(id(2), create_begun("b"))]).await;
    new.check_stored("after a take-over").await;
}

/// STATE-17.
pub(super) async fn a_lease_outlasts_its_term_where_its_holder_is_known_to_live(
    stores: &impl StoreUnderTest,
) {
    if !stores.knows_who_lives() {
        return;
    }
    let place = stores.place().await;
    let (first, second) = (stores.open(&place).await, stores.open(&place).await);
    let mut writer = Writer::start(&first, &scope(), "run-1").await;
    stores.let_time_pass(TERM * 100);
    assert_eq!(held(&second, &scope()).await.token, writer.lease.token, "its holder lives");
    writer.commit([(id(1), create_begun("a"))]).await;
    let lease = writer.lease.clone();
    drop((writer, first));
    let next = Writer::start(&second, &scope(), "run-2").await;
    assert!(next.lease.token > lease.token, "the successor's token should be higher");
}

/// STATE-3.
pub(super) async fn an_expired_lease_that_nobody_took_still_writes(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    if !stores.let_time_pass(TERM * 2) {
        return;
    }
    writer.commit([(id(1), create_begun("a"))]).await;
    writer.check_stored("after a late commit").await;
    assert_eq!(store.renew(&scope(), &writer.lease).await, Ok(()), "it should be renewable");
    held(&store, &scope()).await;
}

/// STATE-3.
pub(super) async fn a_renewed_lease_lasts_another_term(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let writer = Writer::start(&store, &scope(), "run-1").await;
    let before = held(&store, &scope()).await;
    if !stores.let_time_pass(TERM - INSTANT) {
        return;
    }
    assert_eq!(store.renew(&scope(), &writer.lease).await, Ok(()), "a held lease should be renewable");
    let after = held(&store, &scope()).await;
    assert_eq!(after.since, before.since, "a renewed lease is held since it was taken");
    assert_eq!(after.expires, before.expires + TERM - INSTANT, "the term should run from the renewal");
    stores.let_time_pass(TERM - INSTANT);
    held(&store, &scope()).await;
    if !stores.knows_who_lives() {
        stores.let_time_pass(INSTANT);
        Writer::start(&store, &scope(), "run-2").await;
    }
}

/// STATE-3.
pub(super) async fn a_commit_without_the_lease_is_refused(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let never = store.commit(&scope(), FencingToken(1), &Batch::default()).await;
    assert_eq!(never, Err(StoreError::Superseded), "a commit where no lease was taken should be refused");
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a"))]).await;
    let FencingToken(token) = writer.lease.token;
    for other in [FencingToken(0), FencingToken(token + 1)] {
        let lease = Lease { token: other, term: TERM };
        let commit = store.commit(&scope(), other, &Batch::default()).await;
        assert_eq!(commit, Err(StoreError::Superseded), "{other:?} should not commit under {token}");
        let renew = store.renew(&scope(), &lease).await;
        assert_eq!(renew, Err(StoreError::Superseded), "{other:?} should not renew under {token}");
    }
    assert_eq!(store.release(&scope(), &writer.lease).await, Ok(()), "a held lease can be given back");
    refused(&writer).await;
}

/// STATE-4.
pub(super) async fn unlock_takes_the_lease_of_the_named_run_only(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    assert_eq!(store.unlock(&scope(), "run-1").await, Ok(None), "there should be nothing to unlock yet");
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a"))]).await;
    let held = held(&store, &scope()).await;
    for other in ["run-2", "run", "run-11", "RUN-1", "%", ""] {
        assert_eq!(store.unlock(&scope(), other).await, Ok(None), "`{other}` should unlock nothing");
    }
    assert_eq!(store.unlock(&scope(), "run-1").await, Ok(Some(held)), "the named run should lose its lease");
    refused(&writer).await;
    assert_eq!(store.unlock(&scope(), "run-1").await, Ok(None), "there should be nothing left to unlock");
    Writer::start(&store, &scope(), "run-2").await;
}

/// STATE-5.
pub(super) async fn loading_needs_no_lease_and_is_not_blocked_by_one(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let store = stores.open(&place).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit([(id(1), create_begun("a"))]).await;
    let other = stores.open(&place).await;
    let seen = load(&other, &scope()).await;
    assert_eq!(seen.records, writer.expected(), "another handle should see what was committed");
    writer.commit([(id(2), create_begun("b"))]).await;
    let seen = load(&other, &scope()).await;
    assert_eq!(seen.records, writer.expected(), "loading should not have disturbed the writer");
}

/// The lease of a scope, which must be held.
async fn held(store: &Arc<dyn Store>, scope: &Scope) -> HeldLease {
    match store.acquire(scope, &holder("another"), TERM).await {
        Ok(Acquired::Held(held)) => held,
        other => panic!("the lease of {scope:?} should be held: {other:?}"),
    }
}

/// Checks that a writer has lost its lease.
async fn refused(writer: &Writer) {
    let before = load(&writer.store, &writer.scope).await;
    let batch = Batch { writes: writer.writes([(id(99), create_begun("z"))]), ..Batch::default() };
    let commit = writer.try_commit(&batch).await;
    assert_eq!(commit, Err(StoreError::Superseded), "a commit without the lease should be refused");
    let renew = writer.store.renew(&writer.scope, &writer.lease).await;
    assert_eq!(renew, Err(StoreError::Superseded), "a lost lease should not be renewed");
    assert_eq!(load(&writer.store, &writer.scope).await, before, "a refused commit should change nothing");
}
