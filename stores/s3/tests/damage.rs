//! Objects that are not what they should be are named, and left as they are.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStoreExt, PutPayload};
use shop::{HEAD, SMALL, adopted, commit, head, holder, lease, scope};
use trueup_state::{Store, StoreError};
use trueup_store_suite::conformance::HandClock;

/// A bucket with some records, and whoever wrote them gone.
async fn filled() -> Arc<InMemory> {
    let bucket = Arc::new(InMemory::new());
    let store = shop::open_on(bucket.clone(), SMALL, &HandClock::new()).await.unwrap();
    let lease = lease(&store, "run-1").await;
    for number in 0..10 {
        commit(&store, &lease, vec![adopted(number, 500)]).await.unwrap();
    }
    store.release(&scope(), &lease).await.unwrap();
    bucket
}

async fn put(bucket: &InMemory, path: &str, text: impl Into<String>) {
    bucket.put(&path.into(), PutPayload::from(text.into())).await.unwrap();
}

/// What opening, loading or taking the lease says. The bucket must stay as it is.
async fn refusal(bucket: &Arc<InMemory>) -> String {
    let before = shop::everything(bucket).await;
    let refused = async {
        let store = shop::open_on(bucket.clone(), SMALL, &HandClock::new()).await?;
        let loaded = store.load(&scope()).await.map(drop);
        let taken = store.acquire(&scope(), &holder("run-2"), shop::TERM).await;
        if let Err(error) = &taken {
            assert_eq!(Err(error), loaded.as_ref(), "loading and taking the lease should say the same");
        } else {
            let trueup_state::Acquired::Lease(lease) = taken.unwrap() else { panic!("the lease is free") };
            let refused = commit(&store, &lease, vec![adopted(100, 10)]).await.map(drop);
            assert_eq!(refused, loaded, "loading and writing should say the same");
            // That a lease was taken is no harm.
            let head = before.iter().find(|(name, _)| name == HEAD).unwrap();
            put(bucket, HEAD, String::from_utf8(head.1.clone()).unwrap()).await;
        }
        loaded
    };
    let refused = refused.await;
    assert_eq!(shop::everything(bucket).await, before, "it was not touched");
    refused.unwrap_err().to_string()
}

const DAMAGED: &str = "the state at s3://states/team is damaged: ";

/// STATE-7.
#[tokio::test]
async fn a_head_that_was_changed_by_other_hands_is_damage() {
    let bucket = filled().await;
    let whole = head(&*bucket).await;
    for (text, why) in [
        (String::new(), "EOF while parsing a value at line 1 column 0"),
        ("{}\n".to_owned(), "missing field `format` at line 1 column 2"),
        (whole[..100].to_owned(), "EOF while parsing"),
        (whole[..whole.find('\n').unwrap() + 1].to_owned(), "it is cut off"),
        (whole[..whole.len() - 1].to_owned(), "it is cut off"),
        (whole.replacen("\"token\":1", "\"token\":0", 1), "it is not as it was written"),
    ] {
        put(&bucket, HEAD, text).await;
        let refusal = refusal(&bucket).await;
        let expected = format!("{DAMAGED}{HEAD} is unreadable: {why}");
        assert!(refusal.starts_with(&expected), "{refusal}");
        assert!(refusal.ends_with("; it was not touched"), "{refusal}");
    }
}

/// STATE-7.
#[tokio::test]
async fn a_head_that_is_missing_is_damage() {
    let bucket = filled().await;
    bucket.delete(&HEAD.into()).await.unwrap();
    let first = shop::pieces(&*bucket).await.remove(0);
    assert_eq!(
        refusal(&bucket).await,
        format!(
            "{DAMAGED}{HEAD} is missing, but team/scopes/shop/prod/pieces/{first} is there; it was not touched"
        )
    );
}

/// STATE-7, CRASH-8.
#[tokio::test]
async fn a_piece_that_is_missing_or_changed_is_damage() {
    let bucket = filled().await;
    let records = shop::pieces(&*bucket).await.into_iter().find(|name| name.contains("records")).unwrap();
    let path = format!("team/scopes/shop/prod/pieces/{records}");
    let body = bucket.get(&path.clone().into()).await.unwrap().bytes().await.unwrap();
    let whole = String::from_utf8(body.into()).unwrap();
    for tampered in [whole.replacen("/srv/", "/etc/", 1), whole[..10].to_owned(), String::new()] {
        put(&bucket, &path, tampered).await;
        assert_eq!(
            refusal(&bucket).await,
            format!("{DAMAGED}{path} is not as it was written; it was not touched")
        );
    }
    bucket.delete(&path.clone().into()).await.unwrap();
    assert_eq!(refusal(&bucket).await, format!("{DAMAGED}{path} is missing; it was not touched"));
}

/// STATE-7.
#[tokio::test]
async fn a_newer_format_is_refused() {
    let newer = "the state at s3://states/team has format 4, this program knows up to 3: use a newer trueup";
    let bucket = filled().await;
    let whole = head(&*bucket).await;
    put(&bucket, HEAD, "{\"format\":4,\"all\":\"else\"}\nis different").await;
    assert_eq!(refusal(&bucket).await, newer);
    put(&bucket, HEAD, whole).await;
    put(&bucket, "team/trueup", "{\"format\":4}").await;
    let damaged = shop::open_on(bucket.clone(), SMALL, &HandClock::new()).await.err().unwrap();
    assert_eq!(damaged.to_string(), newer);
}

/// STATE-13: looking makes nothing.
#[tokio::test]
async fn a_store_is_made_by_writing_alone() {
    let bucket = Arc::new(InMemory::new());
    let store = shop::open_on(bucket.clone(), SMALL, &HandClock::new()).await.unwrap();
    store.load(&scope()).await.unwrap();
    store.scopes().await.unwrap();
    store.keyring(&scope()).await.unwrap();
    store.prune(&scope(), 0).await.unwrap();
    store.unlock(&scope(), "run-1").await.unwrap();
    assert_eq!(store.runs(&scope()).await, Ok(vec![]));
    assert_eq!(
        commit(
            &store,
            &trueup_state::Lease { token: trueup_state::FencingToken(1), term: shop::TERM },
            vec![]
        )
        .await,
        Err(StoreError::Superseded)
    );
    assert_eq!(shop::everything(&bucket).await, []);
}
