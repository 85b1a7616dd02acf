//! BIND: bindings and cycles.

use trueup_core::{FieldError, Type, value};
use trueup_engine::{Action, Outcome};
use trueup_program::{BindingDeclaration, Expression, Function, Node, ResourceDeclaration};

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing};

fn jar(name: &str, partner: Option<Expression>) -> ResourceDeclaration {
    match partner {
        Some(partner) => resource(&format!("w_jar.{name}"), [("partner", partner)]),
        None => resource(&format!("w_jar.{name}"), []),
    }
}

fn bound(mut to: ResourceDeclaration, key: &str, payload: Expression) -> ResourceDeclaration {
    to.bindings.push(BindingDeclaration { key: key.into(), payload });
    to
}

fn reconciles(bench: &Bench) -> Vec<String> {
    bench
        .world
        .calls()
        .into_iter()
        .filter(|call| !call.starts_with("read") && !call.starts_with("lookup"))
        .collect()
}

/// BIND-1
#[test]
fn a_target_sees_the_resolved_payloads_sorted_by_key() {
    let bench = Bench::new();
    let target =
        bound(bound(bound(jar("j", None), "b", lit(1)), "a", output("w_thing.t", "size")), "b", lit(2));
    bench.deployed(&program([target, thing("t", 5)]));
    assert!(reconciles(&bench).contains(&"reconcile [a=5 b=2] j".to_owned()));
}

/// BIND-1: a mistake that shows only when values are known.
#[test]
fn a_binding_that_cannot_be_evaluated_at_apply_is_an_error() {
    let bench = Bench::new();
    let refusing = Function::new(Type::String, |_| Err(FieldError::new("it is no number")));
    let payload = Expression::new(Node::Apply(refusing, vec![output("w_thing.t", "url")]));
    let target = bound(jar("j", None), "k", payload);
    let report = bench.deploy(&program([target, thing("t", 5)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_jar.j") else { panic!("{:?}", report.outcomes) };
    assert!(failure.message.contains("it is no number"), "{failure}");
    assert!(!reconciles(&bench).iter().any(|call| call.ends_with(" j")), "nothing is sent");
}

/// BIND-2
#[test]
fn added_changed_and_removed_bindings_each_update_the_target() {
    let bench = Bench::new();
    let with = |payload: Option<u64>| match payload {
        Some(payload) => program([bound(jar("j", None), "k", lit(payload))]),
        None => program([jar("j", None)]),
    };
    bench.deployed(&with(None));
    for (payload, change, seen) in [
        (Some(1), "absent -> 1", "reconcile [k=1] j"),
        (Some(2), "1 -> 2", "reconcile [k=2] j"),
        (None, "2 -> absent", "reconcile [] j"),
    ] {
        let plan = bench.plan(&with(payload));
        let expected = format!("~ w_jar.j (bindings)\n    bindings k: {change}");
        assert!(plan.contains(&expected), "{plan}");
        bench.world.calls();
        bench.deployed(&with(payload));
        assert_eq!(reconciles(&bench), [seen]);
        assert!(bench.plan(&with(payload)).ends_with("No changes"));
    }
}

/// BIND-2: of a payload with several fields, those that change.
#[test]
fn a_plan_shows_which_fields_of_a_binding_change() {
    let bench = Bench::new();
    let with = |port: u64| program([bound(jar("j", None), "k", lit(value!({ host: "h", port: port })))]);
    bench.deployed(&with(80));
    insta::assert_snapshot!(bench.plan(&with(443)), @r"
    ~ w_jar.j (bindings)
        bindings k.port: 80 -> 443
    Plan: 1 to update
    ");
}

/// BIND-3, BIND-5, BIND-6, EVENT-8, OUTPUT-9: a knows b's label, b knows a's address, and both settle. Both are created, each with one
/// create, whatever updates that took.
#[test]
fn a_cycle_through_bindings_converges_from_stubs() {
    let bench = Bench::new();
    let circular = || {
        let a = bound(jar("a", None), "from-b", output("w_jar.b", "label"));
        let b = jar("b", Some(output("w_jar.a", "arn")));
        program([a, b])
    };
    let report = bench.deployed(&circular());
    let created = Outcome::Done(Action::Create);
    assert!(report.outcomes.iter().all(|(_, it)| *it == created), "{:?}", report.outcomes);
    let heard = bench.heard();
    for event in ["create.started", "create.completed"] {
        let of_both = ["a", "b"].map(|name| format!("reconciler.{event} {name}"));
        assert!(of_both.iter().all(|it| heard.iter().filter(|other| *other == it).count() == 1), "{heard:?}");
    }
    let calls = reconciles(&bench);
    assert_eq!(calls.iter().filter(|call| call.starts_with("precreate")).count(), 1, "{calls:?}");
    let label = |name: &str| {
        let record = bench.records().remove(name).unwrap();
        record.current.unwrap().object.unwrap().outputs.get("label").unwrap().to_string()
    };
    assert_eq!(label("b"), "\"arn-a|\"");
    assert_eq!(label("a"), "\"-|from-b=\\\"arn-a|\\\"\"");
    assert!(bench.plan(&circular()).ends_with("No changes"), "{}", bench.plan(&circular()));
    assert_eq!(bench.world.cloud().things.len(), 2);
    assert!(bench.destroy().succeeded());
    assert!(bench.world.cloud().things.is_empty());
}

/// BIND-4
#[test]
fn a_cycle_without_a_stub_is_refused_by_name() {
    let bench = Bench::new();
    let a = bound(thing("a", 1), "k", output("w_thing.b", "url"));
    let b = resource("w_thing.b", [("from", output("w_thing.a", "url"))]);
    insta::assert_snapshot!(bench.refused(&program([a, b])), @"error: w_thing.a, w_thing.b are bound in a cycle, and none of them can be made before the others (bind to a type that can make a stub first, or remove one of the bindings)");
}

/// BIND-3: input edges may not form cycles, bound or not.
#[test]
fn a_cycle_of_inputs_stays_an_error() {
    let bench = Bench::new();
    let a = bound(jar("a", Some(output("w_jar.b", "arn"))), "k", lit(1));
    let b = bound(jar("b", Some(output("w_jar.a", "arn"))), "k", output("w_jar.a", "label"));
    assert!(bench.refused(&program([a, b])).contains("Resource dependency cycle detected"));
}

/// BIND-6: what alternates is stopped with its values.
#[test]
fn a_cycle_that_does_not_settle_is_an_error_with_its_values() {
    let bench = Bench::new();
    // Each shows what the other shows, so the labels grow for ever.
    let a = bound(jar("a", None), "k", output("w_jar.b", "label"));
    let b = bound(jar("b", None), "k", output("w_jar.a", "label"));
    let report = bench.deploy(&program([a, b]));
    let failures: Vec<_> = report
        .outcomes
        .iter()
        .filter_map(|(_, outcome)| if let Outcome::Failed(failure) = outcome { Some(failure) } else { None })
        .collect();
    assert!(!failures.is_empty(), "{:?}", report.outcomes);
    for failure in failures {
        let values = failure.message.strip_prefix("it does not settle: its bindings alternate between ");
        let (before, after) =
            values.and_then(|it| it.split_once(" and ")).unwrap_or_else(|| panic!("{failure}"));
        assert!(before != after && before.starts_with("{ k = "), "{failure}");
    }
}

/// CRASH-7 for cycles: cut off anywhere and run again, it ends where it should.
#[test]
fn a_cycle_cut_off_anywhere_and_run_again_settles() {
    let circular = || {
        let a = bound(jar("a", None), "from-b", output("w_jar.b", "label"));
        let b = jar("b", Some(output("w_jar.a", "arn")));
        program([a, b])
    };
    for waits in 0.. {
        let bench = Bench::new();
        let finished = bench.deploy_cut_off(&circular(), waits);
        bench.deployed(&circular());
        assert_eq!(bench.world.cloud().things.len(), 2, "cut off after {waits} waits");
        assert!(bench.plan(&circular()).ends_with("No changes"), "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}

/// BIND-7: what a change may reach over bindings is granted an update.
#[test]
fn what_a_change_reaches_over_bindings_may_update() {
    let bench = Bench::new();
    let circular = |key: &str| {
        let a = bound(jar("a", None), "from-b", output("w_jar.b", "label"));
        let b = bound(jar("b", Some(output("w_jar.a", "arn"))), key, lit(1));
        program([a, b])
    };
    bench.deployed(&circular("k"));
    let plan = bench.plan(&circular("other"));
    assert!(plan.contains("~ w_jar.b (bindings)") && plan.contains("~? w_jar.a"), "{plan}");
    bench.deployed(&circular("other"));
    assert!(bench.plan(&circular("other")).ends_with("No changes"));
}

/// BIND-7: what the second pass would have to replace fails, and the next plan replaces it.
#[test]
fn the_second_pass_replaces_nothing() {
    let bench = Bench::new();
    // The label of a stub is not the one that a has in the end.
    let a = bound(jar("a", None), "from-b", output("w_thing.b", "url"));
    let b = resource("w_thing.b", [("colour", output("w_jar.a", "label"))]);
    let circular = program([a, b]);
    let report = bench.deploy(&circular);
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.b") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "it needs another action than was planned: replace instead of update");
    assert_eq!(failure.hints, ["plan again"]);
    assert!(!reconciles(&bench).contains(&"delete b".to_owned()));
    assert!(bench.plan(&circular).contains("±? w_thing.b"), "{}", bench.plan(&circular));
}

/// BIND-8, RECONCILE-5: of a stack with types of both contracts.
#[test]
fn old_generations_go_after_the_second_pass() {
    let bench = Bench::new();
    let circular = |colour: &str| {
        let t = resource("w_thing.t", [("colour", lit(colour))]);
        let a = bound(
            bound(jar("a", None), "from-b", output("w_jar.b", "label")),
            "t",
            output("w_thing.t", "url"),
        );
        let b = jar("b", Some(output("w_jar.a", "arn")));
        program([t, a, b])
    };
    bench.deployed(&circular("red"));
    bench.world.calls();
    bench.deployed(&circular("blue"));
    let calls = reconciles(&bench);
    let delete = calls.iter().position(|call| call == "delete t").unwrap();
    assert!(calls[delete + 1..].iter().all(|call| !call.starts_with("reconcile")), "{calls:?}");
}
