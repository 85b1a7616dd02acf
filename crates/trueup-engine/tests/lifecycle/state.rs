//! STATE: leases and a store that fails, as a run meets them.

use std::time::Duration;

use trueup_engine::{Deployed, EngineError, EventSink, Plan};
use trueup_state::{Acquired, Holder, Scope, Store};

use trueup_core::{Failure, FailureClass};
use trueup_engine::HandChange;

use crate::lifecycle::failing::Renewal;
use crate::lifecycle::world::{Bench, address, program, resource, thing};

fn someone() -> Holder {
    Holder { run: "r1".into(), user: "ada".into(), host: "here".into(), reason: "deploy".into() }
}

/// STATE-4, EVENT-1
#[test]
fn a_run_says_who_holds_the_lease_or_waits_until_it_expires() {
    let mut bench = Bench::new();
    let scope = Scope::new("stack", "test");
    let taken = bench.run(bench.store.acquire(&scope, &someone(), Duration::from_secs(60))).unwrap();
    assert!(matches!(taken, Acquired::Lease(_)));
    bench.options.wait = false;
    let refused = bench.try_deploy(&program([thing("a", 1)])).unwrap_err();
    assert_eq!(refused.to_string(), "the stage is held by ada@here (deploy, run r1)");
    bench.options.wait = true;
    bench.deployed(&program([thing("a", 1)]));
    let waited = bench.heard().iter().filter(|it| *it == "reconciler.run.waiting").count();
    assert_eq!(waited, 1, "it says so once, however often it asks");
}

/// STATE-5
#[test]
fn a_plan_is_not_held_up_by_a_lease() {
    let bench = Bench::new();
    let scope = Scope::new("stack", "test");
    bench.run(bench.store.acquire(&scope, &someone(), Duration::from_secs(60))).unwrap();
    assert!(bench.plan(&program([thing("a", 1)])).contains("1 to create"));
}

/// STATE-3: a run that outlasts its term keeps its lease by renewing it.
#[test]
fn a_long_run_renews_its_lease() {
    let mut bench = Bench::new();
    bench.options.lease_term = Duration::from_millis(15);
    bench.options.plan.parallelism = 1;
    bench.deployed(&program([thing("a", 1), thing("b", 1), thing("c", 1), thing("d", 1)]));
}

/// STATE-3: a store that is out of reach for a moment is no reason to stop.
#[test]
fn a_renewal_that_fails_is_tried_again_in_time() {
    let mut bench = Bench::new();
    bench.options.lease_term = Duration::from_millis(15);
    bench.options.plan.parallelism = 1;
    let both = program([thing("a", 1), thing("b", 1)]);
    assert_eq!(bench.deploy_renewing(&both, [Renewal::Fails, Renewal::Fails]), Ok(true));
}

/// STATE-3: nothing starts on a lease that is about to end, and what is under way is dropped when it has.
#[test]
fn no_call_starts_with_less_than_a_third_of_the_lease_left() {
    let mut bench = Bench::new();
    // Each create takes 10 ms: the second may start, the third may not.
    bench.options.lease_term = Duration::from_millis(24);
    bench.options.plan.parallelism = 1;
    let three = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    let lost = bench.deploy_renewing(&three, [Renewal::Hangs]).unwrap_err();
    assert!(lost.contains("cannot renew the lease"), "{lost}");
    assert!(lost.contains("did not answer in time"), "{lost}");
    let creates = bench.world.calls().into_iter().filter(|call| call.starts_with("create ")).count();
    assert_eq!(creates, 2);
    // What was left is found and finished.
    bench.run(tokio::time::advance(Duration::from_secs(60)));
    bench.deployed(&three);
    assert_eq!(bench.world.things(), ["a=1", "b=1", "c=1"]);
}

/// STATE-3: a run whose lease was taken away stops, and the next one finishes what it left.
#[test]
fn a_run_that_lost_its_lease_writes_nothing_more() {
    let bench = Bench::new();
    let both = program([thing("a", 1), thing("b", 1)]);
    assert!(!bench.deploy_unlocked_halfway(&both));
    let before = bench.records();
    assert!(before.values().any(|record| record.current.as_ref().is_some_and(|it| it.attempt().is_some())));
    bench.deployed(&both);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}

/// STATE-2, CRASH-7: a store that fails ends the run with a clear account, and nothing is lost.
#[test]
fn a_store_that_fails_in_the_middle_loses_nothing() {
    for failing_commit in 1.. {
        let bench = Bench::new();
        let both = program([thing("a", 1), thing("b", 1)]);
        let told = bench.deploy_with_failing_store(&both, failing_commit);
        if told == "it succeeded" {
            assert!(failing_commit > 3, "intent, answer and end each take a commit");
            break;
        }
        assert!(told.contains("disk full"), "{told}");
        bench.deployed(&both);
        assert_eq!(bench.world.things(), ["a=1", "b=1"], "commit {failing_commit} failed");
        assert!(bench.plan(&both).ends_with("No changes"));
    }
}

/// The error of a program that is not sound is told apart from one of the store.
#[test]
fn an_unsound_program_takes_no_lease_for_long() {
    let bench = Bench::new();
    let unsound = bench.try_deploy(&program([thing("a", 1), thing("a", 1)]));
    assert!(matches!(unsound, Err(EngineError::Unsound(_))));
    bench.deployed(&program([thing("a", 1)]));
}

/// STATE-11: what changed while someone thought is planned and asked for again.
#[test]
fn a_plan_that_is_no_longer_true_is_asked_for_again() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let mut asked = Vec::new();
    let deployed = bench.deploy_asking(&program([thing("a", 2)]), &mut |plan| {
        asked.push(plan.summary());
        if asked.len() == 1 {
            // Someone else is faster.
            bench.other_runtime_deploys(&program([thing("a", 2)]));
        }
        true
    });
    assert!(deployed.succeeded());
    assert_eq!(asked, ["Plan: 1 to update", "No changes"]);
}

/// STATE-11: records that were read ahead spare a plan its own look, once. If they are no longer true, that is seen
/// before anything is done.
#[test]
fn what_was_read_ahead_and_changed_since_is_read_again() {
    let bench = Bench::new();
    let scope = Scope::new("stack", "test");
    let read = bench.run(bench.store.load(&scope)).unwrap();
    bench.deployed(&program([thing("a", 1)]));
    let reconciler = bench.reconciler(EventSink::new());
    reconciler.read_ahead(scope, read);
    let (changed, mut asked) = (program([thing("a", 2)]), Vec::new());
    let mut approve = |plan: &Plan| {
        asked.push(plan.summary());
        true
    };
    let deploying = reconciler.deploy_approved(&changed, &bench.options, &bench.cancellation, &mut approve);
    assert!(matches!(bench.run(deploying), Ok(Deployed::Ran(report)) if report.succeeded()));
    // Without a record, the first plan found it by its name.
    assert_eq!(asked, ["Plan: 1 to update"; 2]);
    assert_eq!(bench.world.things(), ["a=2"]);
}

/// STATE-12: a create that was in flight when the records were read, and whose run ended before the plan was refused, is no
/// interrupted create.
#[test]
fn a_plan_refused_for_records_that_changed_since_is_made_again() {
    let bench = Bench::new();
    let scope = Scope::new("stack", "test");
    bench.world.fail("create a", Failure::new(FailureClass::Indeterminate, "no answer"));
    let wanted = program([resource("w_blind.a", [])]);
    assert!(!bench.deploy(&wanted).succeeded());
    let in_flight = bench.run(bench.store.load(&scope)).unwrap();
    bench.by_hand(&HandChange::ResolveAbsent(address("w_blind.a"))).unwrap();
    bench.deployed(&wanted);
    let reconciler = bench.reconciler(EventSink::new());
    reconciler.read_ahead(scope, in_flight);
    let deployed = bench.run(reconciler.deploy(&wanted, &bench.options, &bench.cancellation)).unwrap();
    assert!(matches!(deployed, Deployed::Ran(report) if report.succeeded()));
    assert_eq!(bench.world.cloud().things.len(), 1);
}
