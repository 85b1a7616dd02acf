//! Connections that are lost in the middle of a call: what became of it is found out, never guessed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use std::sync::Arc;
use std::time::Duration;

use trueup_provider::RuntimeClock;
use trueup_state::{Acquired, Batch, Lease, Store, StoreError, Version};
use trueup_store_postgres::PostgresStore;
use trueup_test_servers::postgres::Postgres;
use wire::{Cut, Wire, adopted, commit, config, holder, id, lease, open, scope};

const TERM: Duration = Duration::from_secs(60);

/// A database, a store on it by a wire, and another store directly.
async fn stores() -> Option<(Wire, PostgresStore, PostgresStore)> {
    let server = Postgres::shared()?;
    let database = server.new_database().unwrap();
    let wire = Wire::to(server.port()).await;
    let clock = Arc::new(RuntimeClock::new());
    let by_wire = PostgresStore::open(config(&wire.url(&database)), clock).await.unwrap();
    let direct = open(&server.url(&database)).await.unwrap();
    Some((wire, by_wire, direct))
}

async fn take(store: &PostgresStore, run: &str, term: Duration) -> Option<Lease> {
    match store.acquire(&scope(), &holder(run), term).await.unwrap() {
        Acquired::Lease(lease) => Some(lease),
        Acquired::Held(_) => None,
    }
}

/// STATE-3.
#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_known_to_have_happened() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    wire.cut("COMMIT", Cut::BeforeTheClientHears);
    assert_eq!(commit(&store, &lease, vec![adopted(2)]).await, Ok(Version(2)));
    assert!(wire.was_cut());
    assert_eq!(commit(&store, &lease, vec![adopted(3)]).await, Ok(Version(3)));
    let journal = other.journal(&scope(), id(2)).await.unwrap();
    assert_eq!(journal.len(), 1, "it should have happened once");
}

/// STATE-3.
#[tokio::test]
async fn a_commit_that_the_server_never_heard_of_is_made_again() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = lease(&store).await;
    for cut_at in ["COMMIT", "BEGIN", "std_file.n"] {
        let number = other.load(&scope()).await.unwrap().records.len() as u64;
        wire.cut(cut_at, Cut::BeforeTheServerHears);
        assert_eq!(commit(&store, &lease, vec![adopted(number)]).await, Ok(Version(number + 1)));
        assert!(wire.was_cut());
        assert_eq!(
            other.journal(&scope(), id(number)).await.unwrap().len(),
            1,
            "it should have happened once"
        );
    }
}

/// Lets so many others take the lease over and commit between the moment when the wire is cut and the next connection.
async fn commit_across_take_overs(
    cut: Cut,
    successors: u64,
    batch: Batch,
) -> Option<Result<Version, StoreError>> {
    let (wire, store, other) = stores().await?;
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    wire.cut("COMMIT", cut);
    wire.let_in(false);
    let succeed = async {
        while !wire.was_cut() {
            tokio::task::yield_now().await;
        }
        for number in 0..successors {
            other.unlock(&scope(), "run-1").await.unwrap().unwrap();
            let next = take(&other, "run-1", TERM).await.unwrap();
            commit(&other, &next, vec![adopted(10 + number)]).await.unwrap();
        }
        wire.let_in(true);
    };
    let scope = scope();
    let (committed, ()) = tokio::join!(store.commit(&scope, lease.token, &batch), succeed);
    Some(committed)
}

/// STATE-3: the answer stays right when others take the lease over before the connection is back.
#[tokio::test]
async fn a_commit_is_resolved_after_take_overs_too() {
    for successors in [1, 2] {
        let batch = || Batch { writes: vec![adopted(2)], ..Batch::default() };
        let heard = commit_across_take_overs(Cut::BeforeTheClientHears, successors, batch()).await;
        assert!(matches!(heard, None | Some(Ok(Version(2)))), "{heard:?}");
        let unheard = commit_across_take_overs(Cut::BeforeTheServerHears, successors, batch()).await;
        assert!(matches!(unheard, None | Some(Err(StoreError::Superseded))), "{unheard:?}");
    }
}

/// STATE-3: a batch that changes no record leaves no trace that outlasts the next commit.
#[tokio::test]
async fn what_cannot_be_found_out_is_said() {
    let batch = Batch { outputs: Some(true.into()), ..Batch::default() };
    let Some(outcome) = commit_across_take_overs(Cut::BeforeTheClientHears, 1, batch).await else { return };
    let said = outcome.unwrap_err().to_string();
    let expected = "the connection was lost during a commit, and whether it took place could not be found out: other \
                    runs have written since then";
    assert!(said.ends_with(expected), "{said}");
}

/// STATE-3: as long as the server stays away nobody knows.
#[tokio::test]
async fn a_server_that_stays_away_after_a_commit_leaves_it_open() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let wire = Wire::to(server.port()).await;
    // Its clock moves by itself: no time passes before it gives up.
    let store = open(&wire.url(&database)).await.unwrap();
    let lease = lease(&store).await;
    wire.cut("COMMIT", Cut::BeforeTheClientHears);
    wire.let_in(false);
    let said = commit(&store, &lease, vec![adopted(1)]).await.unwrap_err().to_string();
    assert!(said.starts_with("cannot write the state at postgres://postgres@127.0.0.1:"), "{said}");
    assert!(
        said.contains("the connection was lost during a commit, and whether it took place could not be"),
        "{said}"
    );
    // Who loads again sees.
    wire.let_in(true);
    assert_eq!(store.load(&scope()).await.unwrap().records.len(), 1);
}

/// STATE-3.
#[tokio::test]
async fn a_lease_whose_answer_is_lost_is_known_as_ours() {
    let Some((wire, store, other)) = stores().await else { return };
    wire.cut("engine-room", Cut::BeforeTheClientHears);
    let lease = take(&store, "run-1", TERM).await.expect("the lease is free");
    assert!(wire.was_cut());
    assert_eq!(take(&other, "run-2", TERM).await, None);
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    assert_eq!(take(&store, "run-1", TERM).await, None, "another call of the same run should not get it");
}

/// STATE-4.
#[tokio::test]
async fn an_unlock_whose_answer_is_lost_still_says_whose_lease_it_took() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = lease(&other).await;
    wire.cut("run-1", Cut::BeforeTheClientHears);
    let unlocked = store.unlock(&scope(), "run-1").await.unwrap().expect("the lease was held");
    assert!(wire.was_cut());
    assert_eq!((unlocked.token, unlocked.holder), (lease.token, holder("run-1")));
    assert_eq!(commit(&other, &lease, vec![adopted(1)]).await, Err(StoreError::Superseded));
    wire.cut("run-1", Cut::BeforeTheServerHears);
    assert_eq!(store.unlock(&scope(), "run-1 was long ago").await, Ok(None));
}

#[tokio::test]
async fn a_keyring_whose_answer_is_lost_is_known_to_be_there() {
    let Some((wire, store, _)) = stores().await else { return };
    for (expected, keyring, text) in
        [(None, "first keys", "first keys"), (Some("first keys"), "second keys", "second keys")]
    {
        wire.cut(text, Cut::BeforeTheClientHears);
        assert_eq!(store.replace_keyring(&scope(), expected, keyring).await, Ok(true));
        assert!(wire.was_cut());
    }
    assert_eq!(store.replace_keyring(&scope(), Some("first keys"), "third keys").await, Ok(false));
}

/// STATE-4: a run that was stopped in the middle of a commit does not keep its successor waiting for long.
#[tokio::test]
async fn who_stops_in_the_middle_of_a_commit_is_superseded() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = take(&store, "run-1", Duration::from_millis(1)).await.unwrap();
    wire.cut("COMMIT", Cut::Never);
    let succeed = async {
        while !wire.was_cut() {
            tokio::task::yield_now().await;
        }
        take(&other, "run-2", TERM).await.expect("it is there to be taken over")
    };
    let (committed, next) = tokio::join!(commit(&store, &lease, vec![adopted(1)]), succeed);
    assert_eq!(committed, Err(StoreError::Superseded));
    commit(&other, &next, vec![adopted(1)]).await.unwrap();
    assert_eq!(other.journal(&scope(), id(1)).await.unwrap().len(), 1);
}

/// A call that its caller gives up leaves nothing of its transaction behind.
#[tokio::test]
async fn a_call_that_is_dropped_disturbs_none_that_follow() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = lease(&store).await;
    wire.cut("COMMIT", Cut::Never);
    {
        let mut dropped = Box::pin(commit(&store, &lease, vec![adopted(1)]));
        while !wire.was_cut() {
            tokio::select! {
                biased;
                _ = &mut dropped => panic!("nothing answers"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    assert_eq!(commit(&store, &lease, vec![adopted(1)]).await, Ok(Version(1)));
    assert_eq!(other.journal(&scope(), id(1)).await.unwrap().len(), 1);
}
