//! BIND-4, BIND-10, CRASH-1, CRASH-2: stubs that fail, are cut off, are there already, or need others first. The number of things is
//! the judge.

use trueup_core::{Failure, FailureClass};
use trueup_engine::Outcome;
use trueup_program::{BindingDeclaration, Expression, Program, ResourceDeclaration};

use crate::lifecycle::world::{Bench, address, output, program, resource};

fn bound(mut to: ResourceDeclaration, payload: Expression) -> ResourceDeclaration {
    to.bindings.push(BindingDeclaration { key: "k".into(), payload });
    to
}

fn things(bench: &Bench) -> usize {
    bench.world.cloud().things.len()
}

fn failure(class: FailureClass) -> Failure {
    Failure::new(class, "scripted")
}

/// A jar that refers to a thing to which it is bound: of the two, only the jar can be made first, before its inputs are
/// known.
fn jar_and_thing() -> Program {
    let jar = resource("w_jar.a", [("partner", output("w_thing.t", "url"))]);
    program([jar, bound(resource("w_thing.t", []), output("w_jar.a", "label"))])
}

/// The same with a type that recovers by token.
fn shed_and_thing() -> Program {
    let on = ("on", crate::lifecycle::world::lit("ground"));
    let shed = resource("w_shed.a", [on, ("partner", output("w_thing.t", "url"))]);
    program([shed, bound(resource("w_thing.t", []), output("w_shed.a", "arn"))])
}

fn settled(bench: &Bench, program: &Program, when: &str) {
    assert_eq!(things(bench), 2, "{when}: {:?}", bench.world.things());
    let plan = bench.plan(program);
    assert!(plan.ends_with("No changes"), "{when}: {plan}");
}

/// BIND-10, RETRY-7: whatever its class says, a stub that failed may have been made.
#[test]
fn a_stub_that_failed_after_its_effect_is_not_made_again() {
    for program in [jar_and_thing(), shed_and_thing()] {
        for class in [FailureClass::Retryable, FailureClass::Throttled { delay: None }] {
            let bench = Bench::new();
            bench.world.fail("stubbed a", failure(class.clone()));
            bench.deployed(&program);
            settled(&bench, &program, &format!("{class:?}"));
        }
        let bench = Bench::new();
        bench.world.fail("stubbed a", failure(FailureClass::Indeterminate));
        assert!(!bench.deploy(&program).succeeded());
        bench.deployed(&program);
        settled(&bench, &program, "indeterminate");
    }
}

/// BIND-10, APPLY-4: its own end does not wait for it, whatever else does.
#[test]
fn a_stub_that_failed_is_reported_once() {
    let bench = Bench::new();
    bench.world.fail("stubbed a", failure(FailureClass::Denied));
    let report = bench.deploy(&jar_and_thing());
    assert!(matches!(report.outcome("w_jar.a"), Some(Outcome::Failed(_))), "{:?}", report.outcomes);
    assert_eq!(report.outcome("w_thing.t"), Some(&Outcome::Skipped(address("w_jar.a"))));
    let told = bench.heard();
    let of_stub: Vec<_> = told.iter().filter(|event| event.contains("skipped")).collect();
    assert!(!of_stub.is_empty() && of_stub.iter().all(|event| !event.ends_with(" a")), "{told:?}");
}

/// BIND-10, CRASH-7
#[test]
fn a_stub_with_unknown_inputs_cut_off_anywhere_ends_as_one_object() {
    for program in [jar_and_thing(), shed_and_thing()] {
        for waits in 0.. {
            let bench = Bench::new();
            let finished = bench.deploy_cut_off(&program, waits);
            bench.deployed(&program);
            settled(&bench, &program, &format!("cut off after {waits} waits"));
            if finished {
                break;
            }
        }
    }
}

/// CRASH-2: what came of a stub that is no longer wanted goes.
#[test]
fn a_stub_that_may_have_been_made_is_deleted_when_it_is_removed() {
    for program in [jar_and_thing(), shed_and_thing()] {
        let bench = Bench::new();
        bench.world.fail("stubbed a", failure(FailureClass::Indeterminate));
        assert!(!bench.deploy(&program).succeeded());
        assert_eq!(things(&bench), 1);
        assert!(bench.destroy().succeeded());
        assert_eq!(things(&bench), 0);
        assert!(bench.records().is_empty());
    }
}

/// CRASH-2: a stub is finished even if the program no longer needs one.
#[test]
fn a_stub_that_may_have_been_made_is_finished_without_its_cycle() {
    let on = || ("on", crate::lifecycle::world::lit("ground"));
    let without = [program([resource("w_jar.a", [])]), program([resource("w_shed.a", [on()])])].into_iter();
    for (cyclic, alone) in [jar_and_thing(), shed_and_thing()].into_iter().zip(without) {
        let bench = Bench::new();
        bench.world.fail("stubbed a", failure(FailureClass::Indeterminate));
        assert!(!bench.deploy(&cyclic).succeeded());
        bench.deployed(&alone);
        assert_eq!(bench.world.things(), ["a=1"]);
        assert!(bench.plan(&alone).ends_with("No changes"));
    }
}

/// BIND-10, ADOPT-1, ADOPT-6: what is there already needs no stub.
#[test]
fn an_object_that_is_there_already_is_adopted_instead_of_stubbed() {
    let bench = Bench::new();
    bench.deployed(&jar_and_thing());
    let forgetful = Bench::in_world(bench.world.clone());
    forgetful.deployed(&jar_and_thing());
    settled(&forgetful, &jar_and_thing(), "after lost state");
    let calls = bench.world.calls();
    assert_eq!(calls.iter().filter(|call| call.starts_with("precreate ")).count(), 1, "{calls:?}");
}

/// BIND-4: a stub waits for what it cannot do without.
#[test]
fn a_stub_waits_for_the_inputs_that_it_needs() {
    let bench = Bench::new();
    let shed = [("on", output("w_thing.ground", "url")), ("partner", output("w_thing.t", "url"))];
    let program = program([
        resource("w_shed.a", shed),
        bound(resource("w_thing.t", []), output("w_shed.a", "arn")),
        resource("w_thing.ground", []),
    ]);
    bench.deployed(&program);
    let calls = bench.world.calls();
    let at = |call: &str| calls.iter().position(|it| it == call).unwrap();
    assert!(at("create ground") < at("precreate a") && at("precreate a") < at("create t"), "{calls:?}");
    assert_eq!(things(&bench), 3);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// BIND-4: what a stub needs and what waits for that stub is stubbed before.
#[test]
fn what_a_stub_needs_of_its_own_cycle_is_stubbed_first() {
    let bench = Bench::new();
    // The shed stands on the jar, and the thing, which refers to the shed, is bound to both.
    let program = program([
        bound(resource("w_shed.f", [("on", output("w_jar.r", "arn"))]), output("w_thing.q", "url")),
        bound(resource("w_jar.r", []), output("w_thing.q", "url")),
        resource("w_thing.q", [("from", output("w_shed.f", "arn"))]),
    ]);
    bench.deployed(&program);
    let calls = bench.world.calls();
    let made: Vec<&String> =
        calls.iter().filter(|it| it.starts_with("precreate ") || it.starts_with("create ")).collect();
    assert_eq!(made, ["precreate r", "precreate f", "create q"], "{calls:?}");
    assert_eq!(things(&bench), 3);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// BIND-4: where nothing can give a stub what it needs before it is made, the plan fails.
#[test]
fn a_stub_that_needs_what_waits_for_it_opens_no_cycle() {
    let bench = Bench::new();
    let cycle = |on: Expression| {
        program([
            resource("w_shed.a", [("on", on), ("partner", output("w_thing.t", "url"))]),
            bound(resource("w_thing.t", []), output("w_shed.a", "arn")),
            resource("w_thing.ground", [("from", output("w_thing.t", "url"))]),
        ])
    };
    for needed in ["w_thing.t", "w_thing.ground"] {
        let refused = bench.refused(&cycle(output(needed, "url")));
        assert!(refused.contains("none of them can be made before the others"), "{needed}: {refused}");
    }
    assert!(bench.plan(&cycle(crate::lifecycle::world::lit("ground"))).contains("3 to create"));
    assert_eq!(things(&bench), 0);
}
