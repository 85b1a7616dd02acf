//! APPLY: execution.

use trueup_core::{Failure, FailureClass};
use trueup_engine::{Action, Outcome};
use trueup_program::{Expression, Node, ParallelismClass, ProviderDeclaration, ResourceDeclaration};

use crate::lifecycle::world::{Bench, address, program, thing, thing_from};

fn denied() -> Failure {
    Failure::new(FailureClass::Denied, "not yours")
}

/// APPLY-1: `c` needs `a` alone, so it does not wait for `slow`, which is of the same level as `a`.
#[test]
fn a_resource_starts_while_others_of_an_earlier_level_still_run() {
    let mut bench = Bench::new();
    let mut slow = thing("slow", 1);
    let create = Some(std::time::Duration::from_secs(60));
    slow.options.timeouts = Some(Box::new(trueup_program::Timeouts { create, ..Default::default() }));
    bench.options.plan.retry.attempts_max = Some(1);
    bench.world.fail("hang slow", Failure::new(FailureClass::Fatal, "it hangs"));
    let report = bench.deploy(&program([slow, thing("a", 1), thing_from("c", "a")]));
    assert!(
        matches!(report.outcome("w_thing.c"), Some(Outcome::Done(_))),
        "{:?}",
        report.outcome("w_thing.c")
    );
    let heard = bench.heard();
    let at =
        |event: &str| heard.iter().position(|it| it == event).unwrap_or_else(|| panic!("{event}: {heard:?}"));
    assert!(at("reconciler.create.completed c") < at("reconciler.operation.failed slow"), "{heard:?}");
}

/// APPLY-1, APPLY-3
#[test]
fn each_resource_comes_after_what_it_depends_on_and_sees_its_outputs() {
    let bench = Bench::new();
    bench.deployed(&program([thing_from("c", "b"), thing_from("b", "a"), thing("a", 4)]));
    let creates: Vec<_> =
        bench.world.calls().into_iter().filter(|call| call.starts_with("create ")).collect();
    assert_eq!(creates, ["create a", "create b", "create c"]);
    let seen = || {
        let object = bench.records().remove("b").unwrap().current.unwrap().object.unwrap();
        object.inputs.unwrap().effective.get("from").unwrap().to_string()
    };
    assert_eq!(seen(), "\"thing/1/4\"");
    bench.deployed(&program([thing_from("c", "b"), thing_from("b", "a"), thing("a", 5)]));
    let updates: Vec<_> =
        bench.world.calls().into_iter().filter(|call| call.starts_with("update ")).collect();
    assert_eq!(updates[..2], ["update a", "update b"]);
    assert_eq!(seen(), "\"thing/1/5\"");
}

/// APPLY-2
#[test]
fn independent_resources_run_together_up_to_the_limit() {
    let names: Vec<ResourceDeclaration> = (0..12).map(|at| thing(&format!("t{at}"), 1)).collect();
    let peak = |parallelism| {
        let mut bench = Bench::new();
        bench.options.plan.parallelism = parallelism;
        let mut all = program([]);
        all.resources = names.clone();
        bench.deployed(&all);
        bench.world.cloud().peak("create")
    };
    assert_eq!((peak(1), peak(5)), (1, 5));
}

/// APPLY-2: a class of resources may have a limit of its own.
#[test]
fn resources_of_one_class_share_a_limit() {
    let mut all = program([]);
    all.resources = (0..12).map(|at| thing(&format!("t{at}"), 1)).collect();
    for declared in &mut all.resources {
        declared.options.parallelism_class = Some("frail".into());
    }
    all.parallelism = vec![ParallelismClass { name: "frail".into(), limit: 3 }];
    let bench = Bench::new();
    bench.deployed(&all);
    assert_eq!(bench.world.cloud().peak("create"), 3);
    all.parallelism[0].name = "frial".into();
    assert!(bench.refused(&all).contains("did you mean `frial`?"));
}

/// APPLY-4
#[test]
fn a_failure_skips_its_dependents_and_lets_the_others_finish() {
    let bench = Bench::new();
    bench.world.fail("create b", denied());
    let program =
        program([thing("a", 1), thing("b", 1), thing_from("c", "b"), thing_from("d", "c"), thing("e", 1)]);
    let report = bench.deploy(&program);
    assert!(!report.succeeded());
    assert_eq!(report.outcome("w_thing.a"), Some(&Outcome::Done(Action::Create)));
    assert!(
        matches!(report.outcome("w_thing.b"), Some(Outcome::Failed(failure)) if failure.class == FailureClass::Denied)
    );
    for name in ["w_thing.c", "w_thing.d"] {
        assert!(
            matches!(report.outcome(name), Some(Outcome::Skipped(cause)) if cause.name() == "b"),
            "{name}"
        );
    }
    assert_eq!(bench.world.things(), ["a=1", "e=1"]);
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1", "b=1", "c=1", "d=1", "e=1"]);
}

/// APPLY-5
#[test]
fn fail_fast_starts_nothing_new() {
    let mut bench = Bench::new();
    bench.options.fail_fast = true;
    bench.options.plan.parallelism = 1;
    bench.world.fail("create a", denied());
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1)]));
    assert_eq!(report.outcome("w_thing.b"), Some(&Outcome::NotStarted));
    assert!(bench.world.things().is_empty());
}

/// APPLY-5: what is under way when something fails is finished and recorded.
#[test]
fn fail_fast_finishes_what_is_under_way() {
    let mut bench = Bench::new();
    bench.options.fail_fast = true;
    bench.options.plan.parallelism = 2;
    bench.world.fail("create a", denied());
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1), thing("c", 1)]));
    assert!(
        matches!(report.outcome("w_thing.b"), Some(Outcome::Done(_))),
        "{:?}",
        report.outcome("w_thing.b")
    );
    assert_eq!(report.outcome("w_thing.c"), Some(&Outcome::NotStarted));
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(bench.world.things(), ["b=1"]);
}

/// APPLY-6, APPLY-7, EVENT-2, STATE-3: on a store that fails from some commit on, nothing happened that it does not know of.
#[test]
fn nothing_is_called_or_reported_before_its_commit() {
    // What is independent shares commits.
    let all = program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]);
    for failing_commit in 1.. {
        let bench = Bench::new();
        let outcome = bench.deploy_with_failing_store(&all, failing_commit);
        let (records, calls, heard) = (bench.records(), bench.world.calls(), bench.heard());
        let is_ready = |name: &str| {
            let current = records.get(name).and_then(|record| record.current.as_ref());
            current.is_some_and(|current| current.status == trueup_state::Status::Ready)
        };
        for name in ["a", "b", "c"] {
            if calls.contains(&format!("create {name}")) {
                assert!(records.contains_key(name), "commit {failing_commit}: {name} has no intent");
            }
            if heard.contains(&format!("reconciler.create.completed {name}")) {
                assert!(is_ready(name), "commit {failing_commit}: {name} is not recorded");
            }
        }
        if calls.contains(&"create b".to_owned()) {
            assert!(is_ready("a"), "commit {failing_commit}: b started before a was recorded");
        }
        if outcome == "it succeeded" {
            assert!(is_ready("a") && is_ready("b"));
            assert!(heard.contains(&"reconciler.create.completed b".to_owned()), "{heard:?}");
            break;
        }
    }
}

/// APPLY-6, APPLY-7, APPLY-8
#[test]
fn intent_answer_and_end_are_journalled_in_order() {
    use trueup_state::{Scope, Store};
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let record = bench.records().remove("a").unwrap();
    let journal = bench.run(bench.store.journal(&Scope::new("stack", "test"), record.id)).unwrap();
    let steps: Vec<_> = journal.iter().map(|entry| entry.step.name()).collect();
    assert_eq!(steps, ["create-begun", "answered", "settled"]);
}

/// APPLY-9
#[test]
fn a_consumer_is_moved_off_before_what_it_used_is_deleted() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("z", 2), thing_from("b", "a")]));
    bench.world.calls();
    bench.deployed(&program([thing("z", 2), thing_from("b", "z")]));
    let calls = bench.world.calls();
    let at =
        |call: &str| calls.iter().position(|own| own == call).unwrap_or_else(|| panic!("{call}: {calls:?}"));
    assert!(at("update b") < at("delete a"));
}

/// APPLY-10
#[test]
fn a_no_op_records_what_else_changed_without_a_call() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    bench.world.calls();
    let mut protected = thing("b", 1);
    protected.options.protect = true;
    protected.depends_on = vec![address("w_thing.a")];
    bench.deployed(&program([thing("a", 1), protected]));
    let record = bench.records().remove("b").unwrap();
    assert!(record.meta.protect && record.meta.dependencies == [address("w_thing.a")]);
    assert!(bench.world.calls().iter().all(|call| call.starts_with("read")));
    // An alias that leads to the same place, and nothing else.
    let config = Expression::new(Node::Object(Vec::new()));
    let mut aliased = program([thing("a", 1), thing("b", 1)]);
    aliased.resources[1].options.protect = true;
    aliased.resources[1].depends_on = vec![address("w_thing.a")];
    aliased.resources[1].provider = Some("w.west".into());
    aliased.providers.push(ProviderDeclaration { name: "w.west".into(), config });
    bench.deployed(&aliased);
    assert_eq!(bench.records()["b"].meta.provider, "w.west");
    assert!(bench.world.calls().iter().all(|call| call.starts_with("read")));
}

/// APPLY-11
#[test]
fn a_run_that_is_cancelled_before_it_starts_does_nothing() {
    let bench = Bench::new();
    bench.cancellation.cancel();
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1)]));
    assert!(report.outcomes.iter().all(|(_, outcome)| *outcome == Outcome::NotStarted));
    assert!(bench.world.things().is_empty());
}

/// APPLY-11: the first time, what is in flight is finished and recorded, and nothing new starts.
#[test]
fn cancelling_finishes_what_is_in_flight() {
    let mut bench = Bench::new();
    bench.options.plan.parallelism = 2;
    let cancellation = bench.cancellation.clone();
    bench.world.cloud().at_call("create b", move || cancellation.cancel());
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1), thing("c", 1)]));
    let outcomes: Vec<&Outcome> = report.outcomes.iter().map(|(_, outcome)| outcome).collect();
    let created = Outcome::Done(Action::Create);
    assert_eq!(outcomes, [&created, &created, &Outcome::NotStarted]);
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["a", "b"]);
    bench.cancellation = trueup_engine::Cancellation::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1), thing("c", 1)]));
}

/// APPLY-11: the second time, it is left as it is, and the next run recovers it.
#[test]
fn cancelling_twice_leaves_intents_to_the_next_run() {
    let mut bench = Bench::new();
    let cancellation = bench.cancellation.clone();
    let twice = move || (0..2).for_each(|_| cancellation.cancel());
    bench.world.cloud().at_call("create a", twice);
    bench.world.fail("hang a", denied());
    let before = bench.now();
    assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
    assert_eq!(bench.now(), before, "nobody waits for it");
    assert!(bench.records()["a"].current.as_ref().unwrap().attempt().is_some(), "the intent is kept");
    bench.cancellation = trueup_engine::Cancellation::new();
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// CRUD-12
#[test]
fn a_panic_is_an_error_of_that_resource_alone() {
    let bench = Bench::new();
    bench.world.fail("update a", Failure::new(FailureClass::Fatal, "panic"));
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let report = bench.deploy(&program([thing("a", 2), thing("b", 2)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    // What a panic says may hold secrets (SECRET-5).
    assert!(failure.message.contains("panicked") && !failure.message.contains("scripted"), "{failure}");
    assert_eq!(bench.world.things(), ["a=1", "b=2"]);
    bench.deployed(&program([thing("a", 2), thing("b", 2)]));
    assert_eq!(bench.world.things(), ["a=2", "b=2"]);
}

/// CRUD-7
#[test]
fn failed_validation_leaves_cloud_and_state_untouched() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let before = bench.records();
    let report = bench.deploy(&program([thing("a", 13)]));
    assert!(
        matches!(report.outcome("w_thing.a"), Some(Outcome::Failed(it)) if it.message == "thirteen is unlucky")
    );
    assert_eq!((bench.records(), bench.world.things()), (before, vec!["a=1".to_owned()]));
}

/// CRUD-7: inputs are validated for the sake of what is written alone.
#[test]
fn neither_a_no_op_nor_a_destroy_validates_inputs() {
    let bench = Bench::new();
    let validated = || std::mem::take(&mut bench.world.cloud().validated);
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(validated(), ["a"]);
    // A no-op that has something to record.
    let mut after = thing("a", 1);
    after.depends_on = vec![address("w_thing.b")];
    bench.deployed(&program([after, thing("b", 1)]));
    assert_eq!(bench.records()["a"].meta.dependencies, [address("w_thing.b")]);
    assert_eq!(validated(), ["b"]);
    assert!(bench.destroy().succeeded());
    assert_eq!(validated(), [""; 0]);
}

/// APPLY-13: past its time an operation's outcome is unknown, and recovery looks before it creates again.
#[test]
fn an_operation_past_its_time_is_resolved_by_looking() {
    let mut bench = Bench::new();
    bench.options.plan.timeout = std::time::Duration::from_secs(5);
    bench.world.fail("hang a", denied());
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(
        (&failure.class, failure.message.as_str()),
        (&FailureClass::Indeterminate, "no answer within 5 s")
    );
    assert!(bench.records()["a"].current.as_ref().unwrap().attempt().is_some(), "the intent is kept");
    bench.world.calls();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    assert_eq!(bench.world.calls()[..2], ["read b", "lookup a"]);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}
