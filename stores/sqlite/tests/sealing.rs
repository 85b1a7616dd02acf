//! What a change of keys leaves in the file of what was in it before: nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::path::Path;
use std::sync::Arc;

use trueup_core::{Secret, value};
use trueup_state::sealing::{KeyKind, KeySources, SealedStore, rekey};
use trueup_state::{Batch, Store};

use shop::{lease, open, scope};

const CANARY: &[u8] = b"canary-90ab";

fn holds_canary(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(CANARY.len()).any(|window| window == CANARY))
}

/// SECRET-3, SECRET-5: state from before secrets were sealed.
#[tokio::test]
async fn sealing_what_was_in_the_clear_leaves_no_trace_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&folder.path().join("state.db")).await.unwrap());
    let lease = lease(&*store).await;
    let hidden = value!("canary-90ab").into_secret();
    // Over and over, so that pages are freed and filled again.
    for number in 0..50 {
        let padding = "x".repeat(number * 200);
        let outputs = Some(value!({ hidden: (hidden.clone()), padding: padding }));
        store.commit(&scope(), lease.token, &Batch { outputs, ..Batch::default() }).await.unwrap();
    }
    assert!(holds_canary(folder.path()));
    let env = Some(Secret::new("5a".repeat(32)));
    let sources = KeySources { chosen: KeyKind::Env, env, ..KeySources::default() };
    rekey(&*store, &scope(), &lease, &sources, &sources).await.unwrap();
    assert!(!holds_canary(folder.path()), "while the file is open");
    let opened = SealedStore::new(store.clone(), sources).load(&scope()).await.unwrap();
    assert_eq!(opened.outputs.unwrap().get("hidden"), Some(&hidden));
    drop(store);
    assert!(!holds_canary(folder.path()));
}
