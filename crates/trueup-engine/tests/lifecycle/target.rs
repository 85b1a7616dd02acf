//! TARGET: partial runs.

use trueup_program::MoveDeclaration;

use crate::lifecycle::world::{
    Bench, address, lit, output, program, resource, thing, thing_from, with_output,
};

fn targeting(targets: &[&str], excludes: &[&str], bench: &mut Bench) {
    bench.options.plan.targets = targets.iter().map(|it| it.parse().unwrap()).collect();
    bench.options.plan.excludes = excludes.iter().map(|it| it.parse().unwrap()).collect();
}

/// TARGET-1, TARGET-5
#[test]
fn a_target_takes_its_upstream_along_and_leaves_the_rest() {
    let mut bench = Bench::new();
    let all = program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]);
    targeting(&["w_thing.b"], &[], &mut bench);
    insta::assert_snapshot!(bench.plan(&all), @r"
    + w_thing.a (new)
    + w_thing.b (new)
    left out: w_thing.c
    Plan: 2 to create
    ");
    bench.deployed(&all);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}

/// TARGET-1
#[test]
fn an_exclusion_leaves_its_dependents_out_too() {
    let mut bench = Bench::new();
    let all = program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]);
    targeting(&[], &["w_thing.a"], &mut bench);
    bench.deployed(&all);
    assert_eq!(bench.world.things(), ["c=1"]);
    targeting(&[], &["w_thing.x"], &mut bench);
    insta::assert_snapshot!(bench.refused(&all), @"error: there is no resource w_thing.x (did you mean `w_thing.a`?)");
}

/// TARGET-2
#[test]
fn orphans_go_only_if_selected_and_unreferenced_by_what_is_left_out() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]));
    targeting(&["w_thing.c"], &[], &mut bench);
    bench.deployed(&program([]));
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    targeting(&["w_thing.a"], &[], &mut bench);
    let plan = bench.try_plan(&program([])).unwrap();
    assert!(plan.is_empty(), "{plan}");
    let told: Vec<_> = plan.warnings.iter().map(|it| it.summary.clone()).collect();
    assert_eq!(told, ["w_thing.a is kept: w_thing.b depends on it and is left out of this run"]);
}

/// TARGET-3
#[test]
fn a_replacement_with_dependents_left_out_keeps_the_old_generation() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let after = program([resource("w_thing.a", [("colour", lit("blue"))]), thing_from("b", "a")]);
    targeting(&["w_thing.a"], &[], &mut bench);
    bench.deployed(&after);
    assert_eq!(bench.records()["a"].deposed.len(), 1);
    targeting(&[], &[], &mut bench);
    bench.deployed(&after);
    assert!(bench.records()["a"].deposed.is_empty());
    let mut delete_first = resource("w_thing.a", [("colour", lit("green"))]);
    delete_first.options.delete_first = Some(true);
    targeting(&["w_thing.a"], &[], &mut bench);
    insta::assert_snapshot!(bench.refused(&program([delete_first, thing_from("b", "a")])), @"error: w_thing.a would be deleted first, and w_thing.b, which depends on it, is left out of this run (select it too)");
}

/// TARGET-4
#[test]
fn a_move_that_touches_what_is_left_out_is_refused() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let mut after = program([thing("z", 1), thing_from("b", "z")]);
    after.moves =
        vec![MoveDeclaration { from: address("w_thing.a").into(), to: address("w_thing.z").into() }];
    targeting(&["w_thing.z"], &[], &mut bench);
    insta::assert_snapshot!(bench.refused(&after), @"error: a move changes the record of w_thing.b, which is left out of this run (select it too, or move in a run of its own)");
}

/// TARGET-5, INV-12
#[test]
fn what_is_left_out_stays_as_it_was_and_outputs_keep_their_values() {
    let mut bench = Bench::new();
    let sized = |size| {
        let both = program([thing("a", size), thing("b", size)]);
        with_output(both, "url", output("w_thing.b", "url"))
    };
    bench.deployed(&sized(1));
    let before = bench.records();
    targeting(&["w_thing.a"], &[], &mut bench);
    let report = bench.deployed(&sized(2));
    assert_eq!(bench.records()["b"], before["b"]);
    assert_eq!(bench.world.things(), ["a=2", "b=1"]);
    assert_eq!(report.plan.outputs.to_string(), r#"{ url = "thing/2/1" }"#);
    assert_eq!(report.plan.left_out, [address("w_thing.b")]);
}

/// TARGET-2, DELETE-1: what is kept keeps what it uses itself.
#[test]
fn what_is_kept_for_something_left_out_keeps_what_it_depends_on() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing_from("c", "b")]));
    targeting(&[], &["w_thing.c"], &mut bench);
    let plan = bench.try_plan(&program([thing("c", 1)])).unwrap();
    assert!(plan.is_empty(), "{plan}");
    let told: Vec<_> = plan.warnings.iter().map(|it| it.summary.clone()).collect();
    assert_eq!(
        told,
        [
            "w_thing.a is kept: w_thing.c depends on it and is left out of this run",
            "w_thing.b is kept: w_thing.c depends on it and is left out of this run",
        ]
    );
}

/// TARGET-3: also what is deleted first because of what it depends on.
#[test]
fn what_would_have_to_go_first_with_its_upstream_is_not_torn_from_what_is_left_out() {
    let mut bench = Bench::new();
    let chain = |colour: &str| {
        let mut first = resource("w_thing.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        let on = |name: &str, of: &str| {
            resource(&format!("w_thing.{name}"), [("colour", output(&format!("w_thing.{of}"), "url"))])
        };
        program([first, on("b", "a"), on("c", "b")])
    };
    bench.deployed(&chain("red"));
    targeting(&["w_thing.b"], &[], &mut bench);
    let refused = bench.refused(&chain("blue"));
    assert!(refused.contains("w_thing.b would be deleted first, and w_thing.c"), "{refused}");
}
