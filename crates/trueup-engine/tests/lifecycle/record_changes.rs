//! STATE-9: changes of records go through the engine, under a lease that is renewed.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Diagnostic, Secret};
use trueup_engine::{EngineError, EventSink, HandChange, LeaseReason};
use trueup_provider::Clock;
use trueup_state::sealing::{KeyKind, KeySources, Rekeyed, rekey};
use trueup_state::{
    Acquired, Batch, Entry, HeldLease, Holder, Lease, Record, Scope, Snapshot, Step, Store, StoreError,
    Write, transition,
};

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
    assert!(matches!(report.unreleased, Some(StoreError::Unavailable { .. })), "{:?}", report.unreleased);
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
    let refreshed = beside_a_rival(&bench, reconciler.refresh(&wanted, &bench.options));
    assert!(refreshed.is_ok(), "{refreshed:?}");
}

/// The outcome of a change that takes longer than a lease lasts: a rival that comes meanwhile is kept out.
fn beside_a_rival<T>(bench: &Bench, change: impl Future<Output = T>) -> T {
    let rival = async {
        bench.clock.sleep(bench.options.lease_term * 2).await;
        bench.store.acquire(&scope(), &holder("rival"), Duration::from_secs(1)).await.unwrap()
    };
    let (done, taken) = bench.run(async { tokio::join!(change, rival) });
    assert!(matches!(taken, Acquired::Held(_)), "{taken:?}");
    assert_eq!(bench.run(bench.store.held(&scope())).unwrap(), None, "the lease is given back");
    done
}

/// A bench with a record, and its store, which takes four terms of a lease for each change.
fn slow() -> (Bench, Arc<FailingStore>) {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let takes = bench.options.lease_term * 4;
    let store = Arc::new(FailingStore::slow(bench.store.clone(), bench.clock.clone(), takes));
    (bench, store)
}

/// A change of keys through the engine, as `state rekey` makes it.
async fn rekeyed(bench: &Bench, store: Arc<FailingStore>) -> Result<Rekeyed, EngineError> {
    let reconciler = bench.reconciler_on(store.clone(), EventSink::new());
    let key = Some(Secret::new("11".repeat(32)));
    let keys = &KeySources { chosen: KeyKind::Env, env: key, ..KeySources::default() };
    let rekeying = async |lease: &Lease| Ok(rekey(&*store, &scope(), lease, keys, keys).await?);
    let done = reconciler.with_lease(&scope(), &holder("rekey"), &mut |_| false, rekeying).await;
    done.map(|(done, _)| done)
}

/// STATE-3, SECRET-3
#[test]
fn a_change_of_keys_renews_its_lease() {
    let (bench, store) = slow();
    let done = beside_a_rival(&bench, rekeyed(&bench, store)).unwrap();
    assert_eq!(done.records, 1);
}

/// STATE-3: what was not committed by then never is.
#[test]
fn a_change_of_keys_stops_when_its_lease_is_taken_away() {
    let (bench, store) = slow();
    let before = bench.run(bench.store.versions(&scope())).unwrap();
    let unlock = async {
        bench.clock.sleep(bench.options.lease_term).await;
        bench.store.unlock(&scope(), "rekey").await.unwrap()
    };
    let (done, unlocked) = bench.run(async { tokio::join!(rekeyed(&bench, store), unlock) });
    assert!(unlocked.is_some());
    assert!(matches!(done, Err(EngineError::Store(StoreError::Superseded))), "{done:?}");
    assert_eq!(bench.run(bench.store.versions(&scope())).unwrap(), before);
}

/// STATE-3, STATE-19
#[test]
fn deleting_a_stage_renews_its_lease() {
    let (bench, store) = slow();
    bench.destroy();
    let reconciler = bench.reconciler_on(store.clone(), EventSink::new());
    let (scope, holder) = (scope(), holder("delete"));
    let deleting = async |lease: &Lease| Ok(store.forget_scope(&scope, lease.token).await?);
    let mut wait = |_: &HeldLease| false;
    let deleted = reconciler.with_lease(&scope, &holder, &mut wait, deleting);
    let (forgotten, unreleased) = beside_a_rival(&bench, deleted).unwrap();
    assert!(forgotten && unreleased.is_none(), "{unreleased:?}");
    assert_eq!(bench.run(bench.store.scopes()).unwrap(), []);
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
