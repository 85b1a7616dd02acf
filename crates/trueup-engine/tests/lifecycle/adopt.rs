//! ADOPT: recovery and adoption.

use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing};

/// ADOPT-1, ADOPT-2, EVENT-1: lost state is recovered by looking.
#[test]
fn ones_own_objects_are_adopted_silently_after_lost_state() {
    let bench = Bench::new();
    let before = program([thing("a", 1), thing("b", 2)]);
    bench.deployed(&before);
    let lost = Bench::in_world(bench.world.clone());
    insta::assert_snapshot!(lost.plan(&before), @r"
    ~ w_thing.a (adopted)
    ~ w_thing.b (adopted)
    Plan: 2 to adopt
    ");
    lost.deployed(&before);
    assert!(lost.heard().contains(&"reconciler.adopt.completed a".to_owned()));
    assert_eq!(lost.world.things(), ["a=1", "b=2"]);
    assert!(lost.plan(&before).ends_with("No changes"));
}

/// RECONCILE-4: what was replaced bears the name of another slot, is found there, and the next replacement takes the first.
#[test]
fn what_was_replaced_is_found_after_lost_state() {
    let coloured = |colour: &str| resource("w_thing.a", [("size", lit(1)), ("colour", lit(colour))]);
    let bench = Bench::new();
    bench.deployed(&program([coloured("red")]));
    bench.deployed(&program([coloured("blue")]));
    let lost = Bench::in_world(bench.world.clone());
    let found = program([coloured("blue")]);
    assert!(lost.plan(&found).contains("adopted"), "{}", lost.plan(&found));
    lost.deployed(&found);
    assert!(lost.plan(&found).ends_with("No changes"));
    let replaced = lost.world.cloud().things.values().next().unwrap().name.clone();
    lost.deployed(&program([coloured("green")]));
    let things = lost.world.cloud().things.clone();
    assert_eq!(things.len(), 1);
    assert_ne!(things.values().next().unwrap().name, replaced);
}

/// ADOPT-2, ADOPT-3
#[test]
fn what_is_someone_elses_is_refused_unless_told_otherwise() {
    let mut bench = Bench::new();
    let program = program([thing("a", 1)]);
    bench.deployed(&program);
    for thing in bench.world.cloud().things.values_mut() {
        thing.tags.clear();
    }
    bench = Bench::in_world(bench.world.clone());
    let refused = bench.refused(&program);
    assert!(
        refused.contains("already exists and is not managed by this stack") && refused.contains("w_thing.a"),
        "{refused}"
    );
    bench.options.plan.adopt = true;
    bench.deployed(&program);
    assert_eq!(bench.world.cloud().things.len(), 1);
    let mut kept = bench;
    kept.options.plan.adopt = true;
    let mut declared = thing("a", 1);
    declared.options.adopt = Some(false);
    let mut fresh = Bench::in_world(kept.world.clone());
    fresh.options.plan.adopt = true;
    let refused = fresh.refused(&crate::lifecycle::world::program([declared]));
    assert!(refused.contains("already exists and is not managed by this stack"), "{refused}");
    // It is no advice to give the flag that was given.
    assert!(
        refused.contains("the resource says `adopt = false`, which counts more than --adopt"),
        "{refused}"
    );
}

/// ADOPT-3: what a resource says counts more than the flag, whichever it is.
#[test]
fn a_resource_may_adopt_without_the_flag() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.world.cloud().things.values_mut().for_each(|thing| thing.tags.clear());
    let lost = Bench::in_world(bench.world.clone());
    let mut adopting = thing("a", 1);
    adopting.options.adopt = Some(true);
    lost.deployed(&program([adopting]));
    assert_eq!(lost.world.cloud().things.len(), 1);
    assert_eq!(lost.records().into_keys().collect::<Vec<_>>(), ["a"]);
}

/// ADOPT-4
#[test]
fn a_type_that_cannot_look_is_never_probed() {
    let bench = Bench::new();
    bench.plan(&program([resource("w_blind.a", [])]));
    assert!(bench.world.calls().is_empty());
}

/// ADOPT-5
#[test]
fn what_is_adopted_is_still_brought_to_its_inputs() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let lost = Bench::in_world(bench.world.clone());
    lost.deployed(&program([thing("a", 5)]));
    assert_eq!(lost.world.things(), ["a=5"]);
}

/// RECONCILE-2: also of a type whose lookup tells inputs; what was found may be half made all the same.
#[test]
fn what_is_adopted_is_reconciled_until_an_update_has_succeeded() {
    let wanted = program([thing("a", 1)]);
    let mut only_adopted = 0;
    for failing_commit in 1.. {
        let bench = Bench::new();
        bench.deployed(&wanted);
        let lost = Bench::in_world(bench.world.clone());
        lost.world.calls();
        let outcome = lost.deploy_with_failing_store(&wanted, failing_commit);
        let called = lost.world.calls();
        if lost.records().contains_key("a") && !called.contains(&"update a".to_owned()) {
            only_adopted += 1;
            lost.deployed(&wanted);
            let called = lost.world.calls();
            assert!(called.contains(&"update a".to_owned()), "{called:?}");
            assert!(lost.plan(&wanted).ends_with("No changes"));
        }
        if outcome == "it succeeded" {
            break;
        }
    }
    assert!(only_adopted > 0);
}

/// RECONCILE-2: an object that was adopted has no olds until it was reconciled once.
#[test]
fn olds_stay_absent_until_an_adopted_object_was_reconciled() {
    let wanted = |size: u64| program([resource("w_database.d", [("name", lit("d")), ("size", lit(size))])]);
    let bench = Bench::new();
    bench.deployed(&wanted(1));
    let lost = Bench::in_world(bench.world.clone());
    lost.world.calls();
    let denied = trueup_core::Failure::new(trueup_core::FailureClass::Denied, "not yours");
    lost.world.fail("reconcile from nothing d", denied);
    assert!(!lost.deploy(&wanted(1)).succeeded());
    lost.deployed(&wanted(1));
    lost.deployed(&wanted(2));
    let mut calls = lost.world.calls();
    calls.retain(|call| call.starts_with("reconcile from"));
    assert_eq!(calls, ["reconcile from nothing d", "reconcile from nothing d", "reconcile from 1 d"]);
}

/// ADOPT-7
#[test]
fn an_import_adopts_by_id() {
    use trueup_program::ImportDeclaration;
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 4)]));
    let other = Bench::in_world(bench.world.clone());
    let mut importing = program([thing("b", 4)]);
    importing.imports = vec![ImportDeclaration::new(address("w_thing.b"), lit("1"))];
    insta::assert_snapshot!(other.plan(&importing), @r"
    ~ w_thing.b (adopted)
    Plan: 1 to adopt
    ");
    other.deployed(&importing);
    assert_eq!(other.world.cloud().things.len(), 1);
    assert!(other.plan(&importing).ends_with("No changes"));
    importing.imports[0].id = lit("77");
    let third = Bench::in_world(bench.world.clone());
    assert!(third.refused(&importing).starts_with("error: cannot plan w_thing.b: "));
}

/// ADOPT-7: the id may come from a data source, and may be a number.
#[test]
fn an_id_may_be_looked_up() {
    use trueup_program::{DataDeclaration, Deferral, Expression, ImportDeclaration, Node};
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 4)]));
    let other = Bench::in_world(bench.world.clone());
    let mut importing = program([thing("b", 4)]);
    let of = Expression::new(Node::Object(vec![("of".into(), lit("x"))]));
    let data = DataDeclaration::new(address("data.w_length.l"), of);
    importing.data.push(DataDeclaration { deferral: Deferral::default(), ..data });
    importing.imports =
        vec![ImportDeclaration::new(address("w_thing.b"), output("data.w_length.l", "length"))];
    assert!(other.plan(&importing).ends_with("Plan: 1 to adopt"), "{}", other.plan(&importing));
    importing.imports[0].id = lit("");
    assert!(other.refused(&importing).contains("must not be empty"));
}

/// ADOPT-11
#[test]
fn an_import_names_a_resource_that_is_declared_and_no_other_names() {
    use trueup_program::ImportDeclaration;
    let bench = Bench::new();
    let import = |to: &str| ImportDeclaration::new(address(to), lit("1"));
    let mut importing = program([thing("b", 4)]);
    importing.imports = vec![import("w_thing.a"), import("w_thing.b"), import("w_thing.b")];
    insta::assert_snapshot!(bench.refused(&importing), @r"
    error: w_thing.a is to be imported, and is not declared (declare it, with the provider and inputs of the object, or remove the import)
    error: two imports name w_thing.b (an address stands for one object: remove one of the imports)
    ");
    assert!(bench.world.calls().is_empty());
}

/// ADOPT-4: what a record holds is not adopted a second time.
#[test]
fn an_object_is_never_held_by_two() {
    use trueup_program::ImportDeclaration;
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 4)]));
    let mut doubled = program([thing("a", 4), thing("b", 4)]);
    doubled.imports = vec![ImportDeclaration::new(address("w_thing.b"), lit("1"))];
    insta::assert_snapshot!(bench.refused(&doubled), @"error: cannot plan w_thing.b: the object that would be w_thing.b is held by w_thing.a: { id = 1 } (if it was renamed, say so with `moved`; if it is being replaced, use `delete_first`) (or deploy the change by which w_thing.a gives it up first, alone)");
}

/// ADOPT-6
#[test]
fn what_cannot_be_looked_for_at_plan_is_looked_for_at_apply() {
    use crate::lifecycle::world::thing_from;
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let lost = Bench::in_world(bench.world.clone());
    // The url of a is not known until it is updated, and so are the inputs of b.
    let grown = program([thing("a", 2), thing_from("b", "a")]);
    assert!(lost.plan(&grown).contains("+ w_thing.b (new)"));
    lost.deployed(&grown);
    assert_eq!(lost.world.things(), ["a=2", "b=1"]);
    assert!(lost.plan(&grown).ends_with("No changes"));
}
