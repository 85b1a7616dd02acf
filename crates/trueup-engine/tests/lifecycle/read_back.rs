//! APPLY-8: what becomes of a change whose object cannot be read back.

use trueup_core::{Failure, FailureClass};

use crate::lifecycle::scripted::{Mishap, bench};
use crate::lifecycle::world::{Bench, lit, program, resource};

/// The warnings of a deploy whose read-back fails so, as often as it is tried.
fn warnings(failure: &Failure) -> Vec<String> {
    let (bench, script) = bench();
    (0..10).for_each(|_| script.mishap("read", Mishap::Fail(failure.clone())));
    let wanted = program([resource("h_thing.a", [("size", lit(1))])]);
    let report = bench.deployed(&wanted);
    let object = bench.records().remove("a").unwrap().current.unwrap().object.unwrap();
    assert_eq!(object.outputs.to_string(), r#"{ shown = "a-0" }"#, "the answer stands");
    report.warnings
}

/// APPLY-8
#[test]
fn a_failed_read_back_warns_and_the_answer_stands() {
    let told = warnings(&Failure::new(FailureClass::Denied, "not for you"));
    assert!(told[0].contains("h_thing.a could not be read back: not for you"), "{told:?}");
    let told = warnings(&Failure::new(FailureClass::Retryable, "not yet"));
    assert!(told[0].contains("could not be read back: not yet (10 attempts in"), "{told:?}");
}

/// APPLY-8
#[test]
fn a_type_that_cannot_be_read_does_not_warn() {
    let bench = Bench::new();
    let report = bench.deployed(&program([resource("w_named.a", [("name", lit("a"))])]));
    assert_eq!(report.warnings, [""; 0]);
}
