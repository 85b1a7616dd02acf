//! DELETE: delete and destroy.

use trueup_core::{Failure, FailureClass, value};
use trueup_engine::Outcome;
use trueup_state::Status;

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, thing_from, with_output};

/// DELETE-1, DELETE-4, DELETE-6
#[test]
fn destroy_deletes_everything_dependents_first() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing_from("c", "b")]));
    bench.world.calls();
    assert!(bench.destroy().succeeded());
    assert_eq!(bench.world.calls(), ["delete c", "delete b", "delete a"]);
    assert!(bench.records().is_empty() && bench.world.things().is_empty());
    assert!(bench.destroy().plan.is_empty());
}

/// DELETE-1
#[test]
fn independent_resources_are_deleted_together_up_to_the_limit() {
    for parallelism in [1, 5] {
        let mut bench = Bench::new();
        bench.options.plan.parallelism = parallelism;
        let mut all = program([]);
        all.resources = (0..12).map(|at| thing(&format!("t{at}"), 1)).collect();
        bench.deployed(&all);
        assert!(bench.destroy().succeeded());
        assert_eq!(bench.world.cloud().peak("delete"), parallelism);
    }
}

/// ADOPT-8: what is declared and was never made is not looked for.
#[test]
fn planning_a_destroy_looks_nothing_up() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.world.calls();
    assert!(bench.destroy_of(&program([thing("a", 1), thing("never", 1)])).succeeded());
    assert_eq!(bench.world.calls(), ["delete a"]);
}

/// DELETE-2
#[test]
fn what_is_gone_already_counts_as_deleted() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.world.cloud().things.clear();
    assert!(bench.destroy().succeeded());
    assert!(bench.records().is_empty());
}

/// DELETE-3
#[test]
fn a_failed_delete_keeps_its_record_and_blocks_only_what_it_uses() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]));
    bench.world.fail("delete b", Failure::new(FailureClass::Conflict, "in use"));
    let report = bench.destroy();
    assert!(matches!(report.outcome("w_thing.b"), Some(Outcome::Failed(_))));
    assert!(matches!(report.outcome("w_thing.a"), Some(Outcome::Skipped(cause)) if cause.name() == "b"));
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["a", "b"]);
    assert!(bench.destroy().succeeded());
    assert!(bench.world.things().is_empty());
}

/// DELETE-7
#[test]
fn what_is_retained_is_forgotten_without_a_call() {
    let bench = Bench::new();
    let mut retained = thing("a", 1);
    retained.options.retain = true;
    bench.deployed(&program([retained]));
    bench.world.calls();
    assert!(bench.destroy().succeeded());
    assert!(bench.world.calls().is_empty() && bench.records().is_empty());
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// DELETE-8
#[test]
fn destroy_needs_no_sound_program() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let unsound = program([thing("a", 1), thing("a", 2), thing_from("b", "nowhere")]);
    assert!(bench.destroy_of(&unsound).succeeded());
    assert!(bench.world.things().is_empty());
}

/// DELETE-4: outputs go with the resources that they refer to.
#[test]
fn a_destroyed_stack_has_no_outputs() {
    let bench = Bench::new();
    let whole = || with_output(program([thing("a", 1)]), "url", output("w_thing.a", "url"));
    assert!(bench.deployed(&whole()).outputs.is_some_and(|outputs| outputs.get("url").is_some()));
    let report = bench.destroy_of(&whole());
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(report.outputs, Some(value!({})));
}

/// DELETE-9
#[test]
fn what_another_record_holds_is_dropped_and_not_deleted() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let object = bench.records().remove("a").unwrap().current.unwrap().object.unwrap();
    bench.record_by_hand("w_thing.b", object);
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// DELETE-9: whichever goes last deletes it. Both used to leave it to each other, and the run said "2 deleted".
#[test]
fn what_two_records_hold_is_deleted_once_when_both_go() {
    for parallelism in [1, 8] {
        let mut bench = Bench::new();
        bench.options.plan.parallelism = parallelism;
        bench.deployed(&program([thing("a", 1)]));
        let object = bench.records().remove("a").unwrap().current.unwrap().object.unwrap();
        bench.record_by_hand("w_thing.b", object);
        bench.deployed(&program([]));
        assert_eq!(bench.world.things(), [""; 0]);
        assert!(bench.records().is_empty());
        let deletes = bench.world.calls().into_iter().filter(|call| call.starts_with("delete")).count();
        assert_eq!(deletes, 1, "parallelism {parallelism}");
    }
}

/// DELETE-13: a server that has one object for both creates gives the new resource the one that is being deleted. It used to
/// count as created, and its dependents were created on an object that was gone.
#[test]
fn a_create_that_is_answered_with_what_this_run_deletes_fails_and_the_next_run_makes_it() {
    let mut bench = Bench::new();
    bench.options.plan.parallelism = 8;
    bench.deployed(&program([thing("a", 1)]));
    let shared = bench.world.by_name("a");
    bench.world.cloud().shared = shared;
    let renamed = program([thing("b", 1), thing_from("user", "b")]);
    let report = bench.deploy(&renamed);
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.b") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.class, FailureClass::Conflict);
    assert!(failure.message.contains("w_thing.a, which this run deletes"), "{}", failure.message);
    assert!(bench.records()["b"].current.as_ref().unwrap().attempt().is_some(), "it stays unfinished");
    assert!(matches!(report.outcome("w_thing.user"), Some(Outcome::Skipped(_))), "{:?}", report.outcomes);
    assert_eq!(bench.world.things(), [""; 0]);
    bench.world.cloud().shared = None;
    bench.deployed(&renamed);
    assert_eq!(bench.world.things(), ["b=1", "user=1"]);
    assert_eq!(bench.records().len(), 2);
}

/// DELETE-5
#[test]
fn an_interrupted_delete_is_finished_and_what_is_declared_again_is_made_anew() {
    for declared_again in [false, true] {
        let bench = Bench::new();
        bench.deployed(&program([thing("a", 1)]));
        let first = bench.world.by_name("a");
        bench.world.fail("delete a", Failure::new(FailureClass::Indeterminate, "the connection broke"));
        assert!(!bench.deploy(&program([])).succeeded());
        assert_eq!(bench.records()["a"].current.as_ref().unwrap().status, Status::Deleting);
        let next = if declared_again { program([thing("a", 1)]) } else { program([]) };
        bench.deployed(&next);
        assert_ne!(bench.world.by_name("a"), first);
        match declared_again {
            false => assert!(bench.records().is_empty()),
            true => assert_eq!(bench.records()["a"].current.as_ref().unwrap().number.0, 1),
        }
    }
}

/// DELETE-10: what is in use stays as it is; whoever wants it again has it.
#[test]
fn a_delete_that_is_refused_leaves_the_object_as_it_was() {
    for class in [FailureClass::Conflict, FailureClass::Denied] {
        let bench = Bench::new();
        bench.deployed(&program([thing("a", 1)]));
        let first = bench.world.by_name("a");
        bench.world.fail("delete a", Failure::new(class.clone(), "it is in use"));
        assert!(!bench.deploy(&program([])).succeeded());
        assert_eq!(bench.records()["a"].current.as_ref().unwrap().status, Status::Ready);
        assert!(bench.plan(&program([thing("a", 1)])).ends_with("No changes"));
        bench.deployed(&program([thing("a", 1)]));
        assert_eq!(bench.world.by_name("a"), first);
        bench.world.fail("delete a", Failure::new(class, "it is in use"));
        assert!(!bench.deploy(&program([])).succeeded());
        bench.deployed(&program([]));
        assert!(bench.records().is_empty() && bench.world.things().is_empty());
    }
}

/// DELETE-10, CRASH-2: of what was never finished nothing can stay as it was.
#[test]
fn a_refused_delete_of_half_an_object_stays_a_delete() {
    let bench = Bench::new();
    bench.world.fail("created a", Failure::new(FailureClass::Denied, "half-way"));
    assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
    assert_ne!(bench.records()["a"].current.as_ref().unwrap().status, Status::Ready);
    bench.world.fail("delete a", Failure::new(FailureClass::Conflict, "it is in use"));
    assert!(!bench.deploy(&program([])).succeeded());
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().status, Status::Deleting);
}

/// DELETE-1, CRASH-6: also when what it used is deleted before it is made anew.
#[test]
fn an_interrupted_delete_is_finished_before_what_it_used_is_deleted() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    bench.world.fail("delete b", Failure::new(FailureClass::Indeterminate, "the connection broke"));
    assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
    bench.world.calls();
    let mut blue = resource("w_thing.a", [("colour", lit("blue"))]);
    blue.options.delete_first = Some(true);
    bench.deployed(&program([blue, thing_from("b", "a")]));
    let mut calls = bench.world.calls();
    calls.retain(|call| call.starts_with("delete") || call.starts_with("create "));
    assert_eq!(calls, ["delete b", "delete a", "create a", "create b"]);
}
