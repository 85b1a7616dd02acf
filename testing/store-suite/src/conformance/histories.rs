//! The journal of records and the history of runs.

use std::sync::Arc;

use trueup_provider::GenerationNumber;
use trueup_state::{Entry, FencingToken, Record, RunSummary, Scope, Step, Store, StoreError, transition};

use super::StoreUnderTest;
use super::samples::{create_begun, hard_life, id, line, scope, settled};
use super::writer::{Writer, load};

/// CRASH-8.
pub(super) async fn the_journal_replays_to_the_record(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let mut steps = hard_life().into_iter();
    // In batches and one by one, among steps of another record.
    writer.commit(steps.by_ref().take(2).flat_map(|step| [(id(1), step)])).await;
    writer.commit([(id(2), create_begun("b"))]).await;
    for step in steps {
        writer.commit([(id(1), step)]).await;
        writer
            .commit([
                (id(2), Step::Abandoned { number: GenerationNumber::FIRST }),
                (id(2), create_begun("b")),
            ])
            .await;
    }
    let journal = store.journal(&scope(), id(1)).await.expect("the journal is readable");
    let expected: Vec<_> = hard_life().into_iter().map(|step| Entry::new(id(1), step)).collect();
    assert_eq!(journal, expected, "the journal should hold the steps in order");

    for (record, _) in load(&store, &scope()).await.records {
        let journal = store.journal(&scope(), record.id).await.expect("the journal is readable");
        assert_eq!(
            replay(&journal),
            Some(Arc::unwrap_or_clone(record)),
            "the journal should lead to the record"
        );
    }
    assert_eq!(store.journal(&scope(), id(3)).await, Ok(vec![]), "what never was should have no journal");
}

fn replay(journal: &[Entry]) -> Option<Record> {
    let step = |record, entry| transition(record, entry).expect("what was committed was legal");
    journal.iter().fold(None, step)
}

/// SECRET-3: a store that says so has forgotten what older keys sealed.
pub(super) async fn what_precedes_a_resealing_is_forgotten_where_that_can_be(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit(hard_life().into_iter().map(|step| (id(1), step))).await;
    writer.commit([(id(2), create_begun("b")), (id(3), create_begun("c"))]).await;
    writer.commit([(id(3), Step::Abandoned { number: GenerationNumber::FIRST })]).await;
    let record = load(&store, &scope()).await.records[0].0.clone();
    let resealed = Step::Resealed { record: Box::new(Record::clone(&record)) };
    writer.commit([(id(1), resealed.clone())]).await;
    writer.commit([(id(1), Step::Moved { to: record.address.clone() })]).await;
    let refused = store.forget_before_resealing(&scope(), FencingToken(u64::MAX)).await;
    assert!(
        matches!(refused, Err(StoreError::Superseded) | Ok(false)),
        "the lease should count: {refused:?}"
    );
    let forgotten = store.forget_before_resealing(&scope(), writer.lease.token).await;
    if forgotten == Ok(false) {
        return;
    }
    assert_eq!(forgotten, Ok(true), "a store that can forget should");
    let journal = async |number| store.journal(&scope(), id(number)).await.expect("the journal is readable");
    let first = journal(1).await;
    assert_eq!((first.len(), &first[0].step), (2, &resealed), "it should begin with the last resealing");
    assert_eq!(replay(&first).as_ref(), Some(&*record), "what is left should lead to the record");
    assert_eq!(journal(2).await.len(), 1, "what was not resealed should be kept");
    assert_eq!(journal(3).await.len(), 0, "what is gone should be forgotten");
    writer.check_stored("after forgetting").await;
}

/// STATE-8.
pub(super) async fn history_lines_come_in_order(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    writer.commit_history(vec![line("run-1", 0, "{}"), line("run-1", 1, "{\"é\": \"\\u0000\"}")]).await;
    writer.commit_history(vec![line("run-1", 10, "ten"), line("run-2", 0, "other")]).await;
    writer.commit_history(vec![line("run-1", 2, "two"), line("run-1", 1, "one")]).await;
    let expected = [(0, "{}"), (1, "one"), (2, "two"), (10, "ten")];
    let expected = expected.map(|(sequence, event)| line("run-1", sequence, event));
    let history = store.history(&scope(), "run-1").await;
    assert_eq!(history, Ok(expected.to_vec()), "lines should come in sequence, exactly as written");
    assert_eq!(store.history(&scope(), "run").await, Ok(vec![]), "no other run's lines should come");
}

/// STATE-8.
pub(super) async fn runs_come_newest_first(stores: &impl StoreUnderTest) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    for run in ["b", "c", "a"] {
        writer.commit_history(vec![line(run, 3, "x")]).await;
        writer.commit_history(vec![line(run, 4, "y"), line("b", 5, "more of the oldest")]).await;
    }
    let started = line("", 3, "").at;
    let expected = [("a", 2), ("c", 2), ("b", 3)];
    let expected = expected.map(|(run, lines)| RunSummary { run: run.to_owned(), started, lines });
    let runs = store.runs(&scope()).await;
    assert_eq!(
        runs,
        Ok(expected.to_vec()),
        "runs should come in the order of their first lines, newest first"
    );
}

/// STATE-8.
pub(super) async fn pruning_keeps_the_newest_runs_and_the_journal_of_what_exists(
    stores: &impl StoreUnderTest,
) {
    let store = stores.open(&stores.place().await).await;
    let mut writer = Writer::start(&store, &scope(), "run-1").await;
    let mut other = Writer::start(&store, &Scope::new("shop", "dev"), "run-1").await;
    for writer in [&mut writer, &mut other] {
        writer.commit([(id(1), create_begun("stays")), (id(1), settled("x"))]).await;
        writer
            .commit([
                (id(2), create_begun("goes")),
                (id(2), Step::Abandoned { number: GenerationNumber::FIRST }),
            ])
            .await;
        for run in ["first", "second", "third"] {
            writer.commit_history(vec![line(run, 0, run)]).await;
        }
    }
    let everything = ("third second first".to_owned(), 1, 2, 2);
    for (keep, expected) in [
        (usize::MAX, ("third second first".to_owned(), 1, 2, 0)),
        (2, ("third second".to_owned(), 0, 2, 0)),
        (0, (String::new(), 0, 2, 0)),
    ] {
        assert_eq!(store.prune(&scope(), keep).await, Ok(()), "a scope should be prunable");
        assert_eq!(kept(&store, &scope()).await, expected, "after pruning to {keep} runs");
        assert_eq!(kept(&store, &other.scope).await, everything, "another scope should be left alone");
    }
    writer.check_stored("after pruning").await;
    writer.commit_history(vec![line("first", 0, "again")]).await;
    assert_eq!(kept(&store, &scope()).await.0, "first", "a pruned run's name should be usable again");
}

/// The runs that are left, how many lines the first has, and how many entries the two records have.
async fn kept(store: &Arc<dyn Store>, scope: &Scope) -> (String, usize, usize, usize) {
    let runs = store.runs(scope).await.expect("the runs are readable");
    let runs: Vec<_> = runs.into_iter().map(|run| run.run).collect();
    let lines = store.history(scope, "first").await.expect("the history is readable").len();
    let stays = store.journal(scope, id(1)).await.expect("the journal is readable").len();
    let goes = store.journal(scope, id(2)).await.expect("the journal is readable").len();
    (runs.join(" "), lines, stays, goes)
}
