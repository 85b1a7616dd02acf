//! RETRY: error classes and retries.

use std::time::Duration;

use trueup_core::{Failure, FailureClass};
use trueup_engine::{Action, Outcome};
use trueup_program::Timeouts;

use crate::lifecycle::world::{Bench, program, thing};

/// RETRY-1, RETRY-2
#[test]
fn what_may_be_repeated_is_repeated_with_back_off() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.world.fail("create a", Failure::new(FailureClass::Retryable, "not yet"));
    }
    let before = bench.now();
    bench.deployed(&program([thing("a", 1)]));
    let waited = bench.now().duration_since(before).unwrap();
    assert!(waited >= Duration::from_secs(10) && waited <= Duration::from_secs(15), "{waited:?}");
    assert_eq!(bench.heard().iter().filter(|event| event.ends_with("retry a")).count(), 3);
}

/// RETRY-2, RETRY-3
#[test]
fn attempts_are_bounded_and_the_last_failure_says_how_many() {
    let bench = Bench::new();
    for _ in 0..10 {
        bench.world.fail(
            "create a",
            Failure::new(FailureClass::Throttled { delay: Some(Duration::from_secs(1)) }, "slow down"),
        );
    }
    let report = bench.deploy(&program([thing("a", 1)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "slow down (10 attempts in 9.0 s)");
}

/// RETRY-3
#[test]
fn denied_and_invalid_fail_at_once() {
    for class in [FailureClass::Denied, FailureClass::Invalid] {
        let bench = Bench::new();
        bench.world.fail("create a", Failure::new(class, "no"));
        assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
        assert_eq!(bench.world.calls().iter().filter(|call| *call == "create a").count(), 1);
        assert!(bench.records().is_empty(), "nothing came of it");
    }
}

/// RETRY-6: the answer to an earlier create was lost; the next one finds its own object.
#[test]
fn a_create_that_finds_its_own_object_takes_it() {
    let bench = Bench::new();
    bench.world.fail("created a", Failure::new(FailureClass::AlreadyExists, "it is there"));
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(bench.world.things(), ["a=1"]);
    assert!(bench.plan(&program([thing("a", 1)])).ends_with("No changes"));
}

/// RETRY-2: each operation of a resource may have a timeout of its own.
#[test]
fn a_timeout_counts_for_its_own_operation() {
    let bench = Bench::new();
    let hang = || Failure::new(FailureClass::Fatal, "whatever");
    let mut declared = thing("a", 1);
    let timeouts = Timeouts { create: Some(Duration::from_secs(7)), ..Timeouts::default() };
    declared.options.timeouts = Some(Box::new(timeouts));
    bench.world.fail("hang a", hang());
    let before = bench.now();
    let report = bench.deploy(&program([declared, thing("b", 1)]));
    assert_eq!(bench.now().duration_since(before).unwrap().as_secs(), 7);
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "no answer within 7 s");
    assert_eq!(report.outcome("w_thing.b"), Some(&Outcome::Done(Action::Create)));
}
