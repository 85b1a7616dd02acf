//! UNKNOWN: values not known until apply.

use std::cell::Cell;

use trueup_core::{Failure, FailureClass};
use trueup_engine::{Action, Outcome};
use trueup_provider::{
    Context, Crud, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Prior, Registry, Result,
};

use trueup_program::{DataDeclaration, Deferral, Expression, Node, Program, ResourceDeclaration};
use trueup_state::{Scope, Store as _};

use crate::lifecycle::world::{
    Bench, address, lit, output, program, resource, thing, thing_from, with_output,
};

/// UNKNOWN-2, UNKNOWN-7: the url follows the size, so what reads it may change.
#[test]
fn dependents_of_an_update_may_update_and_are_decided_on_real_values() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let changed = program([thing("a", 2), thing_from("b", "a")]);
    insta::assert_snapshot!(bench.plan(&changed), @r#"
    ~ w_thing.a (inputs)
        size: 1 -> 2
    ~? w_thing.b (inputs, output-unknown)
        from: "thing/1/1" -> (unknown string)
    Plan: 1 to update, 1 may update
    "#);
    bench.world.calls();
    bench.deployed(&changed);
    assert!(bench.world.calls().contains(&"update b".to_owned()));
}

/// UNKNOWN-7: what turns out unchanged is not touched.
#[test]
fn a_possible_update_may_turn_out_a_no_op() {
    let bench = Bench::new();
    let reading = |colour: &str| {
        let a = resource("w_thing.a", [("from", lit(colour))]);
        program([a, thing_from("b", "a")])
    };
    bench.deployed(&reading("x"));
    assert!(bench.plan(&reading("y")).contains("~? w_thing.b"));
    bench.world.calls();
    bench.deployed(&reading("y"));
    let calls = bench.world.calls();
    assert!(calls.contains(&"update a".to_owned()) && !calls.contains(&"update b".to_owned()), "{calls:?}");
}

/// UNKNOWN-8
#[test]
fn an_unknown_replace_field_may_replace() {
    let bench = Bench::new();
    let coloured = |size| {
        let b = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        program([thing("a", size), b])
    };
    bench.deployed(&coloured(1));
    insta::assert_snapshot!(bench.plan(&coloured(2)), @r#"
    ~ w_thing.a (inputs)
        size: 1 -> 2
    ±? w_thing.b create first (inputs, output-unknown)
        colour: "thing/1/1" -> (unknown string) forces replacement
    Plan: 1 to update, 1 may replace
    "#);
    bench.deployed(&coloured(2));
    assert_eq!(bench.world.things(), ["a=2", "b=1"]);
    assert_eq!(bench.records()["b"].current.as_ref().unwrap().number.0, 1);
}

/// UNKNOWN-10: a create may adopt what it finds, and bring it up to date; replacing it was not planned.
#[test]
fn a_create_that_would_have_to_replace_stops_and_asks_for_another_plan() {
    let with = |size: u64, colour: &str| {
        let b = resource("w_thing.b", [("from", output("w_thing.a", "url")), ("colour", lit(colour))]);
        program([thing("a", size), b, thing_from("c", "b")])
    };
    let bench = Bench::new();
    bench.deployed(&with(1, "red"));
    let lost = Bench::in_world(bench.world.clone());
    let blue = with(2, "blue");
    assert!(lost.plan(&blue).contains("+ w_thing.b (new)"), "{}", lost.plan(&blue));
    let before = lost.world.by_name("b");
    let report = lost.deploy(&blue);
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.b") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.class, FailureClass::Conflict);
    assert_eq!(failure.message, "it needs another action than was planned: replace instead of create");
    assert_eq!(failure.hints, ["plan again"]);
    assert!(matches!(report.outcome("w_thing.c"), Some(Outcome::Skipped(_))), "{:?}", report.outcomes);
    assert_eq!(lost.world.by_name("b"), before);
    lost.deployed(&blue);
    assert_ne!(lost.world.by_name("b"), before);
}

/// UNKNOWN-10: what goes between the plan and its update is not made again by that run.
#[test]
fn what_is_gone_at_apply_fails_and_the_next_plan_makes_it_again() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let world = bench.world.clone();
    bench.world.cloud().at_call("update a", move || world.cloud().things.clear());
    let report = bench.deploy(&program([thing("a", 2)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.class, FailureClass::NotFound);
    assert!(bench.world.things().is_empty());
    let plan = bench.try_plan(&program([thing("a", 2)])).unwrap();
    assert_eq!(plan.action("w_thing.a").unwrap().decision(), "drift-recreate");
    bench.deployed(&program([thing("a", 2)]));
    assert_eq!(bench.world.things(), ["a=2"]);
}

/// UNKNOWN-9: a type that marks an output wants its update to be called, though no input changed.
#[test]
fn what_marks_an_output_unknown_is_updated_though_its_inputs_are_equal() {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("m").crud::<Mark>("mark"));
    let marked = program([resource("m_mark.a", [])]);
    bench.deployed(&marked);
    UPDATES.set(0);
    let plan = bench.try_plan(&marked).unwrap();
    assert_eq!(plan.action("m_mark.a").unwrap().action, Action::Update);
    assert!(plan.action("m_mark.a").unwrap().changes.is_empty());
    bench.deployed(&marked);
    assert_eq!(UPDATES.get(), 1);
}

thread_local! {
    static UPDATES: Cell<usize> = const { Cell::new(0) };
}

/// A type that computes an output anew in each run.
#[derive(Inputs)]
struct Mark {}

#[derive(Outputs)]
struct Marked {
    at: u64,
}

impl Crud for Mark {
    type Output = Marked;
    type Config = NoConfig;

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if request.prior.is_some() {
            plan.mark_output_unknown("at");
        }
        Ok(())
    }

    async fn create(&self, _: &Context) -> Result<Marked> {
        Ok(Marked { at: 0 })
    }

    async fn read(&self, _: &Context, prior: &Marked) -> Result<Marked> {
        Ok(Marked { at: prior.at })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<Marked> {
        UPDATES.set(UPDATES.get() + 1);
        Ok(Marked { at: prior.outputs.at + 1 })
    }

    async fn delete(&self, _: &Context, _: &Marked) -> Result<()> {
        Ok(())
    }
}

/// UNKNOWN-3, APPLY-12
#[test]
fn stack_outputs_are_unknown_in_the_plan_and_real_at_the_end() {
    let bench = Bench::new();
    let program = with_output(program([thing("a", 3)]), "where", output("w_thing.a", "url"));
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.outputs.to_string(), "{ where = (unknown any) }".replace("any", "string"));
    let report = bench.deployed(&program);
    assert_eq!(report.outputs.unwrap().to_string(), r#"{ where = "thing/1/3" }"#);
    assert_eq!(bench.try_plan(&program).unwrap().outputs.to_string(), r#"{ where = "thing/1/3" }"#);
    // Only a run that succeeds stores them.
    let changed = with_output(crate::lifecycle::world::program([thing("a", 4)]), "where", lit("elsewhere"));
    bench.world.fail("update a", Failure::new(FailureClass::Denied, "not yours"));
    assert!(!bench.deploy(&changed).succeeded());
    let stored =
        || bench.run(bench.store.load(&Scope::new("stack", "test"))).unwrap().outputs.unwrap().to_string();
    assert_eq!(stored(), r#"{ where = "thing/1/3" }"#);
    bench.deployed(&changed);
    assert_eq!(stored(), r#"{ where = "elsewhere" }"#);
}

/// UNKNOWN-12
#[test]
fn a_data_source_is_deferred_by_the_changes_that_it_waits_for_alone() {
    let bench = Bench::new();
    let read = |deferral: Deferral, size| {
        let of = Expression::new(Node::Object(vec![("of".into(), lit("four"))]));
        let data = DataDeclaration::new(address("data.w_length.l"), of);
        let depends_on = vec![address("w_thing.b"), address("w_thing.c")];
        let b = ResourceDeclaration { depends_on: vec![address("w_thing.a")], ..thing("b", 1) };
        let others = [thing("a", size), b, thing("c", 1)];
        let data = vec![DataDeclaration { deferral, depends_on, ..data }];
        Program { data, ..program(others) }
    };
    let waits = |resources: &[&str], with_upstream: &[&str]| {
        let all = |of: &[&str]| of.iter().map(|of| address(of)).collect();
        Deferral { resources: all(resources), with_upstream: all(with_upstream) }
    };
    bench.deployed(&read(Deferral::default(), 1));
    let own = ["data.w_length.l"];
    for (deferral, is_deferred) in [
        (waits(&[], &[]), false),
        (waits(&["w_thing.c"], &["w_thing.c"]), false),
        // It is as it was, and what it depends on is not.
        (waits(&["w_thing.b"], &[]), false),
        (waits(&[], &["w_thing.b"]), true),
        (waits(&["w_thing.a"], &[]), true),
        (waits(&[], &own), true),
    ] {
        let told = bench.plan(&read(deferral.clone(), 2));
        assert!(told.contains("~ w_thing.a") && told.contains("\u{2022} w_thing.b"), "{told}");
        assert_eq!(told.contains("? data.w_length.l"), is_deferred, "{deferral:?}: {told}");
        assert!(bench.plan(&read(deferral, 1)).ends_with("No changes"));
    }
}

/// UNKNOWN-12, EVENT-1
#[test]
fn a_data_source_is_read_at_plan_unless_it_depends_on_what_changes() {
    let bench = Bench::new();
    let with = |of: Expression, size| {
        let entries = vec![("of".into(), of)];
        let mut all = program([thing("a", size)]);
        all.data
            .push(DataDeclaration::new(address("data.w_length.l"), Expression::new(Node::Object(entries))));
        with_output(all, "length", output("data.w_length.l", "length"))
    };
    let plan = bench.try_plan(&with(lit("four"), 1)).unwrap();
    assert_eq!(plan.outputs.to_string(), "{ length = 4 }");
    let of_url = |size| with(output("w_thing.a", "url"), size);
    insta::assert_snapshot!(bench.plan(&of_url(1)), @r"
    + w_thing.a (new)
    ? data.w_length.l (output-unknown)
    Plan: 1 to create
    ");
    bench.world.calls();
    let report = bench.deployed(&of_url(1));
    assert_eq!(report.outputs.unwrap().to_string(), "{ length = 9 }");
    assert_eq!(bench.world.calls().iter().filter(|call| *call == "measure l").count(), 1);
    assert!(bench.heard().contains(&"reconciler.read.completed l".to_owned()));
    assert!(bench.plan(&of_url(1)).ends_with("No changes"));
}

/// What refers to a whole resource sees all its attributes: outputs, inputs, and null where nobody set one.
#[test]
fn a_whole_resource_has_all_its_attributes() {
    let bench = Bench::new();
    let whole = with_output(program([thing("a", 2)]), "whole", output("w_thing.a", ""));
    let report = bench.deployed(&whole);
    let told = r#"{ whole = { colour = "red", from = null, id = 1, size = 2, url = "thing/1/2" } }"#;
    assert_eq!(report.outputs.unwrap().to_string(), told);
}

/// A preview knows what a plan knows: recorded outputs of what stays, nothing of what is still to be made.
#[test]
fn a_preview_gives_the_outputs_that_a_plan_knows() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 2)]));
    let seen = bench.preview(&program([thing("a", 2), thing("b", 1)]), &["w_thing.a", "w_thing.b"], "url");
    assert_eq!(seen, [r#""thing/1/2""#, "(unknown string)"]);
}
