//! Forgetting all that is kept of a scope, once its records are gone.

use std::time::Duration;

use trueup_core::value;
use trueup_provider::GenerationNumber;
use trueup_state::{
    Acquired, Batch, Configuration, Configurations, FencingToken, Scope, Snapshot, Step, StoreError,
};

use super::StoreUnderTest;
use super::samples::{create_begun, holder, id, line, scope};
use super::writer::{TERM, Writer, load};

/// STATE-19: nothing is left but the token, for whoever comes later too; other scopes are as they were.
pub(super) async fn a_scope_without_records_is_forgotten_as_a_whole(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let store = stores.open(&place).await;
    let other = Scope::new(scope().stack, "another");
    for scope in [scope(), other.clone()] {
        let mut writer = Writer::start(&store, &scope, "run-1").await;
        writer.commit([(id(1), create_begun("a"))]).await;
        writer.commit([(id(1), Step::Abandoned { number: GenerationNumber::FIRST })]).await;
        let mut configurations = Configurations::default();
        configurations.add(Configuration::new("std", &value!({ folder: "sub" })));
        let history = vec![line("run-1", 0, "one"), line("run-1", 1, "two")];
        let (outputs, configurations) = (Some(value!({ port: 8080 })), Some(configurations));
        writer.commit_batch(Batch { history, outputs, configurations, ..Batch::default() }).await;
        writer.finish().await;
    }
    let before = load(&store, &other).await;
    let Ok(Acquired::Lease(lease)) = store.acquire(&scope(), &holder("run-2"), TERM).await else {
        panic!("the lease is free");
    };
    // Once nobody needs them any more, whatever they say.
    for scope in [scope(), other.clone()] {
        let keyring = store.keyring(&scope).await.expect("the keyring is readable");
        assert_eq!(store.replace_keyring(&scope, keyring.as_deref(), "keys").await, Ok(true));
    }
    assert_eq!(store.forget_scope(&scope(), lease.token).await, Ok(true));
    // An answer that was lost is asked for again.
    assert_eq!(store.forget_scope(&scope(), lease.token).await, Ok(true));
    store.release(&scope(), &lease).await.expect("the lease is ours");
    drop(store);

    let store = stores.open(&place).await;
    assert_eq!(load(&store, &scope()).await, Snapshot::default());
    assert_eq!(store.keyring(&scope()).await, Ok(None));
    assert_eq!(store.runs(&scope()).await, Ok(vec![]));
    assert_eq!(store.history(&scope(), "run-1").await, Ok(vec![]));
    assert_eq!(store.journal(&scope(), id(1)).await, Ok(vec![]));
    assert_eq!(store.scopes().await, Ok(vec![other.clone()]), "it should be listed no more");
    assert_eq!(load(&store, &other).await, before);
    assert_eq!(store.keyring(&other).await, Ok(Some("keys".to_owned())));
    assert_eq!(store.history(&other, "run-1").await.map(|lines| lines.len()), Ok(2));

    let mut writer = Writer::start(&store, &scope(), "run-3").await;
    assert!(writer.lease.token > lease.token, "tokens should only grow, whatever is forgotten");
    writer.commit([(id(1), create_begun("a"))]).await;
    writer.check_stored("after forgetting").await;
}

/// STATE-19: records are never forgotten with their scope, nor is anything by whoever does not hold the lease.
pub(super) async fn a_scope_with_records_or_held_by_another_is_not_forgotten(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit_history(vec![line("run-1", 0, "one")]).await;
    let other = FencingToken(writer.lease.token.0 + 1);
    assert_eq!(store.forget_scope(&scope(), other).await, Err(StoreError::Superseded));
    assert_eq!(store.runs(&scope()).await.map(|runs| runs.len()), Ok(1), "nothing should be forgotten");
    writer.commit([(id(1), create_begun("a"))]).await;
    assert_eq!(store.forget_scope(&scope(), writer.lease.token).await, Ok(false));
    writer.check_stored("after a refusal").await;
    assert_eq!(store.runs(&scope()).await.map(|runs| runs.len()), Ok(1), "nothing should be forgotten");
    let nothing = Scope::new(scope().stack, "never");
    assert_eq!(store.forget_scope(&nothing, FencingToken(1)).await, Err(StoreError::Superseded));
}

/// STATE-19: looking says what acquiring would, and takes nothing.
pub(super) async fn a_look_at_a_lease_says_who_holds_it(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let (store, another) = (stores.open(&place).await, stores.open(&place).await);
    assert_eq!(store.held(&scope()).await, Ok(None), "nobody ever held it");
    let writer = Writer::start(&store, &scope(), "run-1").await;
    for store in [&store, &another] {
        match store.held(&scope()).await {
            Ok(Some(held)) => assert_eq!((held.holder, held.token), (holder("run-1"), writer.lease.token)),
            other => panic!("the holder should be named: {other:?}"),
        }
    }
    store.renew(&scope(), &writer.lease).await.expect("a look takes nothing");
    assert!(another.held(&scope()).await.is_ok_and(|held| held.is_some()), "it was renewed");
    if !stores.knows_who_lives() && stores.let_time_pass(TERM + Duration::from_secs(1)) {
        assert_eq!(another.held(&scope()).await, Ok(None), "it has expired");
        store.renew(&scope(), &writer.lease).await.expect("nobody took it");
    }
    writer.finish().await;
    for store in [&store, &another] {
        assert_eq!(store.held(&scope()).await, Ok(None), "it was given back");
    }
}
