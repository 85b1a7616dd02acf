//! Replacements in both orders, removals and re-wirings, mixed: what the laws over random programs once found (INV-10).

use trueup_core::{Failure, FailureClass};
use trueup_program::{Program, ResourceDeclaration};

use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing, thing_from};

fn coloured(of: &str, colour: &str) -> ResourceDeclaration {
    resource(of, [("colour", lit(colour))])
}

fn painted(of: &str, by: &str) -> ResourceDeclaration {
    resource(of, [("colour", output(by, "url"))])
}

fn delete_first(mut declared: ResourceDeclaration) -> ResourceDeclaration {
    declared.options.delete_first = Some(true);
    declared
}

fn position(calls: &[String], call: &str) -> usize {
    calls.iter().position(|own| own == call).unwrap_or_else(|| panic!("{call}: {calls:?}"))
}

fn calls(before: &Program, after: &Program) -> Vec<String> {
    let bench = Bench::new();
    bench.deployed(before);
    bench.world.calls();
    bench.deployed(after);
    bench.world.calls()
}

/// REPLACE-2
#[test]
fn a_dependent_that_is_only_updated_between_two_that_are_deleted_first() {
    let with = |colour: &str| {
        let mut c = painted("w_thing.c", "w_thing.a");
        c.depends_on = vec![address("w_thing.b")];
        program([delete_first(coloured("w_thing.a", colour)), thing_from("b", "a"), c])
    };
    calls(&with("red"), &with("blue"));
}

/// INV-10
#[test]
fn a_dependency_turned_round_while_both_are_replaced() {
    let red = |name: &str| ("colour", lit(name));
    let from = |name: &str| ("from", output(&format!("w_thing.{name}"), "url"));
    let before =
        program([resource("w_thing.a", [red("red")]), resource("w_thing.b", [red("red"), from("a")])]);
    let after =
        program([resource("w_thing.a", [red("blue"), from("b")]), resource("w_thing.b", [red("blue")])]);
    calls(&before, &after);
}

/// APPLY-9, REPLACE-2
#[test]
fn the_middle_of_a_chain_is_removed_while_its_end_is_deleted_first() {
    let e = |colour: &str| delete_first(coloured("w_thing.e", colour));
    calls(
        &program([e("red"), thing_from("x", "e"), thing_from("d", "x")]),
        &program([e("blue"), thing_from("d", "e")]),
    );
}

/// REPLACE-2
#[test]
fn delete_first_holds_for_what_was_only_perhaps_replaced() {
    let with = |size| program([thing("a", size), delete_first(painted("w_thing.b", "w_thing.a"))]);
    let calls = calls(&with(1), &with(2));
    assert!(position(&calls, "delete b") < position(&calls, "create b"), "{calls:?}");
}

/// INV-10, DELETE-1
#[test]
fn an_old_generation_goes_before_what_it_used() {
    let before = program([thing("a", 1), painted("w_thing.b", "w_thing.a")]);
    let calls = calls(&before, &program([coloured("w_thing.b", "red")]));
    assert!(position(&calls, "delete b") < position(&calls, "delete a"), "{calls:?}");
}

/// CRASH-1, CRASH-7
#[test]
fn a_cut_off_create_whose_replace_field_changed_takes_one_run() {
    for waits in 0.. {
        let bench = Bench::new();
        let finished = bench.deploy_cut_off(&program([coloured("w_token.a", "red")]), waits);
        bench.deployed(&program([coloured("w_token.a", "blue")]));
        if finished {
            break;
        }
    }
}

/// CRASH-1
#[test]
fn a_cut_off_create_is_looked_for_with_its_own_inputs() {
    let with = |size, colour: &str| {
        let b = resource("w_thing.b", [("colour", lit(colour)), ("from", output("w_thing.a", "url"))]);
        program([thing("a", size), b])
    };
    for waits in 0.. {
        let bench = Bench::new();
        bench.deployed(&program([thing("a", 1)]));
        let finished = bench.deploy_cut_off(&with(1, "red"), waits);
        bench.deployed(&with(2, "blue"));
        if finished {
            break;
        }
    }
}

/// INV-10, APPLY-9
#[test]
fn what_is_moved_off_is_moved_before_the_old_one_is_deleted_first() {
    let a = |colour: &str| delete_first(coloured("w_thing.a", colour));
    let calls = calls(&program([a("red"), thing_from("b", "a")]), &program([a("blue"), thing("b", 1)]));
    assert!(position(&calls, "update b") < position(&calls, "delete a"), "{calls:?}");
}

/// INV-10, DELETE-1
#[test]
fn an_old_generation_goes_before_what_it_used_is_deleted_first() {
    let a = |colour: &str| delete_first(coloured("w_thing.a", colour));
    let calls = calls(
        &program([a("red"), painted("w_thing.b", "w_thing.a")]),
        &program([a("blue"), coloured("w_thing.b", "red")]),
    );
    assert!(position(&calls, "delete b") < position(&calls, "delete a"), "{calls:?}");
}

/// PLAN-12
#[test]
fn what_is_retained_and_undeclared_cannot_be_depended_on() {
    let bench = Bench::new();
    let mut retained = thing("a", 1);
    retained.options.retain = true;
    bench.deployed(&program([retained, thing_from("b", "a")]));
    let refused = bench.refused(&program([thing_from("b", "a")]));
    assert!(refused.contains("not declared"), "{refused}");
}

/// REPLACE-2, DELETE-1: also through what is no longer declared.
#[test]
fn what_is_deleted_first_takes_along_what_uses_it_through_something_removed() {
    let bench = Bench::new();
    let first = |colour: &str| {
        let mut first = resource("w_thing.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        first
    };
    let on = |name: &str, other: &str| {
        resource(&format!("w_thing.{name}"), [("colour", output(&format!("w_thing.{other}"), "url"))])
    };
    bench.deployed(&program([first("red"), on("b", "a"), on("c", "b")]));
    bench.world.calls();
    bench.deployed(&program([first("blue"), resource("w_thing.c", [("colour", lit("red"))])]));
    let mut calls = bench.world.calls();
    calls.retain(|call| call.starts_with("delete"));
    assert_eq!(calls, ["delete c", "delete b", "delete a"]);
}

/// REPLACE-2, CRASH-1: also what a run that was cut off may have made, and no record knows yet.
#[test]
fn what_is_deleted_first_takes_along_what_was_being_created_on_it() {
    // What is found by looking, what is found by its token, and what does not tell its inputs when it is found.
    for (kind, field) in [("w_thing", "colour"), ("w_token", "colour"), ("w_jar", "host")] {
        let all = |colour: &str| {
            let mut first = resource("w_thing.a", [("colour", lit(colour))]);
            first.options.delete_first = Some(true);
            let on = resource(&format!("{kind}.b"), [(field, output("w_thing.a", "url"))]);
            program([first, on])
        };
        for waits in 0.. {
            let bench = Bench::new();
            let finished = bench.deploy_cut_off(&all("red"), waits);
            let left = bench.world.things();
            bench.world.calls();
            bench.deployed(&all("blue"));
            let mut calls = bench.world.calls();
            calls.retain(|call| call.starts_with("delete"));
            if left.len() == 2 {
                assert_eq!(calls, ["delete b", "delete a"], "{kind} cut off after {waits} waits");
            }
            assert_eq!(bench.world.things().len(), 2, "{kind} cut off after {waits} waits");
            assert!(bench.plan(&all("blue")).ends_with("No changes"), "{kind} cut off after {waits} waits");
            if finished {
                break;
            }
        }
    }
}

/// REPLACE-2, CRASH-5: also older generations that a run that was cut off has left.
#[test]
fn what_is_deleted_first_takes_along_older_generations_that_use_it() {
    let all = |colour: &str| {
        let mut first = resource("w_thing.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        program([first, resource("w_thing.b", [("colour", output("w_thing.a", "url"))])])
    };
    let mut left_older = 0;
    for waits in 0.. {
        let mut bench = Bench::new();
        bench.deployed(&all("red"));
        bench.options.plan.replace = vec!["w_thing.b".parse().unwrap()];
        let finished = bench.deploy_cut_off(&all("red"), waits);
        bench.options.plan.replace.clear();
        left_older += usize::from(bench.records()["b"].generations().count() > 1);
        bench.world.calls();
        bench.deployed(&all("blue"));
        let mut calls = bench.world.calls();
        calls.retain(|call| call.starts_with("delete"));
        assert_eq!(calls.last().map(String::as_str), Some("delete a"), "{waits} waits: {calls:?}");
        assert_eq!(bench.world.things().len(), 2, "cut off after {waits} waits");
        assert!(bench.plan(&all("blue")).ends_with("No changes"), "cut off after {waits} waits");
        if finished {
            break;
        }
    }
    assert!(left_older > 0);
}

/// REPLACE-2, DELETE-1: what is removed goes before what it stands on is deleted first, even if an older generation of
/// something else may still use it.
#[test]
fn what_is_removed_does_not_wait_for_a_clean_up_if_what_it_uses_is_deleted_first() {
    let first = |colour: &str| {
        let mut first = resource("w_thing.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        first
    };
    let before = || {
        let on = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        let mut after = resource("w_thing.c", []);
        after.depends_on = vec![address("w_thing.b")];
        program([first("red"), on, after])
    };
    for waits in 0.. {
        let mut bench = Bench::new();
        bench.deployed(&before());
        bench.options.plan.replace = vec!["w_thing.c".parse().unwrap()];
        let finished = bench.deploy_cut_off(&before(), waits);
        bench.options.plan.replace.clear();
        bench.world.calls();
        bench.deployed(&program([first("blue"), resource("w_thing.c", [])]));
        let mut calls = bench.world.calls();
        calls.retain(|call| ["delete a", "delete b"].contains(&call.as_str()));
        assert_eq!(calls, ["delete b", "delete a"], "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}

/// REPLACE-2, CRASH-1: what may have been made keeps its identity to itself, too.
#[test]
fn what_was_being_created_is_deleted_first_if_its_replacement_has_the_same_identity() {
    let bench = Bench::new();
    let named =
        |colour: &str| program([resource("w_named.a", [("name", lit("x")), ("colour", lit(colour))])]);
    bench.world.fail("reconcile a", Failure::new(FailureClass::Indeterminate, "no answer"));
    assert!(!bench.deploy(&named("red")).succeeded());
    let plan = bench.plan(&named("blue"));
    assert!(plan.contains("delete first (recovered, same-identity)"), "{plan}");
    bench.world.calls();
    bench.deployed(&named("blue"));
    assert_eq!(bench.world.calls(), ["reconcile a", "delete a", "reconcile a"]);
}

/// REPLACE-5, DELETE-3: what is removed with older generations of its own does not keep those of others.
#[test]
fn one_run_cleans_up_what_a_removed_resource_used_in_all_its_generations() {
    let coloured = |name: &str, colour| resource(&format!("w_thing.{name}"), [("colour", colour)]);
    let chain = |colour: &str| {
        let url = |of: &str| output(&format!("w_thing.{of}"), "url");
        program([coloured("a", lit(colour)), coloured("b", url("a")), coloured("c", url("b"))])
    };
    for waits in 0.. {
        let bench = Bench::new();
        bench.deployed(&chain("red"));
        let finished = bench.deploy_cut_off(&chain("blue"), waits);
        let after = program([coloured("a", lit("blue")), coloured("c", lit("red"))]);
        bench.deployed(&after);
        assert_eq!(bench.world.things().len(), 2, "cut off after {waits} waits");
        assert!(bench.plan(&after).ends_with("No changes"), "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}

/// CRASH-6, APPLY-1: each delete is finished in its place, and nothing waits for itself.
#[test]
fn deletes_that_were_refused_one_after_another_are_finished_together() {
    let bench = Bench::new();
    let all = |colour: &str| {
        let mut first = resource("w_thing.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        program([first, thing_from("b", "a")])
    };
    let denied = || Failure::new(FailureClass::Denied, "not now");
    bench.deployed(&all("red"));
    bench.world.fail("delete a", denied());
    assert!(!bench.deploy(&all("blue")).succeeded());
    bench.world.fail("delete b", denied());
    assert!(!bench.destroy().succeeded());
    bench.deployed(&all("blue"));
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}

/// REPLACE-2: what will only come to depend on something that is deleted first need not go first itself.
#[test]
fn what_depends_on_it_from_now_on_is_not_deleted_first() {
    let bench = Bench::new();
    let thing = |name: &str, colour| resource(&format!("w_thing.{name}"), [("colour", colour)]);
    let first = |colour| {
        let mut first = thing("a", colour);
        first.options.delete_first = Some(true);
        first
    };
    bench.deployed(&program([first(output("w_thing.b", "url")), thing("b", lit("red"))]));
    bench.world.calls();
    let turned = program([first(lit("red")), thing("b", output("w_thing.a", "url"))]);
    let plan = bench.plan(&turned);
    assert!(plan.contains("w_thing.b create first"), "{plan}");
    bench.deployed(&turned);
    let mut calls = bench.world.calls();
    calls.retain(|call| call.starts_with("delete") || call.starts_with("create "));
    assert_eq!(calls, ["delete a", "create a", "create b", "delete b"]);
}
