//! Calls to providers end, whatever the provider does: in time (APPLY-13), and without taking the run down (CRUD-12).

use std::time::Duration;

use trueup_engine::{EngineError, Outcome, RunReport};
use trueup_program::{
    BindingDeclaration, DataDeclaration, Expression, ImportDeclaration, Node, Program, ProviderDeclaration,
    ResourceDeclaration,
};
use trueup_state::{Acquired, Holder, Scope, Store};

use crate::lifecycle::scripted::{Mishap, Script, TIMEOUT, impatient_bench as bench};
use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing};

fn scripted(name: &str, size: u64) -> ResourceDeclaration {
    resource(&format!("h_thing.{name}"), [("size", lit(size))])
}

fn asked(of: &str) -> DataDeclaration {
    DataDeclaration::new(address(of), Expression::new(Node::Object(Vec::new())))
}

/// A program whose provider is configured with what another resource makes known.
fn configured_by(mut program: Program, of: &str) -> Program {
    let config = Expression::new(Node::Object(vec![("region".into(), output(of, "url"))]));
    program.providers.push(ProviderDeclaration { name: "h".into(), config });
    program
}

/// What some work comes to, and how long it took.
fn timed<T>(bench: &Bench, work: impl FnOnce() -> T) -> (T, Duration) {
    let before = bench.now();
    let outcome = work();
    (outcome, bench.now().duration_since(before).unwrap())
}

/// Nobody holds the lease, long before it expires.
fn assert_lease_is_free(bench: &Bench, why: &str) {
    let text = str::to_owned;
    let holder = Holder { run: text("next"), user: text("eve"), host: text("there"), reason: text("test") };
    let scope = Scope::new("stack", "test");
    let taken = bench.run(bench.store.acquire(&scope, &holder, TIMEOUT)).unwrap();
    let Acquired::Lease(lease) = taken else { panic!("{why}: {taken:?}") };
    bench.run(bench.store.release(&scope, &lease)).unwrap();
}

/// A call that planning makes for a program, after another one was deployed.
struct PlanningCall {
    call: &'static str,
    before: Option<Program>,
    program: Program,
}

fn calls_while_planning() -> Vec<PlanningCall> {
    let new = |call| PlanningCall { call, before: None, program: program([scripted("a", 1)]) };
    let known = |call| PlanningCall { before: Some(program([scripted("a", 1)])), ..new(call) };
    let mut importing = program([scripted("a", 1)]);
    importing.imports.push(ImportDeclaration::new(address("h_thing.a"), lit("a")));
    let data = Program { data: vec![asked("data.h_data.a")], ..program([]) };
    let open = Program { ephemeral: vec![asked("ephemeral.h_open.a")], ..program([]) };
    vec![
        known("read"),
        known("migrate"),
        new("lookup"),
        new("plan"),
        new("resource"),
        new("config_schema"),
        new("configure"),
        PlanningCall { call: "import", before: None, program: importing },
        PlanningCall { call: "data", before: None, program: data },
        PlanningCall { call: "open", before: None, program: open },
    ]
}

/// Plans and deploys with a mishap in each call that planning makes. What is told, and how long it took.
fn mishaps_while_planning(mishap: &Mishap, mut check: impl FnMut(&str, String, Duration)) {
    for PlanningCall { call, before, program } in calls_while_planning() {
        let (bench, script) = bench();
        before.iter().for_each(|before| drop(bench.deployed(before)));
        script.mishap(call, mishap.clone());
        let (told, took) = timed(&bench, || bench.refused(&program));
        check(call, told, took);
        script.mishap(call, mishap.clone());
        let (deployed, took) = timed(&bench, || bench.try_deploy(&program));
        let Err(EngineError::Unsound(wrong)) = deployed else { panic!("{call}: {deployed:?}") };
        check(call, wrong.iter().map(ToString::to_string).collect(), took);
        assert_lease_is_free(&bench, call);
        assert!(bench.deploy(&program).succeeded(), "{call}: the next run goes on");
    }
}

/// APPLY-13, PLAN-14, STATE-4
#[test]
fn a_call_that_hangs_while_planning_ends_with_its_timeout() {
    mishaps_while_planning(&Mishap::Hang, |call, told, took| {
        assert!(told.contains("no answer within 30 s"), "{call}: {told}");
        assert_eq!(took, TIMEOUT, "{call}");
    });
}

/// CRUD-12
#[test]
fn a_panic_in_any_call_while_planning_is_an_error_of_the_plan() {
    mishaps_while_planning(&Mishap::Panic, |call, told, _| {
        assert!(told.contains("the provider panicked"), "{call}: {told}");
    });
}

/// APPLY-13, CRUD-12
#[test]
fn validation_that_hangs_or_panics_is_an_error() {
    for (mishap, expected) in [(Mishap::Hang, "no answer within 30 s"), (Mishap::Panic, "panicked")] {
        let (bench, script) = bench();
        script.mishap("validate", mishap);
        let (told, took) = timed(&bench, || bench.validate(&program([scripted("a", 1), scripted("b", 1)])));
        assert!(told.contains(expected), "{told}");
        assert!(took <= TIMEOUT, "{took:?}");
    }
}

/// A call that a deploy makes for `h_thing.a`, after some that go well.
struct ApplyingCall {
    call: &'static str,
    passing: usize,
    before: Option<Program>,
    program: Program,
}

fn calls_while_applying() -> Vec<ApplyingCall> {
    let applied = |call, passing, before: Option<u64>, after: Option<u64>| ApplyingCall {
        call,
        passing,
        before: before.map(|size| program([scripted("a", size)])),
        program: after.map_or(program([]), |size| program([scripted("a", size)])),
    };
    let of_b = resource("h_thing.a", [("colour", output("w_thing.b", "url"))]);
    let looking = program([thing("b", 1), of_b]);
    let late = configured_by(program([thing("b", 1), scripted("a", 1)]), "w_thing.b");
    vec![
        applied("check", 0, None, Some(1)),
        applied("plan", 1, None, Some(1)),
        applied("create", 0, None, Some(1)),
        applied("update", 0, Some(1), Some(2)),
        applied("delete", 0, Some(1), None),
        ApplyingCall { call: "lookup", passing: 0, before: None, program: looking },
        ApplyingCall { call: "configure", passing: 0, before: None, program: late },
    ]
}

fn mishaps_while_applying(mishap: &Mishap, mut check: impl FnMut(&str, &RunReport, Duration)) {
    for ApplyingCall { call, passing, before, program } in calls_while_applying() {
        let (bench, script) = bench();
        before.iter().for_each(|before| drop(bench.deployed(before)));
        (0..passing).for_each(|_| script.mishap(call, Mishap::Pass));
        script.mishap(call, mishap.clone());
        let (report, took) = timed(&bench, || bench.deploy(&program));
        check(call, &report, took);
        assert_lease_is_free(&bench, call);
    }
}

fn failure_of_a(report: &RunReport) -> String {
    match report.outcome("h_thing.a") {
        Some(Outcome::Failed(failure)) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

/// APPLY-13, STATE-4
#[test]
fn a_call_that_hangs_while_applying_ends_with_its_timeout() {
    mishaps_while_applying(&Mishap::Hang, |call, report, took| {
        assert!(failure_of_a(report).contains("no answer within 30 s"), "{call}");
        assert!(took >= TIMEOUT && took < TIMEOUT + Duration::from_secs(1), "{call}: {took:?}");
    });
}

/// CRUD-12
#[test]
fn a_panic_in_any_call_while_applying_is_an_error_of_its_resource() {
    mishaps_while_applying(&Mishap::Panic, |call, report, _| {
        assert!(failure_of_a(report).contains("the provider panicked"), "{call}");
    });
}

/// APPLY-13, CRASH-1: both ways in which a create is repeated by its token.
#[test]
fn the_repeat_of_a_create_that_hangs_ends_with_its_timeout() {
    for after in [program([scripted("a", 1)]), program([])] {
        let (bench, script) = bench();
        script.find_by_token();
        script.mishap("create", Mishap::Hang);
        assert!(!bench.deploy(&program([scripted("a", 1)])).succeeded());
        script.mishap("create", Mishap::Hang);
        let (report, took) = timed(&bench, || bench.deploy(&after));
        assert!(failure_of_a(&report).contains("no answer within 30 s"));
        assert_eq!(took, TIMEOUT);
        assert_lease_is_free(&bench, "create");
        assert!(bench.deploy(&after).succeeded());
    }
}

/// APPLY-13, BIND-5, STATE-4
#[test]
fn a_stub_that_hangs_ends_with_its_timeout() {
    let (bench, script) = bench();
    script.make_stubs();
    let a = resource("h_thing.a", [("colour", output("h_thing.b", "shown"))]);
    let mut b = scripted("b", 1);
    b.bindings.push(BindingDeclaration { key: "k".into(), payload: output("h_thing.a", "shown") });
    let both = program([a, b]);
    script.mishap("precreate", Mishap::Hang);
    let (report, took) = timed(&bench, || bench.deploy(&both));
    assert_eq!(failure_of_a(&report), "no answer within 30 s");
    assert!(matches!(report.outcome("h_thing.b"), Some(Outcome::Skipped(_))), "{:?}", report.outcomes);
    assert_eq!(took, TIMEOUT);
    assert_lease_is_free(&bench, "precreate");
}

/// APPLY-13, APPLY-8, CRUD-12: the answer stands, and a warning says why.
#[test]
fn a_read_back_that_hangs_or_panics_ends_with_its_timeout() {
    for (mishap, expected) in [(Mishap::Hang, "no answer within 30 s"), (Mishap::Panic, "panicked")] {
        let (bench, script) = bench();
        script.mishap("read", mishap);
        let (report, took) = timed(&bench, || bench.deployed(&program([scripted("a", 1)])));
        let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
        assert!(
            warning.contains("h_thing.a could not be read back") && warning.contains(expected),
            "{warning}"
        );
        assert!(took <= TIMEOUT, "{took:?}");
        assert_lease_is_free(&bench, "read");
    }
}

/// APPLY-13, CRUD-12, SECRET-7: what is open is renewed and closed in time, or the run says which is not.
#[test]
fn an_ephemeral_resource_that_hangs_fails_with_its_timeout() {
    let wanted = || {
        let mut a = scripted("a", 1);
        a.depends_on = vec![address("ephemeral.h_open.o")];
        Program { ephemeral: vec![asked("ephemeral.h_open.o")], ..program([a]) }
    };
    for (call, expected) in
        [("renew", "it was not renewed within 30 s"), ("close", "it was not closed within 30 s")]
    {
        let (bench, script) = bench();
        script.renew_after(TIMEOUT / 2);
        // What is open for the plan is closed before anything is applied.
        script.mishap("close", Mishap::Pass);
        script.mishap(call, Mishap::Hang);
        script.mishap("create", Mishap::Wait(TIMEOUT * 3 / 4));
        script.mishap("read", Mishap::Wait(TIMEOUT * 3 / 4));
        let (report, took) = timed(&bench, || bench.deploy(&wanted()));
        let failed = report.outcome("ephemeral.h_open.o");
        assert!(
            matches!(failed, Some(Outcome::Failed(failure)) if failure.message == expected),
            "{call}: {failed:?}"
        );
        assert!(took <= TIMEOUT * 5 / 2, "{call}: {took:?}");
        assert_lease_is_free(&bench, call);
        bench.deployed(&wanted());
    }
}

/// APPLY-13
#[test]
fn objects_that_hang_are_waited_for_together() {
    let (bench, script) = bench();
    let both = program([scripted("a", 1), scripted("b", 1)]);
    bench.deployed(&both);
    script.mishap("read", Mishap::Hang);
    script.mishap("read", Mishap::Hang);
    let (told, took) = timed(&bench, || bench.refused(&both));
    assert!(told.contains("read h_thing.a") && told.contains("read h_thing.b"), "{told}");
    assert_eq!(took, TIMEOUT);
}

/// APPLY-13: at plan for its types, at apply for its configuration.
#[test]
fn a_provider_that_hangs_is_waited_for_once() {
    let three = || [scripted("a", 1), scripted("b", 1), scripted("c", 1)];
    let (mut bench, script) = bench();
    bench.options.plan.parallelism = 1;
    script.mishap("resource", Mishap::Hang);
    let (told, took) = timed(&bench, || bench.refused(&program(three())));
    assert_eq!((told.matches("no answer within 30 s").count(), took), (3, TIMEOUT), "{told}");

    let mut late = program([thing("t", 1)]);
    late.resources.extend(three());
    let late = configured_by(late, "w_thing.t");
    script.mishap("configure", Mishap::Hang);
    let (report, took) = timed(&bench, || bench.deploy(&late));
    let failed = report.outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed(_)));
    assert_eq!((failed.count(), script.count("configure")), (3, 1));
    assert!(took < TIMEOUT + Duration::from_secs(1), "{took:?}");
}

/// STATE-12: that a provider does not answer says nothing of the records.
#[test]
fn a_plan_that_timed_out_is_not_made_again() {
    let (bench, script) = bench();
    let both = program([scripted("a", 1), scripted("b", 1)]);
    script.mishap("update", Mishap::Hang);
    bench.deployed(&both);
    bench.deploy(&program([scripted("a", 2), scripted("b", 1)]));
    script.mishap("read", Mishap::Hang);
    let (deployed, took) = timed(&bench, || bench.try_deploy(&both));
    assert!(matches!(deployed, Err(EngineError::Unsound(_))), "{deployed:?}");
    assert_eq!(took, TIMEOUT);
}

/// CRASH-1: waiting would not make it seen.
#[test]
fn a_type_that_cannot_look_is_not_waited_for() {
    let (bench, script) = bench();
    script.hide_for(TIMEOUT);
    script.mishap("create", Mishap::Hang);
    let wanted = program([scripted("a", 1)]);
    assert!(!bench.deploy(&wanted).succeeded());
    let (told, took) = timed(&bench, || bench.refused(&wanted));
    assert!(told.contains("the outcome of an earlier create is unknown"), "{told}");
    assert_eq!(took, Duration::ZERO);
}

/// A resource of which a change is ignored, so that its type is asked what to keep.
fn ignoring(size: u64) -> Program {
    let mut a = scripted("a", size);
    a.options.ignore_changes = vec!["size".parse().unwrap()];
    program([a])
}

/// CRUD-12: also in what types answer at once.
#[test]
fn a_panic_in_an_answer_at_once_is_an_error_of_the_plan() {
    let interrupted = |bench: &Bench, script: &Script| {
        script.mishap("create", Mishap::Hang);
        bench.deploy(&program([scripted("a", 1)]));
    };
    let lost = |bench: &Bench, script: &Script| {
        bench.deployed(&program([scripted("a", 1)]));
        script.lose_things();
    };
    let made = |bench: &Bench, _: &Script| drop(bench.deployed(&ignoring(1)));
    let cycle = || {
        let mut b = scripted("b", 1);
        b.bindings.push(BindingDeclaration { key: "k".into(), payload: output("h_thing.a", "shown") });
        program([resource("h_thing.a", [("colour", output("h_thing.b", "shown"))]), b])
    };
    type Before<'b> = &'b dyn Fn(&Bench, &Script);
    let cases: [(&str, Before<'_>, Program, &str); 4] = [
        ("keep_ignored", &made, ignoring(2), "plan h_thing.a"),
        ("consistency_window", &lost, program([scripted("a", 1)]), "read h_thing.a"),
        ("recovery", &interrupted, program([scripted("a", 1)]), "plan h_thing.a"),
        ("stub_inputs", &|_, _| {}, cycle(), "plan"),
    ];
    for (call, before, wanted, place) in cases {
        let (bench, script) = bench();
        before(&bench, &script);
        script.mishap(call, Mishap::Panic);
        let told = bench.refused(&wanted);
        let expected = format!("the provider panicked in `{call}` of `h_thing`");
        assert!(told.contains(&expected) && told.contains(place), "{call}: {told}");
    }
}

/// CRUD-12, STATE-4: also in what types answer at once. Other resources are applied.
#[test]
fn a_panic_in_an_answer_at_once_is_an_error_of_its_resource() {
    let with_b = |mut program: Program| {
        program.resources.push(thing("b", 2));
        program
    };
    let a = || program([scripted("a", 1)]);
    let cases = [
        ("keep_ignored", 1, Some(ignoring(1)), with_b(ignoring(2))),
        ("consistency_window", 0, None, with_b(a())),
        ("delete_end", 0, Some(a()), with_b(program([]))),
    ];
    for (call, passing, before, wanted) in cases {
        let (bench, script) = bench();
        script.hide_for(Duration::from_secs(1));
        before.iter().for_each(|before| drop(bench.deployed(before)));
        (0..passing).for_each(|_| script.mishap(call, Mishap::Pass));
        script.mishap(call, Mishap::Panic);
        let report = bench.deploy(&wanted);
        let expected = format!("the provider panicked in `{call}` of `h_thing`");
        assert!(failure_of_a(&report).contains(&expected), "{call}: {:?}", report.outcomes);
        assert_eq!(bench.world.things(), ["b=2"], "{call}");
        assert_lease_is_free(&bench, call);
        assert!(bench.deploy(&wanted).succeeded(), "{call}: the next run goes on");
    }
}
