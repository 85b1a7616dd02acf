//! STATE-9: changes of state by hand.

use trueup_core::{Failure, FailureClass};
use trueup_engine::HandChange;

use crate::lifecycle::world::{Bench, address, output, program, resource, thing, thing_from};

fn range(text: &str) -> trueup_core::AddressRange {
    text.parse().unwrap()
}

/// STATE-9, MOVE-3
#[test]
fn a_move_by_hand_does_what_a_move_in_the_program_does() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let before = bench.world.cloud().things.clone();
    let change = HandChange::Move { from: range("w_thing.a"), to: range("module.m.w_thing.z") };
    let done = bench.by_hand(&change).unwrap();
    assert_eq!(done, ["moved w_thing.a", "relinked w_thing.b"]);
    let user = resource("w_thing.b", [("from", output("module.m.w_thing.z", "url"))]);
    let after = program([resource("module.m.w_thing.z", []), user]);
    assert!(bench.plan(&after).ends_with("No changes"));
    assert_eq!(bench.world.cloud().things, before);
    // Back again, by the module.
    let change = HandChange::Move { from: range("module.m"), to: range("module.n") };
    assert_eq!(bench.by_hand(&change).unwrap(), ["moved module.m.w_thing.z", "relinked w_thing.b"]);
}

/// STATE-9, MOVE-2
#[test]
fn a_move_by_hand_that_cannot_be_changes_nothing() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let before = bench.records();
    for (from, to, told) in [
        ("w_thing.a", "w_thing.b", "there is a resource already"),
        ("w_thing.a", "w_token.a", "different types"),
        ("w_thing.a", "module.m", "name two resources or two modules"),
        ("w_thing.aa", "w_thing.z", "did you mean `w_thing.a`?"),
    ] {
        let refused = bench.by_hand(&HandChange::Move { from: range(from), to: range(to) }).unwrap_err();
        assert!(refused.contains(told), "{refused}");
    }
    assert_eq!(bench.records(), before);
}

/// STATE-9
#[test]
fn what_is_forgotten_stays_where_it_is() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    assert_eq!(bench.by_hand(&HandChange::Forget(range("w_thing.a"))).unwrap(), ["dropped w_thing.a"]);
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}

/// STATE-9, CRASH-1
#[test]
fn a_create_of_unknown_outcome_is_settled_by_hand() {
    let bench = Bench::new();
    let lost = Failure::new(FailureClass::Indeterminate, "the connection broke");
    bench.world.fail("create a", lost);
    let blind = program([resource("w_blind.a", [])]);
    bench.deploy(&blind);
    assert!(bench.refused(&blind).contains("state resolve"), "{}", bench.refused(&blind));
    let change = HandChange::ResolveAbsent(address("w_blind.a"));
    assert_eq!(bench.by_hand(&change).unwrap(), ["abandoned w_blind.a"]);
    bench.deployed(&blind);
    assert!(bench.by_hand(&change).unwrap_err().contains("no create of w_blind.a has an unknown outcome"));
}

/// STATE-9, REPLACE-9
#[test]
fn protection_is_taken_off_by_hand() {
    let bench = Bench::new();
    let mut declared = thing("a", 1);
    declared.options.protect = true;
    bench.deployed(&program([declared]));
    bench.refused(&program([]));
    assert_eq!(
        bench.by_hand(&HandChange::Unprotect(range("w_thing.a"))).unwrap(),
        ["meta-changed w_thing.a"]
    );
    bench.deployed(&program([]));
    assert!(bench.records().is_empty());
}
