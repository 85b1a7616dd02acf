//! What a change of keys leaves in the bucket of what was in it before: nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;

use object_store::memory::InMemory;
use shop::{SMALL, lease, scope};
use trueup_core::{Secret, value};
use trueup_state::sealing::{KeyKind, KeySources, SealedStore, rekey};
use trueup_state::{Batch, Store};
use trueup_store_suite::conformance::HandClock;

async fn holds_canary(bucket: &InMemory) -> bool {
    let all = shop::everything(bucket).await;
    all.iter().any(|(_, body)| String::from_utf8_lossy(body).contains("canary-90ab"))
}

/// SECRET-3, SECRET-5: state from before secrets were sealed.
#[tokio::test]
async fn sealing_what_was_in_the_clear_leaves_no_trace_of_it() {
    let bucket = Arc::new(InMemory::new());
    let store = Arc::new(shop::open_on(bucket.clone(), SMALL, &HandClock::new()).await.unwrap());
    let lease = lease(&store, "run-1").await;
    let hidden = value!("canary-90ab").into_secret();
    // In the head, and in runs of many sizes.
    for number in 0..50 {
        let padding = "x".repeat(number * 200);
        let outputs = Some(value!({ hidden: (hidden.clone()), padding: padding }));
        store.commit(&scope(), lease.token, &Batch { outputs, ..Batch::default() }).await.unwrap();
    }
    assert!(holds_canary(&bucket).await);
    let env = Some(Secret::new("5a".repeat(32)));
    let sources = KeySources { chosen: KeyKind::Env, env, ..KeySources::default() };
    let rekeyed = rekey(&*store, &scope(), &lease, &sources, &sources).await.unwrap();
    assert!(!rekeyed.old_keys_kept);
    assert!(!holds_canary(&bucket).await, "right after it");
    let opened = SealedStore::new(store.clone(), sources).load(&scope()).await.unwrap();
    assert_eq!(opened.outputs.unwrap().get("hidden"), Some(&hidden));
    store.release(&scope(), &lease).await.unwrap();
    assert!(!holds_canary(&bucket).await, "after the lease was given back");
}
