//! REPLACE: replacement.

use trueup_core::{Failure, FailureClass};
use trueup_engine::{Action, Outcome};
use trueup_program::ResourceDeclaration;

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, thing_from};

fn coloured(colour: &str) -> ResourceDeclaration {
    resource("w_thing.a", [("colour", lit(colour))])
}

fn position(calls: &[String], call: &str) -> usize {
    calls.iter().position(|own| own == call).unwrap_or_else(|| panic!("{call}: {calls:?}"))
}

/// REPLACE-1, REPLACE-7
#[test]
fn the_new_object_comes_first_then_dependents_then_the_old_one_goes() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("red"), thing_from("b", "a")]));
    bench.world.calls();
    bench.deployed(&program([coloured("blue"), thing_from("b", "a")]));
    let calls = bench.world.calls();
    assert!(position(&calls, "create a") < position(&calls, "update b"));
    assert!(position(&calls, "update b") < position(&calls, "delete a"));
    let record = bench.records().remove("a").unwrap();
    assert_eq!((record.current.unwrap().number.0, record.deposed.len()), (1, 0));
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    let url = |name: &str| format!("\"thing/{}/1\"", bench.world.by_name(name).unwrap());
    let seen =
        bench.records()["b"].current.as_ref().unwrap().inputs().unwrap().effective.get("from").cloned();
    assert_eq!(seen.unwrap().to_string(), url("a"));
    assert!(bench.plan(&program([coloured("blue"), thing_from("b", "a")])).ends_with("No changes"));
}

/// REPLACE-2
#[test]
fn delete_first_deletes_before_it_creates() {
    let bench = Bench::new();
    let declared = |colour: &str| {
        let mut declared = coloured(colour);
        declared.options.delete_first = Some(true);
        program([declared])
    };
    bench.deployed(&declared("red"));
    bench.world.calls();
    assert!(bench.plan(&declared("blue")).contains("± w_thing.a delete first"));
    let report = bench.deployed(&declared("blue"));
    let calls = bench.world.calls();
    assert!(position(&calls, "delete a") < position(&calls, "create a"));
    assert_eq!(report.outcome("w_thing.a"), Some(&Outcome::Done(Action::Replace)));
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().number.0, 1);
}

/// REPLACE-2, CRUD-7: nothing is deleted for the sake of something that cannot be made.
#[test]
fn inputs_are_validated_before_anything_is_deleted_first() {
    let bench = Bench::new();
    let declared = |of: &str, colour: &str, size: u64| {
        let mut declared = resource(of, [("colour", lit(colour)), ("size", lit(size))]);
        declared.options.delete_first = Some(true);
        declared
    };
    bench.deployed(&program([declared("w_thing.a", "red", 1), declared("w_thing.b", "red", 1)]));
    let before = bench.records();
    bench.world.calls();
    let report =
        bench.deploy(&program([declared("w_thing.a", "blue", 1), declared("w_thing.b", "blue", 13)]));
    assert!(
        matches!(report.outcome("w_thing.b"), Some(Outcome::Failed(it)) if it.message == "thirteen is unlucky")
    );
    assert!(
        matches!(report.outcome("w_thing.a"), Some(Outcome::Failed(it)) if it.message.contains("w_thing.b"))
    );
    assert!(!bench.world.calls().iter().any(|call| call.starts_with("delete")));
    assert_eq!(bench.records(), before);
}

/// REPLACE-5
#[test]
fn a_failed_dependent_keeps_the_old_generation_until_a_later_run() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("red"), thing_from("b", "a")]));
    bench.world.fail("update b", Failure::new(FailureClass::Denied, "not yours"));
    let after = program([coloured("blue"), thing_from("b", "a")]);
    assert!(!bench.deploy(&after).succeeded());
    assert_eq!(bench.records()["a"].deposed.len(), 1);
    assert_eq!(bench.world.cloud().things.len(), 3);
    bench.deployed(&after);
    assert!(bench.records()["a"].deposed.is_empty());
    assert_eq!(bench.world.cloud().things.len(), 2);
}

/// REPLACE-6
#[test]
fn a_failed_delete_of_the_old_one_is_told_and_tried_again() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("red")]));
    bench.world.fail("delete a", Failure::new(FailureClass::Denied, "not yours"));
    let report = bench.deploy(&program([coloured("blue")]));
    assert!(report.outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed(_))));
    assert!(report.outcomes.iter().any(|(_, outcome)| *outcome == Outcome::Done(Action::Replace)));
    insta::assert_snapshot!(bench.plan(&program([coloured("blue")])), @r"
    • w_thing.a (clean-up)
        deposed generation 0
    Plan: 1 to clean up
    ");
    bench.deployed(&program([coloured("blue")]));
    assert_eq!(bench.world.cloud().things.len(), 1);
}

/// REPLACE-4
#[test]
fn a_replacement_during_a_replacement_starts_a_further_generation() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("red")]));
    for colour in ["blue", "green"] {
        bench.world.fail("delete a", Failure::new(FailureClass::Denied, "not yours"));
        bench.deploy(&program([coloured(colour)]));
        bench.world.fail("delete a", Failure::new(FailureClass::Denied, "not yours"));
    }
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().number.0, 2);
    for _ in 0..3 {
        bench.deploy(&program([coloured("green")]));
    }
    bench.deployed(&program([coloured("green")]));
    assert_eq!(bench.world.cloud().things.len(), 1);
    assert!(bench.records()["a"].deposed.is_empty());
}

/// REPLACE-8
#[test]
fn a_retained_object_stays_and_is_dropped_from_state() {
    let bench = Bench::new();
    let declared = |colour: &str| {
        let mut declared = coloured(colour);
        declared.options.retain = true;
        program([declared])
    };
    bench.deployed(&declared("red"));
    bench.deployed(&declared("blue"));
    assert_eq!((bench.world.cloud().things.len(), bench.records()["a"].deposed.len()), (2, 0));
    // What is left alone keeps its name: nobody else gets it, and nobody takes it for their own (RECONCILE-4).
    bench.deployed(&declared("green"));
    bench.deployed(&declared("grey"));
    let names: std::collections::BTreeSet<String> =
        bench.world.cloud().things.values().map(|thing| thing.name.clone()).collect();
    assert_eq!(names.len(), 4);
}

/// REPLACE-8: what is never deleted cannot be deleted first.
#[test]
fn a_retained_object_is_replaced_create_first_or_not_at_all() {
    let bench = Bench::new();
    let retained = |mut declared: ResourceDeclaration| {
        declared.options.retain = true;
        declared.options.delete_first = Some(true);
        program([declared])
    };
    bench.deployed(&retained(coloured("red")));
    assert!(bench.plan(&retained(coloured("blue"))).contains("create first"));
    let named = |colour: &str| resource("w_named.n", [("name", lit("x")), ("colour", lit(colour))]);
    bench.deployed(&retained(named("red")));
    let told = "w_named.n is retained, and what replaces it would have the same identity";
    assert!(bench.refused(&retained(named("blue"))).contains(told));
}

/// REPLACE-9
#[test]
fn what_is_protected_is_neither_replaced_nor_deleted_even_undeclared() {
    let bench = Bench::new();
    let mut declared = coloured("red");
    declared.options.protect = true;
    bench.deployed(&program([declared.clone()]));
    declared.inputs = coloured("blue").inputs;
    insta::assert_snapshot!(bench.refused(&program([declared])), @"error: w_thing.a is protected and would be replaced (remove its protection from the program (`prevent_destroy`, `protect`))");
    insta::assert_snapshot!(bench.refused(&program([])), @"error: w_thing.a is protected and would be deleted (run `trueup state unprotect w_thing.a` first)");
}

/// REPLACE-9: of what is declared, the program's word counts, and not to say it is to say no.
#[test]
fn what_the_program_no_longer_protects_is_replaced() {
    let bench = Bench::new();
    let mut declared = coloured("red");
    declared.options.protect = true;
    bench.deployed(&program([declared]));
    bench.deployed(&program([coloured("blue")]));
    let record = bench.records().remove("a").unwrap();
    assert_eq!((record.current.unwrap().number.0, record.meta.protect), (1, false));
}

/// REPLACE-2: what would have to be deleted first, and may not be, stops the plan.
#[test]
fn what_is_protected_or_created_first_is_not_dragged_into_a_delete_first() {
    let bench = Bench::new();
    let with = |colour: &str, change: &dyn Fn(&mut ResourceDeclaration)| {
        let mut first = coloured(colour);
        first.options.delete_first = Some(true);
        let mut on = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        change(&mut on);
        program([first, on])
    };
    let create_first = |it: &mut ResourceDeclaration| it.options.delete_first = Some(false);
    let protected = |it: &mut ResourceDeclaration| it.options.protect = true;
    bench.deployed(&with("red", &|_| {}));
    assert!(bench.plan(&with("blue", &|_| {})).contains("± w_thing.b delete first"));
    for refusing in [&create_first as &dyn Fn(&mut ResourceDeclaration), &protected] {
        let refused = bench.refused(&with("blue", refusing));
        assert!(refused.starts_with("error: w_thing.b "), "{refused}");
    }
}

/// REPLACE-10
#[test]
fn an_unchanged_identity_is_replaced_delete_first_and_never_shared() {
    let bench = Bench::new();
    let named = |address: &str, name: &str, colour: &str| {
        resource(address, [("name", lit(name)), ("colour", lit(colour))])
    };
    bench.deployed(&program([named("w_named.a", "x", "red")]));
    insta::assert_snapshot!(bench.plan(&program([named("w_named.a", "x", "blue")])), @r#"
    ± w_named.a delete first (inputs, same-identity)
        colour: "red" -> "blue" forces replacement
    Plan: 1 to replace
    "#);
    let twins = program([named("w_named.a", "x", "red"), named("w_named.b", "x", "red")]);
    let told = r#"have one identity: { name = "x" } (give one another identity; if it was renamed, say so with `moved`)"#;
    assert_eq!(bench.refused(&twins), format!("error: w_named.a and w_named.b {told}"));
    let renamed = program([named("w_named.c", "x", "red")]);
    assert_eq!(bench.refused(&renamed), format!("error: w_named.c and w_named.a {told}"));
}

/// REPLACE-5, DELETE-1: what an older generation that has to stay still uses, stays too.
#[test]
fn an_older_generation_outlives_the_older_ones_that_use_it() {
    let bench = Bench::new();
    let declared = |colour: &str, size: u64| {
        let middle = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        let user = resource("w_thing.c", [("size", lit(size)), ("from", output("w_thing.b", "url"))]);
        program([resource("w_thing.a", [("colour", lit(colour))]), middle, user])
    };
    bench.deployed(&declared("red", 1));
    bench.world.fail("update c", Failure::new(FailureClass::Denied, "not now"));
    assert!(!bench.deploy(&declared("blue", 1)).succeeded());
    let deposed = |name: &str| bench.records()[name].deposed.len();
    assert_eq!((deposed("a"), deposed("b")), (1, 1), "b's older generation uses that of a");
    bench.deployed(&declared("blue", 1));
    assert_eq!((deposed("a"), deposed("b")), (0, 0));
}

/// REPLACE-5, DELETE-3: what is removed too, if an older generation that has to stay still uses it.
#[test]
fn an_older_generation_outlives_what_it_used_and_is_removed() {
    let bench = Bench::new();
    let user = || resource("w_thing.c", [("from", output("w_thing.b", "url"))]);
    let middle = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
    bench.deployed(&program([resource("w_thing.a", []), middle, user()]));
    bench.world.fail("update c", Failure::new(FailureClass::Denied, "not now"));
    let after = || program([resource("w_thing.b", [("colour", lit("blue"))]), user()]);
    assert!(!bench.deploy(&after()).succeeded());
    assert!(bench.world.by_name("a").is_some(), "b's older generation uses it");
    bench.deployed(&after());
    assert_eq!(bench.world.things(), ["b=1", "c=1"]);
}

/// REPLACE-5, APPLY-9: what no longer refers to it uses the old generation for as long as its own update has not
/// succeeded.
#[test]
fn an_old_generation_stays_until_former_users_have_moved_off() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    bench.world.calls();
    bench.world.fail("update b", Failure::new(FailureClass::Denied, "no"));
    let after = program([resource("w_thing.a", [("colour", lit("blue"))]), thing("b", 5)]);
    assert!(!bench.deploy(&after).succeeded());
    let calls = bench.world.calls();
    assert!(!calls.contains(&"delete a".to_owned()), "{calls:?}");
    bench.deployed(&after);
    assert!(bench.world.calls().contains(&"delete a".to_owned()));
}

/// REPLACE-5, DELETE-3: what an older generation uses stays for as long as that one does.
#[test]
fn a_clean_up_that_is_refused_keeps_what_the_older_generation_uses() {
    let bench = Bench::new();
    let on = || resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
    bench.deployed(&program([coloured("red"), on()]));
    for _ in 0..2 {
        bench.world.calls();
        bench.world.fail("delete b", Failure::new(FailureClass::Conflict, "something uses it"));
        assert!(!bench.deploy(&program([coloured("blue"), on()])).succeeded());
        assert!(!bench.world.calls().contains(&"delete a".to_owned()));
    }
    bench.deployed(&program([coloured("blue"), on()]));
    assert_eq!(bench.world.things().len(), 2);
}

/// DELETE-1: older generations go in the order in which they used each other, not in the one their resources have now.
#[test]
fn older_generations_are_cleaned_up_in_their_own_order() {
    let bench = Bench::new();
    let on = |name: &str, other: &str| {
        resource(&format!("w_thing.{name}"), [("colour", output(&format!("w_thing.{other}"), "url"))])
    };
    let alone = |name: &str| resource(&format!("w_thing.{name}"), [("colour", lit("blue"))]);
    bench.deployed(&program([resource("w_thing.a", []), on("b", "a")]));
    bench.world.fail("delete a", Failure::new(FailureClass::Denied, "not now"));
    bench.world.fail("delete b", Failure::new(FailureClass::Denied, "not now"));
    assert!(!bench.deploy(&program([on("a", "b"), alone("b")])).succeeded());
    bench.world.forget_failures();
    bench.world.calls();
    bench.deployed(&program([on("a", "b"), alone("b")]));
    let deletes: Vec<String> =
        bench.world.calls().into_iter().filter(|call| call.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete b", "delete a"]);
}
