//! Nothing is lost and nothing made twice where records, plans and answers do not tell all.

use std::time::Duration;

use trueup_core::{Failure, FailureClass};
use trueup_program::{
    BindingDeclaration, DataDeclaration, Deferral, Expression, MoveDeclaration, Node, Program,
    ResourceDeclaration,
};

use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing, thing_from};

fn database(colour: &str, size: u64) -> Program {
    program([resource(
        "w_database.d",
        [("name", lit("orders")), ("colour", lit(colour)), ("size", lit(size))],
    )])
}

fn coloured(name: &str, colour: &str) -> ResourceDeclaration {
    resource(&format!("w_thing.{name}"), [("colour", lit(colour))])
}

fn moved(mut program: Program, from: &str, to: &str) -> Program {
    program.moves = vec![MoveDeclaration { from: from.parse().unwrap(), to: to.parse().unwrap() }];
    program
}

fn broken(class: FailureClass) -> Failure {
    Failure::new(class, "it is broken")
}

/// REPLACE-10, ADOPT-5: the order of a replacement follows from the object that was found.
#[test]
fn what_was_just_adopted_is_replaced_without_losing_what_replaces_it() {
    let bench = Bench::new();
    bench.deployed(&database("red", 1));
    let lost = Bench::in_world(bench.world.clone());
    insta::assert_snapshot!(lost.plan(&database("blue", 1)), @r"
    ± w_database.d delete first (adopted, same-identity)
    Plan: 1 to replace
    ");
    lost.deployed(&database("blue", 1));
    let colours: Vec<String> = lost.world.cloud().things.values().map(|it| it.colour.clone()).collect();
    assert_eq!(colours, ["blue"]);
    assert!(lost.plan(&database("blue", 1)).ends_with("No changes"));
}

/// REPLACE-10: `delete_first` helps with what was adopted as it does with what is recorded.
#[test]
fn what_was_just_adopted_is_deleted_first_where_that_is_asked_for() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("a", "red")]));
    let lost = Bench::in_world(bench.world.clone());
    let mut replaced = coloured("a", "blue");
    replaced.options.delete_first = Some(true);
    lost.world.calls();
    lost.deployed(&program([replaced]));
    let changes: Vec<String> = lost
        .world
        .calls()
        .into_iter()
        .filter(|call| call.contains("create ") || call.contains("delete"))
        .collect();
    assert_eq!(changes, ["delete a", "create a"]);
    assert_eq!(lost.world.cloud().things.len(), 1);
}

/// DELETE-1, CRASH-3: what an object may still use stays, for as long as the update that lets go of it has not succeeded.
#[test]
fn a_dependency_stays_until_nothing_uses_it_any_more() {
    let bench = Bench::new();
    bench.deployed(&program([thing("key", 1), thing_from("service", "key")]));
    let after = program([thing("service", 2)]);
    for _ in 0..3 {
        bench.world.fail("update service", broken(FailureClass::Fatal));
        assert!(!bench.deploy(&after).succeeded());
        assert!(bench.world.by_name("key").is_some(), "the service still uses it");
    }
    bench.deployed(&after);
    assert_eq!(bench.world.things(), ["service=2"]);
}

/// DELETE-1: the same of what an attempt in between gave it.
#[test]
fn a_dependency_that_an_attempt_may_have_taken_up_stays_too() {
    let bench = Bench::new();
    bench.deployed(&program([thing("old", 1), thing_from("service", "old")]));
    bench.world.fail("update service", broken(FailureClass::Indeterminate));
    let between = program([thing("old", 1), thing("next", 2), thing_from("service", "next")]);
    assert!(!bench.deploy(&between).succeeded());
    bench.world.fail("update service", broken(FailureClass::Fatal));
    let after = program([thing("service", 2)]);
    assert!(!bench.deploy(&after).succeeded());
    assert_eq!(bench.world.things().len(), 3, "nobody knows which of the two it uses");
    bench.deployed(&after);
    assert_eq!(bench.world.things(), ["service=2"]);
}

/// DELETE-1, MOVE-1: and of what has another address since.
#[test]
fn a_dependency_that_stays_is_known_by_its_new_address() {
    let bench = Bench::new();
    bench.deployed(&program([thing("key", 1), thing_from("service", "key")]));
    bench.world.fail("update service", broken(FailureClass::Fatal));
    let kept = program([thing("key", 1), thing("service", 2)]);
    assert!(!bench.deploy(&kept).succeeded());
    bench.world.fail("update service", broken(FailureClass::Fatal));
    let renamed = moved(program([thing("lock", 1), thing("service", 2)]), "w_thing.key", "w_thing.lock");
    assert!(!bench.deploy(&renamed).succeeded());
    let used: Vec<_> = bench.records()["service"].dependencies().cloned().collect();
    assert_eq!(used, [address("w_thing.lock")]);
    bench.world.fail("update service", broken(FailureClass::Fatal));
    assert!(!bench.deploy(&program([thing("service", 2)])).succeeded());
    assert_eq!(bench.world.cloud().things.len(), 2);
}

/// RECONCILE-4: names follow from where a resource was first created, and nobody else gets them.
#[test]
fn what_is_declared_where_another_moved_away_has_names_of_its_own() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.deployed(&moved(program([thing("z", 1)]), "w_thing.a", "w_thing.z"));
    let both = program([thing("z", 1), thing("a", 7)]);
    bench.deployed(&both);
    let sizes: Vec<u64> = bench.world.cloud().things.values().map(|it| it.size).collect();
    assert_eq!(sizes, [1, 7]);
    assert!(bench.plan(&both).ends_with("No changes"));
    // And again after a replacement of either.
    let replaced = program([thing("z", 1), coloured("a", "blue")]);
    bench.deployed(&replaced);
    assert_eq!(bench.world.cloud().things.len(), 2);
    assert!(bench.plan(&replaced).ends_with("No changes"));
}

/// RECONCILE-1, CRASH-1: what came of an interrupted create has no olds, and is brought to all its inputs.
#[test]
fn after_an_interrupted_create_there_are_no_olds() {
    let bench = Bench::new();
    bench.world.fail("reconciled d", broken(FailureClass::Indeterminate));
    assert!(!bench.deploy(&database("red", 3)).succeeded());
    bench.world.calls();
    let plan = bench.plan(&database("red", 4));
    assert!(!plan.contains('3'), "nobody knows whether it ever had that size:\n{plan}");
    bench.deployed(&database("red", 4));
    let calls = bench.world.calls();
    assert!(calls.contains(&"reconcile from nothing d".to_owned()), "{calls:?}");
    assert!(bench.plan(&database("red", 4)).ends_with("No changes"));
}

/// RECONCILE-4: what moved is found under the names it was created with.
#[test]
fn what_was_moved_is_found_after_lost_state() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let renamed = moved(program([thing("z", 1)]), "w_thing.a", "w_thing.z");
    bench.deployed(&renamed);
    let lost = Bench::in_world(bench.world.clone());
    assert!(lost.plan(&renamed).contains("adopted"), "{}", lost.plan(&renamed));
    lost.deployed(&renamed);
    assert_eq!(lost.world.cloud().things.len(), 1);
    assert_eq!(lost.records()["z"].origin, address("w_thing.a"));
    // From now on its record tells.
    assert!(lost.plan(&program([thing("z", 1)])).ends_with("No changes"));
}

/// RECONCILE-4: an older generation that was left is found beside the newer one, told of, and cleaned up.
#[test]
fn an_older_generation_is_cleaned_up_after_lost_state() {
    let bench = Bench::new();
    bench.deployed(&program([coloured("a", "red")]));
    bench.world.fail("delete a", broken(FailureClass::Fatal));
    assert!(!bench.deploy(&program([coloured("a", "blue")])).succeeded());
    assert_eq!(bench.world.cloud().things.len(), 2);
    let lost = Bench::in_world(bench.world.clone());
    insta::assert_snapshot!(lost.plan(&program([coloured("a", "blue")])), @r"
    ~ w_thing.a (adopted, clean-up)
        deposed generation 0
    Plan: 1 to adopt, 1 to clean up
    ");
    lost.deployed(&program([coloured("a", "blue")]));
    let colours: Vec<String> = lost.world.cloud().things.values().map(|it| it.colour.clone()).collect();
    assert_eq!(colours, ["blue"]);
}

/// ADOPT-9: what came to exist while a run waited for the lease is not made a second time.
#[test]
fn what_came_to_exist_while_a_run_waited_is_adopted() {
    let bench = Bench::new();
    let other = Bench::in_world(bench.world.clone());
    let wanted = program([thing("a", 1)]);
    let held = bench.hold_lease(Duration::from_secs(30));
    bench.deploy_meanwhile(&wanted, held, || other.other_runtime_deploys(&wanted));
    assert_eq!(bench.world.cloud().things.len(), 1);
    assert!(bench.plan(&wanted).ends_with("No changes"));
}

/// ADOPT-9, PLANFILE-3: that something was absent is a premise of a saved plan.
#[test]
fn what_came_to_exist_since_a_plan_was_saved_is_not_made_a_second_time() {
    let bench = Bench::new();
    let wanted = program([thing("a", 1)]);
    let saved = bench.try_save(&wanted, false).unwrap();
    Bench::in_world(bench.world.clone()).deployed(&wanted);
    let report = bench.try_deploy_saved(&wanted, &saved).unwrap();
    assert!(!report.succeeded());
    let told = format!("{:?}", report.outcomes);
    assert!(told.contains("did not when the plan was made"), "{told}");
    assert_eq!(bench.world.cloud().things.len(), 1);
    assert!(bench.records().is_empty());
}

/// BIND-4, CRASH-2: a stub that failed, or may have been made, is begun again.
#[test]
fn a_cycle_goes_on_after_its_stub_failed() {
    let circular = || {
        let mut one = resource("w_jar.a", []);
        let payload = output("w_jar.b", "label");
        one.bindings.push(BindingDeclaration { key: "from-b".into(), payload });
        program([one, resource("w_jar.b", [("partner", output("w_jar.a", "arn"))])])
    };
    for class in [FailureClass::Retryable, FailureClass::Indeterminate, FailureClass::Fatal] {
        let bench = Bench::new();
        (0..20).for_each(|_| bench.world.fail("precreate b", broken(class.clone())));
        assert!(!bench.deploy(&circular()).succeeded(), "{class:?}");
        bench.world.forget_failures();
        bench.deployed(&circular());
        assert_eq!(bench.world.cloud().things.len(), 2, "{class:?}");
        assert!(bench.plan(&circular()).ends_with("No changes"), "{class:?}");
    }
}

/// UNKNOWN-13: what was to stay is told to be out of date when a value that was to stay changes all the same.
#[test]
fn what_stays_is_not_left_out_of_date_in_silence() {
    let bench = Bench::new();
    let with = |payload: u64| {
        let mut upstream = resource("w_jar.a", []);
        upstream.bindings.push(BindingDeclaration { key: "k".into(), payload: lit(payload) });
        program([upstream, resource("w_jar.b", [("partner", output("w_jar.a", "arn"))])])
    };
    bench.deployed(&with(1));
    assert!(bench.plan(&with(2)).contains("\u{2022} w_jar.b"), "{}", bench.plan(&with(2)));
    let saved = bench.try_save(&with(2), false).unwrap();
    // The type says that this never changes.
    bench.world.cloud().arn_end = "-2";
    bench.world.calls();
    let report = bench.try_deploy_saved(&with(2), &saved).unwrap();
    let told = format!("{:?}", report.outcomes);
    assert!(!report.succeeded() && told.contains("others than were planned"), "{told}");
    assert!(told.contains("plan again"), "{told}");
    let calls = bench.world.calls();
    assert!(calls.iter().all(|call| !call.ends_with(" b")), "it is not touched: {calls:?}");
    bench.deployed(&with(2));
    assert!(bench.plan(&with(2)).ends_with("No changes"));
}

/// UNKNOWN-12, UNKNOWN-13: the same holds of what planning has read.
#[test]
fn what_was_read_at_plan_is_not_left_out_of_date_in_silence() {
    let bench = Bench::new();
    let with = |payload: u64| {
        let mut upstream = resource("w_jar.a", []);
        upstream.bindings.push(BindingDeclaration { key: "k".into(), payload: lit(payload) });
        let of = Expression::new(Node::Object(vec![("of".into(), output("w_jar.a", "arn"))]));
        let read = DataDeclaration::new(address("data.w_length.l"), of);
        let mut all = program([upstream]);
        all.data.push(DataDeclaration { deferral: Deferral::default(), ..read });
        all
    };
    bench.deployed(&with(1));
    assert!(!bench.plan(&with(2)).contains("w_length"), "it is read: {}", bench.plan(&with(2)));
    // The type says that this never changes.
    bench.world.cloud().arn_end = "-2";
    let report = bench.deploy(&with(2));
    let told = format!("{:?}", report.outcomes);
    assert!(!report.succeeded() && told.contains("others than were planned"), "{told}");
    bench.deployed(&with(2));
}

/// REPLACE-5, TARGET-2: what is no longer declared, and kept because something left out depends on it, uses what it used.
#[test]
fn an_older_generation_stays_while_something_that_is_kept_uses_it() {
    let mut bench = Bench::new();
    bench.deployed(&program([coloured("a", "red"), thing_from("b", "a"), thing_from("c", "b")]));
    bench.options.plan.targets = vec!["w_thing.a".parse().unwrap()];
    bench.deployed(&program([coloured("a", "blue"), thing_from("b", "a"), thing_from("c", "b")]));
    bench.options.plan.targets.clear();
    bench.options.plan.excludes = vec!["w_thing.c".parse().unwrap()];
    bench.world.calls();
    let without = program([coloured("a", "blue"), thing("c", 1)]);
    bench.deploy(&without);
    let calls = bench.world.calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete")), "{calls:?}");
    bench.options.plan.excludes.clear();
    bench.deployed(&without);
    assert_eq!(bench.world.things(), ["a=1", "c=1"]);
}
