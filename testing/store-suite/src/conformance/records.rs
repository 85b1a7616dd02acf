//! What is committed comes back, and only where it belongs.

use trueup_core::value;
use trueup_state::{Batch, Configuration, Configurations, Scope, Snapshot};

use super::StoreUnderTest;
use super::samples::{awkward, create_begun, hard_life, id, line, scope, settled};
use super::writer::{Writer, load};

/// STATE-5.
pub(super) async fn an_empty_scope_loads_as_nothing(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    assert_eq!(load(&store, &scope()).await, Snapshot::default(), "a new store should be empty");
    assert_eq!(store.scopes().await, Ok(vec![]), "a new store should have no scopes");
    assert!(!store.location().is_empty(), "a store should say where it is");
}

/// STATE-2.
pub(super) async fn records_come_back_exactly_as_they_were(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    for (at, step) in hard_life().into_iter().enumerate() {
        let version = writer.commit([(id(1), step)]).await;
        writer.check_stored("after each step of a hard life").await;
        assert_eq!(writer.expected()[0].1, version, "step {at} should give the record the commit's version");
    }
    // Ids in another order than they were written in, as texts and as numbers.
    writer.commit([256, 2, 255, 10].map(|number| (id(number), create_begun(&format!("n{number}"))))).await;
    writer.check_stored("in the order of ids").await;
}

/// CRASH-8.
pub(super) async fn a_reopened_store_holds_all_that_was_committed(stores: &impl StoreUnderTest) {
    let place = stores.place().await;
    let store = stores.open(&place).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let writes = writer.writes(hard_life().into_iter().map(|step| (id(1), step)));
    let batch = Batch { writes, outputs: Some(awkward()), ..Batch::default() };
    writer.commit_batch(batch).await;
    let (before, journal) = (load(&store, &scope()).await, store.journal(&scope(), id(1)).await);
    writer.finish().await;
    drop(store);

    let store = stores.open(&place).await;
    assert_eq!(load(&store, &scope()).await, before, "a restart should change nothing");
    assert_eq!(store.journal(&scope(), id(1)).await, journal, "a restart should keep the journal");
    let mut writer = Writer::start(&store, &scope(), "run-2").await;
    writer.commit([(id(2), create_begun("b"))]).await;
    writer.check_stored("after a restart").await;
    let versions: Vec<_> = writer.expected().into_iter().map(|(_, version)| version).collect();
    assert!(versions[0] < versions[1], "versions should grow over a restart: {versions:?}");
}

/// STATE-1.
pub(super) async fn names_that_are_prefixes_of_one_another_never_mix(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let names = ["a", "ab", "a/b", "a.b", "a%", "a_", "A", "é"];
    let all = names.iter().flat_map(|stack| names.iter().map(|stage| Scope::new(*stack, *stage)));
    let mut scopes: Vec<Scope> = all.collect();
    let mut writers = Vec::new();
    for (number, scope) in scopes.iter().enumerate() {
        let mut writer = Writer::start(&store, scope, "run-1").await;
        assert_eq!(load(&store, scope).await, Snapshot::default(), "{scope:?} should still be empty");
        // The same id and address everywhere, so that nothing else tells them apart.
        let writes = writer.writes([(id(1), create_begun("a")), (id(1), settled(number as u64))]);
        let history = vec![line("run-1", 0, &number.to_string())];
        writer
            .commit_batch(Batch { writes, history, outputs: Some(value!(number as u64)), ..Batch::default() })
            .await;
        writers.push(writer);
    }
    for (number, writer) in writers.iter().enumerate() {
        let scope = &writer.scope;
        writer.check_stored("beside scopes with similar names").await;
        let outputs = load(&store, scope).await.outputs;
        assert_eq!(outputs, Some(value!(number as u64)), "{scope:?} should have its own outputs");
        let journal = store.journal(scope, id(1)).await.expect("the journal is readable");
        assert_eq!(journal.len(), 2, "{scope:?} should have its own journal");
        let events = store.history(scope, "run-1").await.expect("the history is readable");
        let events: Vec<_> = events.into_iter().map(|line| line.event).collect();
        assert_eq!(events, [number.to_string()], "{scope:?} should have its own history");
    }
    scopes.sort();
    assert_eq!(store.scopes().await, Ok(scopes), "all scopes should be listed, in order");
}

/// APPLY-12.
pub(super) async fn outputs_stay_until_others_are_committed(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit_batch(Batch { outputs: Some(awkward()), ..Batch::default() }).await;
    assert_eq!(load(&store, &scope()).await.outputs, Some(awkward()), "outputs should come back exactly");
    writer.commit([(id(1), create_begun("a"))]).await;
    assert_eq!(load(&store, &scope()).await.outputs, Some(awkward()), "a batch without any should keep them");
    writer.commit_batch(Batch { outputs: Some(value!({})), ..Batch::default() }).await;
    assert_eq!(load(&store, &scope()).await.outputs, Some(value!({})), "later ones should replace them");
}

/// DELETE-11.
pub(super) async fn configurations_stay_until_others_are_committed(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let mut configurations = Configurations::default();
    configurations.add(Configuration::new("std", &value!({ folder: "sub", odd: (awkward()) })));
    let committed = Some(configurations.clone());
    writer.commit_batch(Batch { configurations: committed, ..Batch::default() }).await;
    let loaded = load(&store, &scope()).await;
    assert_eq!(loaded.configurations, configurations, "configurations should come back exactly");
    writer.commit([(id(1), create_begun("a"))]).await;
    let loaded = load(&store, &scope()).await;
    assert_eq!(loaded.configurations, configurations, "a batch without any should keep them");
    let none = Some(Configurations::default());
    writer.commit_batch(Batch { configurations: none, ..Batch::default() }).await;
    let loaded = load(&store, &scope()).await;
    assert!(loaded.configurations.is_empty(), "later ones should replace them");
}

/// STATE-1.
pub(super) async fn scopes_are_listed_once_they_hold_anything(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    assert_eq!(store.scopes().await, Ok(vec![]), "a lease alone should make no scope");
    writer.commit([(id(1), create_begun("a"))]).await;
    writer.finish().await;
    assert_eq!(store.scopes().await, Ok(vec![scope()]), "a scope with records should be listed");
}
