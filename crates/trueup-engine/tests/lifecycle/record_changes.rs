//! STATE-9: changes of records go through the engine, under a lease that is renewed.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::Diagnostic;
use trueup_engine::{EngineError, EventSink, HandChange, LeaseReason};
use trueup_provider::Clock;
use trueup_state::{Acquired, Batch, Entry, Holder, Record, Scope, Snapshot, Step, Store, Write, transition};

use crate::lifecycle::failing::FailingStore;
use crate::lifecycle::scripted::{Mishap, bench};
use crate::lifecycle::world::{Bench, address, lit, program, resource, thing};

fn scope() -> Scope {
    Scope::new("stack", "test")
}

fn holder(run: &str) -> Holder {
    let reason = LeaseReason::ImportState.name().to_owned();
    Holder { run: run.to_owned(), user: "ada".to_owned(), host: "here".to_owned(), reason }
}

/// STATE-9
#[test]
fn a_change_is_reported_though_its_lease_cannot_be_given_back() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let store = Arc::new(FailingStore::keeping_leases(bench.store.clone()));
    let reconciler = bench.reconciler_on(store, EventSink::new());
    let change = HandChange::Forget(address("w_thing.a").into());
    let report = bench.run(reconciler.change_by_hand(&scope(), &change, &bench.options)).unwrap();
    assert_eq!(report.steps.len(), 1);
    assert!(report.warnings[0].ends_with("the lease expires by itself"), "{:?}", report.warnings);
    assert!(bench.records().is_empty(), "it is done");
}

/// STATE-3, DRIFT-9
#[test]
fn a_refresh_renews_its_lease() {
    let (bench, script) = bench();
    let wanted = program([resource("h_thing.a", [("size", lit(1))])]);
    bench.deployed(&wanted);
    script.mishap("read", Mishap::Wait(bench.options.lease_term * 4));
    let reconciler = bench.reconciler(EventSink::new());
    let rival = async {
        bench.clock.sleep(bench.options.lease_term * 2).await;
        bench.store.acquire(&scope(), &holder("rival"), Duration::from_secs(1)).await.unwrap()
    };
    let refresh = reconciler.refresh(&wanted, &bench.options);
    let (refreshed, taken) = bench.run(async { tokio::join!(refresh, rival) });
    assert!(refreshed.is_ok(), "{refreshed:?}");
    assert!(matches!(taken, Acquired::Held(_)), "{taken:?}");
}

/// What makes a record of the object of another.
fn copied(record: &Record) -> Batch {
    let current = record.current.clone().unwrap();
    let step = Step::Adopted {
        address: record.address.clone(),
        origin: record.origin.clone(),
        meta: record.meta.clone(),
        number: current.number,
        slot: current.slot,
        object: current.object.unwrap(),
    };
    let entry = Entry::new(record.id, step);
    let record = transition(None, &entry).unwrap().map(Arc::new);
    Batch { writes: vec![Write { expected: None, entry, record }], ..Batch::default() }
}

/// STATE-9: what is recorded is judged when nobody else can change it.
#[test]
fn two_imports_at_once_record_nothing_twice() {
    let first = Bench::new();
    first.deployed(&program([thing("a", 1)]));
    let batch = copied(&first.records()["a"]);
    let bench = Bench::new();
    let admit = |before: &Snapshot| match before.records.is_empty() {
        true => Ok(()),
        false => Err(Diagnostic::error("something is recorded already").into()),
    };
    let import = async |run: &str| {
        let reconciler = bench.reconciler(EventSink::new());
        reconciler.record(&scope(), &batch, &holder(run), &admit, &mut |_| true).await
    };
    let (one, two) = bench.run(async { tokio::join!(import("one"), import("two")) });
    assert!(one.is_ok(), "{one:?}");
    assert!(matches!(two, Err(EngineError::Unsound(_))), "{two:?}");
    assert_eq!(bench.records().len(), 1);
}
