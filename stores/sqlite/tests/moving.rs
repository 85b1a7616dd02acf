//! A move to another store, cut off at every moment.
#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use crate::shop;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use trueup_core::value;
use trueup_state::moving::{Moved, move_scope};
use trueup_state::{Batch, Snapshot, Store};
use trueup_store_suite::conformance::shop::holder;

use shop::{adopted, commit, lease, open, scope};

/// Lets a future make this many steps; `None` if that is not enough.
async fn cut_off<T>(future: impl Future<Output = T>, steps: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut left = steps;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

fn contents(snapshot: &Snapshot) -> String {
    format!(
        "{:?} {:?}",
        snapshot.records.iter().map(|(record, _)| record).collect::<Vec<_>>(),
        snapshot.outputs
    )
}

/// STATE-14: whenever it is cut off, all is in the old store or in both, and moving again brings it to its end.
#[tokio::test]
async fn a_move_that_is_cut_off_is_finished_by_another() {
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let from = open(&folder.path().join("old.db")).await.unwrap();
        let to = open(&folder.path().join("new.db")).await.unwrap();
        let writer = lease(&from).await;
        commit(&from, &writer, (0..5).map(adopted).collect()).await.unwrap();
        let outputs = Some(value!({ port: 8080 }));
        from.commit(&scope(), writer.token, &Batch { outputs, ..Batch::default() }).await.unwrap();
        from.replace_keyring(&scope(), None, "ours").await.unwrap();
        from.release(&scope(), &writer).await.unwrap();
        let before = contents(&from.load(&scope()).await.unwrap());

        let moved = cut_off(move_scope(&from, &to, &scope(), &holder("first")), steps).await;
        assert_eq!(contents(&from.load(&scope()).await.unwrap()), before, "cut off after {steps} steps");
        let there = contents(&to.load(&scope()).await.unwrap());
        assert!(there == before || there == "[] None", "cut off after {steps} steps: {there}");
        if let Some(moved) = moved {
            assert_eq!(moved, Ok(Moved { records: 5, runs: 0 }));
            assert!(steps > 10, "it should take some steps");
            return;
        }
        for store in [&from, &to] {
            store.unlock(&scope(), "first").await.unwrap();
        }
        let again = move_scope(&from, &to, &scope(), &holder("second")).await;
        assert_eq!(again, Ok(Moved { records: 5, runs: 0 }), "cut off after {steps} steps");
        assert_eq!(contents(&to.load(&scope()).await.unwrap()), before, "cut off after {steps} steps");
        assert_eq!(to.keyring(&scope()).await, Ok(Some("ours".to_owned())));
    }
}
