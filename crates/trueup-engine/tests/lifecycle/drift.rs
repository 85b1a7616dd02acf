//! DRIFT: the world against the record.

use trueup_core::{Failure, FailureClass};
use trueup_program::DriftPolicy;

use crate::lifecycle::world::{Bench, program, thing, thing_from};

fn tamper(bench: &Bench, name: &str) {
    let id = bench.world.by_name(name).unwrap();
    bench.world.cloud().things.get_mut(&id).unwrap().size = 99;
}

/// DRIFT-1, DRIFT-2, DRIFT-3, DRIFT-6
#[test]
fn what_was_changed_outside_is_seen_told_and_repaired() {
    let mut bench = Bench::new();
    let program = program([thing("a", 1)]);
    bench.deployed(&program);
    tamper(&bench, "a");
    let plan = bench.try_plan(&program).unwrap();
    insta::assert_snapshot!(plan, @r#"
    ~ w_thing.a (drift)
        size: 1 <- 99
        url: "thing/1/1" <- "thing/1/99"
    Plan: 1 to update
    "#);
    assert_eq!(plan.action("w_thing.a").unwrap().decision(), "drift-update");
    bench.options.plan.drift = false;
    assert!(bench.plan(&program).ends_with("No changes"));
    bench.options.plan.drift = true;
    bench.heard();
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1"]);
    assert_eq!(bench.heard().iter().filter(|event| *event == "reconciler.drift.detected a").count(), 1);
}

/// DRIFT-2, CRUD-2
#[test]
fn what_is_gone_is_made_again_as_the_same_generation() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing_from("b", "a")]);
    bench.deployed(&program);
    let id = bench.world.by_name("a").unwrap();
    bench.world.cloud().things.remove(&id);
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.action("w_thing.a").unwrap().decision(), "drift-recreate");
    assert_eq!(plan.action("w_thing.a").unwrap().prior_outputs.get("id").unwrap().to_string(), "1");
    bench.deployed(&program);
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().number, 0);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// DRIFT-5, INV-15
#[test]
fn denied_is_never_gone() {
    let bench = Bench::new();
    let program = program([thing("a", 1)]);
    bench.deployed(&program);
    bench.world.fail("read a", Failure::new(FailureClass::Denied, "not yours"));
    assert!(bench.refused(&program).contains("read w_thing.a: denied"));
}

/// DRIFT-7
#[test]
fn each_resource_says_what_is_done_about_its_drift() {
    let bench = Bench::new();
    let with = |drift| {
        let mut declared = thing("a", 1);
        declared.options.drift = drift;
        program([declared])
    };
    bench.deployed(&with(DriftPolicy::Fix));
    tamper(&bench, "a");
    let warned = bench.try_plan(&with(DriftPolicy::Warn)).unwrap();
    assert!(warned.is_empty());
    let told: Vec<_> = warned.warnings.iter().map(|it| it.summary.clone()).collect();
    assert_eq!(told, ["w_thing.a was changed outside: size, url"]);
    let ignored = bench.try_plan(&with(DriftPolicy::Ignore)).unwrap();
    assert!(ignored.is_empty() && ignored.warnings.is_empty());
    for tolerant in [DriftPolicy::Warn, DriftPolicy::Ignore] {
        bench.deployed(&with(tolerant));
        assert_eq!(bench.world.things(), ["a=99"]);
    }
    bench.deployed(&with(DriftPolicy::Fix));
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// DRIFT-4
#[test]
fn a_type_that_cannot_be_read_says_that_drift_goes_unseen() {
    use crate::lifecycle::world::{lit, resource};
    let bench = Bench::new();
    let program = program([resource("w_named.a", [("name", lit("x"))]), thing("b", 1)]);
    bench.deployed(&program);
    let plan = bench.try_plan(&program).unwrap();
    assert!(plan.is_empty());
    assert!(plan.action("w_named.a").unwrap().unreadable && !plan.action("w_thing.b").unwrap().unreadable);
}

/// DRIFT-9
#[test]
fn a_refresh_records_what_is_gone_and_changes_no_object() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    bench.deployed(&program);
    tamper(&bench, "a");
    let gone = bench.world.by_name("b").unwrap();
    bench.world.cloud().things.remove(&gone);
    bench.world.calls();
    // No input stands for what changed of `a`, so that it stays drift.
    assert_eq!(bench.refresh(&program), ["delete-begun w_thing.b", "deleted w_thing.b"]);
    assert!(bench.world.calls().iter().all(|call| call.starts_with("read")), "objects were touched");
    assert!(!bench.records().contains_key("b"));
    assert_eq!(bench.refresh(&program), Vec::<String>::new());
    let plan = bench.plan(&program);
    assert!(plan.contains("~ w_thing.a (drift)") && plan.contains("+ w_thing.b (new)"), "{plan}");
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1", "b=1", "c=1"]);
}

/// DRIFT-8: whoever waits for a plan can see how far it has come.
#[test]
fn a_plan_counts_what_it_looks_at() {
    let bench = Bench::new();
    let three = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    bench.deployed(&three);
    assert_eq!(bench.looked_at(&three), (3, 3));
}
