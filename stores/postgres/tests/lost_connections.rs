//! Connections that are lost in the middle of a call: what became of it is found out, never guessed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod wire;

use std::sync::Arc;
use std::time::Duration;

use trueup_provider::RuntimeClock;
use trueup_state::{Acquired, Lease, Store, StoreError, Version};
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

/// STATE-3: the answer stays right when another takes the lease over before the connection is back.
#[tokio::test]
async fn a_commit_is_resolved_after_a_take_over_too() {
    for (cut, successors, expected) in [
        (Cut::BeforeTheClientHears, 1, Ok(Version(2))),
        (Cut::BeforeTheServerHears, 1, Err(StoreError::Superseded)),
    ] {
        let Some((wire, store, other)) = stores().await else { return };
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
        let (committed, ()) = tokio::join!(commit(&store, &lease, vec![adopted(2)]), succeed);
        assert_eq!(committed, expected);
    }
}

/// STATE-3: after two successors it can no longer be told, and that is what is said.
#[tokio::test]
async fn what_cannot_be_found_out_is_said() {
    let Some((wire, store, other)) = stores().await else { return };
    let lease = lease(&store).await;
    wire.cut("COMMIT", Cut::BeforeTheClientHears);
    wire.let_in(false);
    let succeed = async {
        while !wire.was_cut() {
            tokio::task::yield_now().await;
        }
        for number in 0..2 {
            other.unlock(&scope(), "run-1").await.unwrap().unwrap();
            let next = take(&other, "run-1", TERM).await.unwrap();
            commit(&other, &next, vec![adopted(10 + number)]).await.unwrap();
        }
        wire.let_in(true);
    };
    let (committed, ()) = tokio::join!(commit(&store, &lease, vec![adopted(2)]), succeed);
    let said = committed.unwrap_err().to_string();
    assert!(
        said.ends_with(
            "the connection was lost during a commit, and whether it took place could not be found out: several other \
             runs have written since then"
        ),
        "{said}"
    );
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
