//! Buckets to keep a small stack in.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub(crate) mod proxy;
pub(crate) mod unreliable;

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt};
use trueup_core::{Address, Value, value};
use trueup_provider::{GenerationNumber, Slot, State};
use trueup_state::{
    Acquired, Batch, Entry, HistoryLine, Holder, Lease, Metadata, RecordId, Scope, Step, Store, StoreError,
    Version, Write, transition,
};
use trueup_store_s3::{Limits, S3Config, S3Store};
use trueup_store_suite::conformance::HandClock;
use trueup_test_servers::emulator::{RunningEmulator, credentials};

pub(crate) const TERM: Duration = Duration::from_secs(60);

/// How to reach a bucket of an emulator.
pub(crate) fn config(emulator: &RunningEmulator, bucket: &str, prefix: &str) -> S3Config {
    let text = str::to_owned;
    S3Config {
        bucket: text(bucket),
        prefix: text(prefix),
        region: Some(text("us-east-1")),
        endpoint: Some(emulator.endpoint()),
        environment: credentials(),
        ..S3Config::default()
    }
}

/// Limits at which nearly everything that happens to large stores happens to small ones.
pub(crate) const SMALL: Limits =
    Limits { head_bytes_max: 2_000, piece_bytes_max: 3_000, merge_bytes_max: 8_000 };

pub(crate) async fn open_on(
    bucket: Arc<dyn ObjectStore>,
    limits: Limits,
    clock: &HandClock,
) -> Result<S3Store, StoreError> {
    let location = "s3://states/team".to_owned();
    S3Store::open_on(bucket, "team", location, limits, Arc::new(clock.clone())).await
}

pub(crate) fn scope() -> Scope {
    Scope::new("shop", "prod")
}

pub(crate) fn holder(run: &str) -> Holder {
    let text = str::to_owned;
    Holder { run: text(run), user: text("ada"), host: text("here"), reason: text("deploy") }
}

pub(crate) async fn lease(store: &S3Store, run: &str) -> Lease {
    match store.acquire(&scope(), &holder(run), TERM).await.unwrap() {
        Acquired::Lease(lease) => lease,
        Acquired::Held(held) => panic!("{} holds the lease", held.holder),
    }
}

pub(crate) fn id(number: u64) -> RecordId {
    RecordId::from_bytes(u128::from(number).to_be_bytes())
}

/// A write that adopts the resource of this number, which is new, with so much in it.
pub(crate) fn adopted(number: u64, bytes: usize) -> Write {
    let address = Address::resource("std_file", &format!("n{number}")).unwrap();
    let object = object(number, bytes);
    let meta = Metadata::default();
    let step = Step::Adopted {
        origin: address.clone(),
        address,
        meta,
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    let entry = Entry::new(id(number), step);
    Write { expected: None, record: transition(None, &entry).unwrap().map(Arc::new), entry }
}

pub(crate) fn object(number: u64, bytes: usize) -> State {
    State {
        inputs: None,
        outputs: value!({ path: (format!("/srv/{number}")), content: (Value::from("x".repeat(bytes))) }),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    }
}

pub(crate) fn line(run: &str, sequence: u64) -> HistoryLine {
    let at = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(sequence);
    HistoryLine { run: run.to_owned(), sequence, at, event: format!("{{\"n\":{sequence}}}") }
}

pub(crate) async fn commit(
    store: &S3Store,
    lease: &Lease,
    writes: Vec<Write>,
) -> Result<Version, StoreError> {
    store.commit(&scope(), lease.token, &Batch { writes, ..Batch::default() }).await
}

/// The ids of all that is recorded, as numbers.
pub(crate) async fn numbers(store: &S3Store) -> Vec<u64> {
    let snapshot = store.load(&scope()).await.unwrap();
    let number = |address: &Address| address.to_string().rsplit_once('n').unwrap().1.parse().unwrap();
    snapshot.records.iter().map(|(record, _)| number(&record.address)).collect()
}

/// The names of all pieces that are there, in order.
pub(crate) async fn pieces(bucket: &dyn ObjectStore) -> Vec<String> {
    let folder = "team/scopes/shop/prod/pieces".into();
    let listed: Vec<_> = bucket.list(Some(&folder)).try_collect().await.unwrap();
    let mut names: Vec<String> =
        listed.iter().map(|object| object.location.filename().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The names of all pieces that the head names, in order.
pub(crate) async fn named_pieces(bucket: &dyn ObjectStore) -> Vec<String> {
    let head = head(bucket).await;
    let mut names: Vec<String> = head
        .match_indices("\"name\":\"")
        .map(|(at, found)| head[at + found.len()..].split('"').next().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// The text of the head.
pub(crate) async fn head(bucket: &dyn ObjectStore) -> String {
    let found = bucket.get(&HEAD.into()).await.unwrap().bytes().await.unwrap();
    String::from_utf8(found.into()).unwrap()
}

pub(crate) const HEAD: &str = "team/scopes/shop/prod/head";

/// All that is in a bucket.
pub(crate) async fn everything(bucket: &dyn ObjectStore) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let listed: Vec<_> = bucket.list(None).try_collect().await.unwrap();
    for object in listed {
        let body = bucket.get(&object.location).await.unwrap().bytes().await.unwrap();
        all.push((object.location.to_string(), body.to_vec()));
    }
    all.sort();
    all
}
