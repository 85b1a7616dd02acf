//! What a failed delete leaves of an object, and what is made in place of one that is deleted first.

use trueup_core::{Failure, FailureClass, Value, value};
use trueup_engine::Outcome;
use trueup_program::{MoveDeclaration, ResourceDeclaration};

use crate::lifecycle::scripted::{Mishap, bench};
use crate::lifecycle::world::{Bench, address, lit, program, resource};

fn coloured(name: &str, colour: &str) -> ResourceDeclaration {
    resource(&format!("h_thing.{name}"), [("colour", lit(colour))])
}

fn delete_first(name: &str, colour: &str) -> ResourceDeclaration {
    let mut declared = coloured(name, colour);
    declared.options.delete_first = Some(true);
    declared
}

fn fails(class: FailureClass) -> Mishap {
    Mishap::Fail(Failure::new(class, "half-way"))
}

fn recorded_outputs(bench: &Bench, of: &str) -> Value {
    bench.records()[of].current.as_ref().unwrap().object.as_ref().unwrap().outputs.clone()
}

/// DELETE-14
#[test]
fn what_a_failed_delete_leaves_is_recorded_and_deleted_by_the_next_run() {
    let (bench, script) = bench();
    bench.deployed(&program([coloured("a", "red")]));
    script.leave(value!({ shown: "half" }));
    script.mishap("delete", fails(FailureClass::Fatal));
    assert!(!bench.deploy(&program([])).succeeded());
    assert_eq!(recorded_outputs(&bench, "a"), value!({ shown: "half" }));
    bench.deployed(&program([]));
    assert_eq!(script.deleted(), [value!({ shown: "a-0" }), value!({ shown: "half" })]);
    assert!(bench.records().is_empty());
}

/// DELETE-14, RETRY-1
#[test]
fn a_delete_is_repeated_on_what_is_left() {
    let (bench, script) = bench();
    bench.deployed(&program([coloured("a", "red")]));
    script.leave(value!({ shown: "half" }));
    script.mishap("delete", fails(FailureClass::Retryable));
    bench.deployed(&program([]));
    assert_eq!(script.deleted(), [value!({ shown: "a-0" }), value!({ shown: "half" })]);
}

/// DELETE-14, DELETE-10: what is left of an object whose delete was refused stays recorded.
#[test]
fn what_a_refused_delete_leaves_is_recorded() {
    let (bench, script) = bench();
    bench.deployed(&program([coloured("a", "red")]));
    script.leave(value!({ shown: "half" }));
    script.mishap("delete", fails(FailureClass::Conflict));
    let report = bench.deploy(&program([]));
    assert!(matches!(report.outcome("h_thing.a"), Some(Outcome::Failed(_))), "{:?}", report.outcomes);
    assert_eq!(recorded_outputs(&bench, "a"), value!({ shown: "half" }));
}

/// REPLACE-2, CRUD-7, RECONCILE-4: before the old object goes, the new one is judged by the name that it will have.
#[test]
fn what_is_deleted_first_is_judged_as_the_generation_that_replaces_it() {
    let (bench, script) = bench();
    bench.deployed(&program([coloured("a", "red")]));
    // Another generation beside it, so that the free slot is not the number.
    bench.deployed(&program([coloured("a", "green")]));
    script.checked();
    bench.deployed(&program([delete_first("a", "blue")]));
    let checked = script.checked();
    assert_eq!(checked[0], (2, 0, "h_thing.a".to_owned()));
    assert!(checked.iter().all(|it| *it == checked[0]), "before the delete and after: {checked:?}");

    // An object that stays where it is keeps its slot, and a moved resource its names.
    let mut retained = delete_first("b", "red");
    retained.options.retain = true;
    let mut moved = program([retained]);
    moved.moves =
        vec![MoveDeclaration { from: address("h_thing.a").into(), to: address("h_thing.b").into() }];
    bench.deployed(&moved);
    let checked = script.checked();
    assert_eq!(checked[0], (3, 1, "h_thing.a".to_owned()));
    assert!(checked.iter().all(|it| *it == checked[0]), "{checked:?}");
}
