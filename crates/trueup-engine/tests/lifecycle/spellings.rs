//! REPLACE-11: identities that are spelled differently and denote one object.

use trueup_program::ResourceDeclaration;

use crate::lifecycle::places::{bench_of, configured};
use crate::lifecycle::world::{Bench, lit, program, resource};

fn spelled(label: &str, name: &str, size: u64) -> ResourceDeclaration {
    resource(&format!("p_site.{label}"), [("name", lit(name)), ("size", lit(size))])
}

fn styled(name: &str, style: &str) -> ResourceDeclaration {
    resource("p_site.x", [("name", lit(name)), ("style", lit(style))])
}

fn deletes(bench: &Bench, plan: &str) -> bool {
    bench.heard().iter().any(|event| event.contains("delete")) || plan.contains("replace")
}

/// REPLACE-11: the record takes over the new spelling, and the object stays.
#[test]
fn another_spelling_of_an_identity_is_an_update() {
    let (bench, regions) = bench_of(true);
    bench.deployed(&program([spelled("x", "a", 1)]));
    for (name, size) in [("/home/a", 1), ("a", 2)] {
        let plan = bench.plan(&program([spelled("x", name, size)]));
        assert!(plan.ends_with("Plan: 1 to update"), "{plan}");
        bench.deployed(&program([spelled("x", name, size)]));
        assert!(!deletes(&bench, &plan), "{:?}", bench.heard());
        assert_eq!(regions.shown(), [format!("home/a={size}")]);
        assert!(bench.plan(&program([spelled("x", name, size)])).ends_with("No changes"));
        let recorded = bench.records().remove("x").unwrap().current.unwrap().object.unwrap();
        assert_eq!(recorded.outputs.get("name").unwrap().as_str(), Some(name));
    }
}

/// REPLACE-11: a type that does not tell places has as many objects as identities.
#[test]
fn another_identity_is_another_object_where_the_type_tells_no_places() {
    let (bench, regions) = bench_of(false);
    bench.deployed(&program([spelled("x", "a", 1)]));
    bench.deployed(&program([spelled("x", "b", 1)]));
    assert_eq!(regions.shown(), ["home/b=1"]);
}

/// REPLACE-11, DRIFT-11: the configuration changes too, and both together lead to the same object.
#[test]
fn what_configuration_and_identity_still_lead_to_stays() {
    let (bench, regions) = bench_of(true);
    let west = |name, size| configured(program([spelled("x", name, size)]), [("region", lit("west"))]);
    let east = |name, size| configured(program([spelled("x", name, size)]), [("region", lit("east"))]);
    bench.deployed(&west("a", 1));
    let plan = bench.plan(&east("/west/a", 1));
    assert!(plan.ends_with("Plan: 1 to update"), "{plan}");
    bench.deployed(&east("/west/a", 1));
    assert_eq!(regions.shown(), ["west/a=1"]);
    assert!(bench.plan(&east("/west/a", 1)).ends_with("No changes"));
    bench.deployed(&west("./a", 2));
    assert_eq!(regions.shown(), ["west/a=2"]);
}

/// REPLACE-10, REPLACE-11: what is replaced for another reason is deleted first.
#[test]
fn a_replacement_in_the_same_place_deletes_first() {
    let (bench, regions) = bench_of(true);
    bench.deployed(&program([styled("a", "old")]));
    let plan = bench.plan(&program([styled("/home/a", "new")]));
    assert!(plan.contains("same-identity"), "{plan}");
    bench.deployed(&program([styled("/home/a", "new")]));
    assert_eq!(regions.shown(), ["home/a=1"]);
    assert!(bench.plan(&program([styled("/home/a", "new")])).ends_with("No changes"));
}

/// REPLACE-11, CRASH-3: a run that is cut off anywhere leaves the object, and the next one finishes.
#[test]
fn a_run_that_is_cut_off_under_another_spelling_loses_nothing() {
    let mut finished = false;
    for waits in 0.. {
        let (bench, regions) = bench_of(true);
        bench.deployed(&program([spelled("x", "a", 1)]));
        let next = program([spelled("x", "/home/a", 2)]);
        finished = bench.deploy_cut_off(&next, waits);
        assert_eq!(regions.shown().len(), 1, "after {waits} waits");
        bench.deployed(&next);
        assert_eq!(regions.shown(), ["home/a=2"], "after {waits} waits");
        if finished {
            break;
        }
    }
    assert!(finished);
}

/// REPLACE-10
#[test]
fn two_spellings_of_one_object_are_refused() {
    let (bench, regions) = bench_of(true);
    let told = bench.refused(&program([spelled("x", "a", 1), spelled("y", "/home/a", 1)]));
    assert!(told.contains("p_site.x and p_site.y are one object"), "{told}");
    bench.deployed(&program([spelled("x", "a", 1)]));
    // One that goes and one that comes.
    let told = bench.refused(&program([spelled("y", "./a", 1)]));
    assert!(told.contains("p_site.y") && told.contains("p_site.x"), "{told}");
    assert_eq!(regions.shown(), ["home/a=1"]);
}

/// ADOPT-4: one that exists is not adopted under another spelling, whatever is allowed.
#[test]
fn what_is_held_under_another_spelling_is_not_adopted() {
    let (mut bench, regions) = bench_of(true);
    bench.options.plan.adopt = true;
    bench.deployed(&program([spelled("x", "a", 1)]));
    let told = bench.refused(&program([spelled("x", "b", 1), spelled("y", "/home/a", 1)]));
    assert!(told.contains("is held by p_site.x"), "{told}");
    assert_eq!(regions.shown(), ["home/a=1"]);
}

/// DELETE-9: records of one object that were made before such programs were refused.
#[test]
fn an_object_that_two_spellings_hold_goes_with_the_last_of_them() {
    for both in [false, true] {
        let (bench, regions) = bench_of(true);
        bench.deployed(&program([spelled("x", "a", 1)]));
        let mut object = bench.records().remove("x").unwrap().current.unwrap().object.unwrap();
        let name = trueup_core::Value::from("/home/a");
        object.identity = Some(trueup_core::Value::object([("name", name.clone())]));
        if let Some(inputs) = &mut object.inputs {
            inputs.effective = inputs.effective.with_entry("name", name.clone());
            inputs.written = inputs.written.with_entry("name", name);
        }
        bench.record_by_hand("p_site.y", object);
        match both {
            true => drop(bench.deployed(&program([]))),
            false => drop(bench.deployed(&program([spelled("x", "a", 1)]))),
        }
        let left: &[&str] = if both { &[] } else { &["home/a=1"] };
        assert_eq!(regions.shown(), left);
        assert_eq!(bench.records().len(), left.len());
    }
}

/// DELETE-9: by mistake, a run of one target gives a site the name of another, whose own is gone. When both have names of their
/// own again, that site used to be left to the other resource, and stayed.
#[test]
fn what_is_in_the_place_of_a_resource_whose_object_is_gone_is_deleted() {
    let (mut bench, regions) = bench_of(true);
    regions.books().told_by_serial = true;
    bench.deployed(&program([spelled("x", "a", 1), spelled("y", "b", 1)]));
    regions.books().sites.remove(&("home".to_owned(), "a".to_owned()));
    bench.options.plan.targets = vec!["p_site.y".parse().unwrap()];
    bench.deployed(&program([spelled("x", "a", 1), spelled("y", "./a", 1)]));
    assert_eq!(regions.shown(), ["home/a=1"]);
    bench.options.plan.targets.clear();
    bench.deployed(&program([spelled("x", "c", 1), spelled("y", "d", 1)]));
    assert_eq!(regions.shown(), ["home/c=1", "home/d=1"]);
}
