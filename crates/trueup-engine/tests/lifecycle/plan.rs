//! PLAN: classification.

use trueup_core::Value;
use trueup_engine::Action;
use trueup_provider::{
    Context, Crud, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Prior, Registry, Result,
};

use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing, thing_from};

/// PLAN-1, PLAN-18
#[test]
fn an_empty_state_creates_everything_and_calls_nothing_mutating() {
    let bench = Bench::new();
    let plan = bench.plan(&program([thing("a", 1), thing_from("b", "a")]));
    insta::assert_snapshot!(plan, @r"
    + w_thing.a (new)
    + w_thing.b (new)
    Plan: 2 to create
    ");
    assert_eq!(bench.world.calls(), ["lookup a", "lookup a"], "under both names; b cannot be looked for yet");
    assert!(bench.records().is_empty());
}

/// PLAN-2, PLAN-18: apply, then plan, is empty.
#[test]
fn what_is_unchanged_is_a_no_op() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing_from("b", "a")]);
    bench.deployed(&program);
    insta::assert_snapshot!(bench.plan(&program), @r"
    • w_thing.a
    • w_thing.b
    No changes
    ");
}

/// PLAN-3, PLAN-19
#[test]
fn changed_inputs_update_with_old_and_new() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    insta::assert_snapshot!(bench.plan(&program([thing("a", 2)])), @r"
    ~ w_thing.a (inputs)
        size: 1 -> 2
    Plan: 1 to update
    ");
}

/// PLAN-4
#[test]
fn a_changed_replace_field_replaces_and_says_what_forced_it() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let blue = program([resource("w_thing.a", [("colour", lit("blue"))])]);
    insta::assert_snapshot!(bench.plan(&blue), @r#"
    ± w_thing.a create first (inputs)
        colour: "red" -> "blue" forces replacement
    Plan: 1 to replace
    "#);
}

/// A type whose plan hook names a field that forces a replacement anyway, and names it twice.
#[derive(Inputs)]
struct Emphatic {
    #[trueup(replace)]
    colour: String,
}

#[derive(Outputs)]
struct EmphaticOutput {}

impl Crud for Emphatic {
    type Output = EmphaticOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context<NoConfig>) -> Result<EmphaticOutput> {
        Ok(EmphaticOutput {})
    }

    async fn read(&self, _: &Context<NoConfig>, _: &EmphaticOutput) -> Result<EmphaticOutput> {
        Ok(EmphaticOutput {})
    }

    async fn update(&self, _: &Context<NoConfig>, _: &Prior<Self>) -> Result<EmphaticOutput> {
        Ok(EmphaticOutput {})
    }

    async fn delete(&self, _: &Context<NoConfig>, _: &EmphaticOutput) -> Result<()> {
        Ok(())
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if request.prior.is_some() {
            plan.replace("colour");
            plan.replace("colour");
        }
        Ok(())
    }
}

/// PLAN-4: whoever names it, and however often.
#[test]
fn what_forces_a_replacement_is_named_once() {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("o").crud::<Emphatic>("emphatic"));
    bench.deployed(&program([resource("o_emphatic.a", [("colour", lit("red"))])]));
    let plan = bench.try_plan(&program([resource("o_emphatic.a", [("colour", lit("blue"))])])).unwrap();
    let action = plan.action("o_emphatic.a").unwrap();
    assert_eq!(action.action, Action::Replace);
    let forcing: Vec<String> = action.replace_paths.iter().map(ToString::to_string).collect();
    assert_eq!(forcing, ["colour"]);
}

/// PLAN-5
#[test]
fn what_is_no_longer_declared_is_deleted_with_what_is_known_of_it() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 2)]));
    let plan = bench.try_plan(&program([thing("a", 1)])).unwrap();
    insta::assert_snapshot!(plan, @r"
    • w_thing.a
    - w_thing.b (undeclared)
    Plan: 1 to delete
    ");
    let gone = plan.action("w_thing.b").unwrap();
    assert_eq!(gone.prior_inputs.get("size"), Some(&Value::from(2)));
    assert_eq!(gone.prior_outputs.get("size"), Some(&Value::from(2)));
}

/// PLAN-7
#[test]
fn force_turns_a_no_op_into_an_update_and_leaves_the_rest() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1), thing("d", 1)]));
    bench.options.plan.force = true;
    let blue = resource("w_thing.d", [("colour", lit("blue"))]);
    insta::assert_snapshot!(bench.plan(&program([thing("a", 1), thing("c", 1), blue])), @r#"
    ~ w_thing.a (forced)
    - w_thing.b (undeclared)
    + w_thing.c (new)
    ± w_thing.d create first (inputs)
        colour: "red" -> "blue" forces replacement
    Plan: 1 to create, 1 to update, 1 to replace, 1 to delete
    "#);
}

/// PLAN-10
#[test]
fn what_is_still_referred_to_cannot_be_removed() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    insta::assert_snapshot!(bench.refused(&program([thing_from("b", "a")])), @"error: w_thing.b depends on w_thing.a, which is not declared (declare it, or remove the reference)");
}

/// PLAN-11
#[test]
fn a_type_that_nobody_has_is_an_error_for_orphans_too() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.refused(&program([resource("w_thig.a", []), resource("q_x.a", [])])), @r"
    error: the provider `w` has no resource type `w_thig` (did you mean `w_thing`?)
    error: no provider has the resource type `q_x` (the providers here are `w`)
    ");
    bench.deployed(&program([thing("a", 1)]));
    let object = bench.records().remove("a").unwrap().current.unwrap().object.unwrap();
    bench.record_by_hand("q_old.b", object);
    bench.world.calls();
    let told = bench.refused(&program([thing("a", 2)]));
    assert!(told.contains("resource type `q_old`"), "{told}");
    assert_eq!(bench.world.calls(), [""; 0], "nothing runs before it is told");
}

/// PLAN-12
#[test]
fn duplicates_and_dangling_references_are_errors_that_name_both() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.refused(&program([thing("a", 1), thing("a", 2)])), @"error: w_thing.a is declared twice (give one another name)");
    insta::assert_snapshot!(bench.refused(&program([thing("ab", 1), thing_from("c", "ax")])), @"error: w_thing.c depends on w_thing.ax, which is not declared (did you mean `w_thing.ab`?)");
}

/// PLAN-13
#[test]
fn a_cycle_is_found_before_any_call_and_shown_as_its_path() {
    let bench = Bench::new();
    let circular = program([thing_from("a", "b"), thing_from("b", "c"), thing_from("c", "a")]);
    let error = bench.try_plan(&circular).unwrap_err();
    let trueup_engine::EngineError::Unsound(diagnostics) = error else { panic!("{error}") };
    let diagnostic = diagnostics.iter().next().unwrap();
    assert_eq!(diagnostic.summary, "Resource dependency cycle detected");
    assert_eq!(diagnostic.detail.as_deref(), Some("w_thing.a → w_thing.b → w_thing.c → w_thing.a"));
    assert!(bench.world.calls().is_empty());
}

/// PLAN-14, RETRY-3: one failing read does not hide the others, and each stands on the line of its resource.
#[test]
fn all_failures_of_a_plan_are_told_together() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    bench.deployed(&program);
    for name in ["a", "c"] {
        bench.world.fail(&format!("read {name}"), denied());
    }
    insta::assert_snapshot!(bench.refused(&program), @r"
    error: cannot read w_thing.a: not yours
    error: cannot read w_thing.c: not yours
    ");
}

fn denied() -> trueup_core::Failure {
    trueup_core::Failure::new(trueup_core::FailureClass::Denied, "not yours")
}

/// PLAN-17
#[test]
fn a_dry_run_gives_the_same_plan_and_does_nothing() {
    let mut bench = Bench::new();
    let program = program([thing("a", 1), thing_from("b", "a")]);
    let plan = bench.plan(&program);
    bench.options.dry_run = true;
    assert_eq!(bench.dry_run(&program).to_string(), plan);
    assert!(bench.records().is_empty() && bench.world.things().is_empty());
}

/// PLAN-15, PLAN-16, CRUD-3
#[test]
fn planning_writes_nothing_and_says_the_same_twice() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let before = (bench.records(), bench.world.things());
    let changed = program([thing("c", 3), thing("a", 2), thing_from("d", "c")]);
    let first = bench.try_plan(&changed).unwrap();
    assert_eq!(first, bench.try_plan(&changed).unwrap());
    assert_eq!(before, (bench.records(), bench.world.things()));
    let order: Vec<_> = first.actions.iter().map(|action| action.address.name().to_owned()).collect();
    assert_eq!(order, ["a", "b", "c", "d"]);
    bench.world.calls();
    for parallelism in [1, 2, 16] {
        bench.options.plan.parallelism = parallelism;
        assert_eq!(bench.try_plan(&changed).unwrap(), first, "with parallelism {parallelism}");
    }
    let calls = bench.world.calls();
    assert!(calls.contains(&"read a".to_owned()) && !calls.contains(&"read c".to_owned()), "{calls:?}");
    let mutating = |call: &String| !call.starts_with("read ") && !call.starts_with("lookup ");
    assert_eq!(calls.into_iter().filter(mutating).collect::<Vec<_>>(), [""; 0]);
}

/// PLAN-21
#[test]
fn ignored_positions_keep_the_recorded_value_on_update_and_take_the_programs_on_create() {
    let bench = Bench::new();
    let mut declared = thing("a", 1);
    declared.options.ignore_changes = vec!["size".parse().unwrap()];
    bench.deployed(&program([declared.clone()]));
    assert_eq!(bench.world.things(), ["a=1"]);
    declared.inputs = thing("a", 7).inputs;
    assert_eq!(
        bench.try_plan(&program([declared.clone()])).unwrap().action("w_thing.a").unwrap().action,
        Action::NoOp
    );
    bench.destroy();
    bench.deployed(&program([declared.clone()]));
    assert_eq!(bench.world.things(), ["a=7"]);
    declared.inputs = resource("w_thing.a", [("size", lit(9)), ("colour", lit("blue"))]).inputs;
    let plan = bench.try_plan(&program([declared.clone()])).unwrap();
    assert_eq!(plan.action("w_thing.a").unwrap().action, Action::Replace);
    bench.deployed(&program([declared]));
    assert_eq!(bench.world.things(), ["a=9"], "nothing is ignored of a new object");
}

/// PLAN-21: the type sees the recorded value of an output that is named, and of one that mirrors a named input.
#[test]
fn drift_of_ignored_positions_is_neither_reported_nor_repaired() {
    let bench = Bench::new();
    let both = |of_thing: &[&str], of_database: &[&str]| {
        let paths = |paths: &[&str]| paths.iter().map(|path| path.parse().unwrap()).collect();
        let mut both = program([thing("a", 1), resource("w_database.d", [("name", lit("d"))])]);
        both.resources[0].options.ignore_changes = paths(of_thing);
        both.resources[1].options.ignore_changes = paths(of_database);
        both
    };
    bench.deployed(&both(&[], &[]));
    let (a, d) = (bench.world.by_name("a").unwrap(), bench.world.by_name("d").unwrap());
    bench.world.cloud().things.get_mut(&a).unwrap().size = 9;
    bench.world.cloud().things.get_mut(&d).unwrap().colour = "green".to_owned();
    insta::assert_snapshot!(bench.plan(&both(&["size"], &["size"])), @r#"
    ~ w_database.d (drift)
        colour: "red" <- "green"
    ~ w_thing.a (drift)
        url: "thing/1/1" <- "thing/1/9"
    Plan: 2 to update
    "#);
    let ignoring = both(&["size", "url"], &["colour"]);
    assert!(bench.plan(&ignoring).ends_with("No changes"), "{}", bench.plan(&ignoring));
    bench.world.calls();
    bench.deployed(&ignoring);
    assert_eq!(bench.world.calls(), ["read a"]);
    let cloud = bench.world.cloud();
    assert_eq!((cloud.things[&a].size, cloud.things[&d].colour.as_str()), (9, "green"));
}

/// CRUD-11
#[test]
fn mistakes_in_inputs_are_told_all_at_once() {
    let bench = Bench::new();
    let wrong = program([
        resource("w_thing.a", [("sise", lit(1)), ("size", lit("big"))]),
        resource("w_thing.b", [("from", output("w_thing.a", "nothing"))]),
    ]);
    insta::assert_snapshot!(bench.refused(&wrong), @r"
    error: unknown attribute `sise` in w_thing.a (did you mean `size`?)
    error: `size` in w_thing.a: expected a number, found text that is not a number (`size` is a number)
    ");
    let dangling =
        program([thing("a", 1), resource("w_thing.b", [("from", output("w_thing.a", "nothing"))])]);
    insta::assert_snapshot!(bench.refused(&dangling), @"error: w_thing.a has no output `nothing`");
}

#[test]
fn a_replacement_can_be_asked_for() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.options.plan.replace = vec![address("w_thing.a").into()];
    insta::assert_snapshot!(bench.plan(&program([thing("a", 1)])), @r"
    ± w_thing.a create first (forced)
    Plan: 1 to replace
    ");
    bench.options.plan.replace = vec![address("w_thing.b").into()];
    assert!(bench.refused(&program([thing("a", 1)])).contains("did you mean `w_thing.a`?"));
}

#[test]
fn each_pass_can_tell_what_it_did() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing("old", 1)]));
    let mut renamed = thing("c", 1);
    renamed.renamed_from = Some(address("w_thing.old"));
    let changed = program([resource("w_thing.a", [("colour", lit("blue"))]), thing_from("b", "a"), renamed]);
    let told: Vec<String> =
        bench.plan_traced(&changed).iter().map(|it| format!("{}\n{}", it.pass, it.text)).collect();
    insta::assert_snapshot!(told.join("\n"));
    // A plan that is refused tells how far it came.
    bench.options.plan.targets = vec![address("w_thing.z").into()];
    let passes: Vec<_> = bench.plan_traced(&changed).iter().map(|it| it.pass).collect();
    assert_eq!(passes, ["relocate", "collect", "connect"]);
}

/// PLAN-20
#[test]
fn a_changed_type_is_a_create_and_a_delete() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    insta::assert_snapshot!(bench.plan(&program([resource("w_token.a", [("size", lit(1))])])), @r"
    - w_thing.a (undeclared)
    + w_token.a (new)
    Plan: 1 to create, 1 to delete
    ");
}

/// CRUD-11, PLAN-12: a program is judged without state and without a call.
#[test]
fn validating_calls_nothing_and_tells_every_mistake() {
    let bench = Bench::new();
    let sound = program([thing("a", 1), thing_from("b", "a")]);
    assert_eq!(bench.validate(&sound), "");
    let wrong = program([
        resource("w_thing.a", [("size", lit("much"))]),
        resource("w_thing.b", [("from", output("w_thing.a", "url")), ("weight", lit(3))]),
    ]);
    let told = bench.validate(&wrong);
    assert!(told.contains("`size`") && told.contains("`weight`"), "{told}");
    let dangling = program([thing_from("b", "gone")]);
    assert!(bench.validate(&dangling).contains("w_thing.gone"), "{}", bench.validate(&dangling));
    assert_eq!(bench.world.calls(), Vec::<String>::new());
}
