//! What a commit costs on the S3 store with few and with many records: it must not grow (STATE-6).
//!
//!     cargo bench -p trueup-benches --bench s3              # up to 100,000 records
//!     cargo bench -p trueup-benches --bench s3 -- 10000     # none with more than 10,000
//!
//! The server is an emulator on this machine, so that times say little about Amazon's; requests and bytes do.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use trueup_core::{Address, value};
use trueup_provider::{GenerationNumber, RuntimeClock, Slot, State};
use trueup_state::{
    Acquired, Batch, Entry, HistoryLine, Holder, Metadata, RecordId, Scope, Step, Store, Write, transition,
};
use trueup_store_s3::{S3Config, S3Store};
use trueup_test_servers::emulator::{Emulator, RunningEmulator, credentials};

/// How many commits of one record each are measured.
const COMMITS: u64 = 500;

#[expect(clippy::disallowed_methods, reason = "its command line")]
fn main() {
    let largest = std::env::args().skip(1).find_map(|it| it.parse().ok()).unwrap_or(100_000);
    let Some(emulator) = Emulator::Ministack.start() else { return };
    emulator.create_bucket("states");
    println!("commits of one step each, with a line of history, S3 store on an emulator");
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12} {:>10} {:>12}",
        "recorded",
        "median ms",
        "mean ms",
        "99th ms",
        "most ms",
        "requests",
        "KB sent",
        "load ms",
        "requests"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("there is room for a runtime");
    for recorded in [100, 1_000, 10_000, 100_000].into_iter().filter(|it| *it <= largest) {
        runtime.block_on(measure(&emulator, recorded));
    }
}

async fn measure(emulator: &RunningEmulator, recorded: u64) {
    let store = open(emulator, recorded).await;
    let text = str::to_owned;
    let holder = Holder { run: text("run-1"), user: text("ada"), host: text("here"), reason: text("deploy") };
    let taken = store.acquire(&scope(), &holder, Duration::from_secs(3600)).await;
    let Ok(Acquired::Lease(lease)) = taken else { panic!("the lease is free: {taken:?}") };
    for first in (0..recorded).step_by(1_000) {
        let writes = (first..recorded.min(first + 1_000)).map(write).collect();
        let batch = Batch { writes, ..Batch::default() };
        store.commit(&scope(), lease.token, &batch).await.expect("the store can be written");
    }

    let before = store.traffic();
    let mut took = Vec::new();
    for number in recorded..recorded + COMMITS {
        let (writes, history) = (vec![write(number)], vec![line(number)]);
        let batch = Batch { writes, history, ..Batch::default() };
        let started = now();
        store.commit(&scope(), lease.token, &batch).await.expect("the store can be written");
        took.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let after = store.traffic();
    let requests = (after.requests - before.requests) as f64 / COMMITS as f64;
    let sent = (after.bytes_sent - before.bytes_sent) as f64 / COMMITS as f64 / 1e3;
    store.release(&scope(), &lease).await.expect("the lease can be given back");

    let reader = open(emulator, recorded).await;
    let (opened, started) = (reader.traffic().requests, now());
    let loaded = reader.load(&scope()).await.expect("the store can be read").records.len() as u64;
    let (load, asked) = (started.elapsed().as_secs_f64() * 1e3, reader.traffic().requests - opened);
    assert_eq!(loaded, recorded + COMMITS);

    let mean = took.iter().sum::<f64>() / took.len() as f64;
    took.sort_by(f64::total_cmp);
    let (median, late, most) = (took[took.len() / 2], took[took.len() * 99 / 100], took[took.len() - 1]);
    println!(
        "{recorded:>10} {median:>10.2} {mean:>10.2} {late:>10.2} {most:>10.2} {requests:>12.2} {sent:>12.1} {load:>10.0} {asked:>12}"
    );
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

async fn open(emulator: &RunningEmulator, recorded: u64) -> S3Store {
    let text = str::to_owned;
    let config = S3Config {
        bucket: text("states"),
        prefix: recorded.to_string(),
        endpoint: Some(emulator.endpoint()),
        environment: credentials(),
        ..S3Config::default()
    };
    S3Store::open(&config, Arc::new(RuntimeClock::new())).await.expect("the emulator answers")
}

fn scope() -> Scope {
    Scope::new("shop", "prod")
}

/// A write that adopts a new resource of everyday size.
fn write(number: u64) -> Write {
    let address = Address::resource("std_file", &format!("n{number}")).expect("a valid name");
    let object = State {
        inputs: None,
        outputs: value!({ path: (format!("/srv/{number}")), content: ("x".repeat(500)) }),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    };
    let meta = Metadata::default();
    let step = Step::Adopted {
        origin: address.clone(),
        address,
        meta,
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    // Ids stand in no order in life.
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let id = RecordId::from_bytes((u128::from(mixed) << 64 | u128::from(number)).to_be_bytes());
    let entry = Entry::new(id, step);
    let record = transition(None, &entry).expect("a legal step").map(Arc::new);
    Write { expected: None, record, entry }
}

fn line(number: u64) -> HistoryLine {
    let at = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(number);
    HistoryLine { run: "run-1".to_owned(), sequence: number, at, event: "x".repeat(300) }
}
