//! ADOPT: recovery and adoption.

use crate::world::{Bench, program, resource, thing};

/// ADOPT-1, ADOPT-2: lost state is recovered by looking.
#[test]
fn ones_own_objects_are_adopted_silently_after_lost_state() {
    let bench = Bench::new();
    let before = program([thing("a", 1), thing("b", 2)]);
    bench.deployed(&before);
    let lost = Bench::in_world(bench.world.clone());
    insta::assert_snapshot!(lost.plan(&before), @r"
    ~ w_thing.a (adopted)
    ~ w_thing.b (adopted)
    Plan: 2 to update
    ");
    lost.deployed(&before);
    assert_eq!(lost.world.things(), ["a=1", "b=2"]);
    assert!(lost.plan(&before).ends_with("No changes"));
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
    assert!(refused.contains("OwnedBySomeoneElse") && refused.contains("w_thing.a"), "{refused}");
    bench.options.plan.adopt = true;
    bench.deployed(&program);
    assert_eq!(bench.world.cloud().things.len(), 1);
    let mut kept = bench;
    kept.options.plan.adopt = true;
    let mut declared = thing("a", 1);
    declared.options.adopt = Some(false);
    let mut fresh = Bench::in_world(kept.world.clone());
    fresh.options.plan.adopt = true;
    assert!(fresh.refused(&crate::world::program([declared])).contains("OwnedBySomeoneElse"));
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
