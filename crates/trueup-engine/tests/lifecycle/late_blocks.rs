//! DELETE-11, DRIFT-12, UNKNOWN-14: provider blocks that are known only at apply, since they follow from what changes.

use trueup_core::{Type, Value};
use trueup_engine::Outcome;
use trueup_program::{BindingDeclaration, Expression, Function, Node, Program, ResourceDeclaration};
use trueup_provider::GenerationNumber;

use crate::lifecycle::places::{Regions, bench, benches, configured, site};
use crate::lifecycle::world::{Bench, address, lit, output, program, resource};

/// The resource whose url is the region: it changes with the size, and a new colour makes a new object.
fn place(size: u64, colour: &str) -> ResourceDeclaration {
    resource("w_thing.where", [("size", lit(size)), ("colour", lit(colour))])
}

/// A program whose block follows from `w_thing.where`.
fn led_by<const N: usize>(resources: [ResourceDeclaration; N]) -> Program {
    configured(program(resources), [("region", output("w_thing.where", "url"))])
}

/// What is made anew after a kill has another id: only one site is left, and where its block leads.
fn assert_in_place(bench: &Bench, regions: &Regions, program: &Program, why: &str) {
    let (shown, plan) = (regions.shown(), bench.plan(program));
    let is_moved = shown.len() == 1 && shown[0] != "thing/1/1/a=1";
    assert!(is_moved, "{why}: {shown:?}");
    assert!(plan.ends_with("No changes"), "{why}: {plan}");
    assert!(bench.destroy_of(program).succeeded(), "{why}");
    assert_eq!(regions.shown(), [""; 0], "{why}");
    assert!(bench.records().is_empty(), "{why}");
}

/// UNKNOWN-14, DRIFT-12: the plan grants a replacement, and nothing stays behind.
#[test]
fn what_a_late_block_leads_away_from_is_replaced() {
    let (bench, regions) = bench();
    bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
    assert_eq!(regions.shown(), ["thing/1/1/a=1"]);
    let next = led_by([place(2, "red"), site("a", 1)]);
    insta::assert_snapshot!(bench.plan(&next), @r"
    ±? p_site.a create first (provider-unknown)
    ~ w_thing.where (inputs)
        size: 1 -> 2
    Plan: 1 to update, 1 may replace
    ");
    let report = bench.deployed(&next);
    assert_eq!(regions.shown(), ["thing/1/2/a=1"]);
    assert!(report.outcomes.iter().any(|(of, it)| of.name() == "a" && format!("{it:?}").contains("Replace")));
    assert_in_place(&bench, &regions, &next, "moved");
}

/// UNKNOWN-14: what is updated at the same time is made anew with the new inputs.
#[test]
fn what_changes_with_its_place_is_made_as_it_should_be() {
    let (bench, regions) = bench();
    bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
    let next = led_by([place(1, "blue"), site("a", 2)]);
    bench.deployed(&next);
    assert_eq!(regions.shown(), ["thing/2/1/a=2"]);
    assert_in_place(&bench, &regions, &next, "moved");
}

/// UNKNOWN-14: a block that comes out as it was touches nothing; one that still finds the object keeps it.
#[test]
fn what_a_late_block_still_leads_to_is_kept() {
    let (bench, regions) = bench();
    let place = |from: &str| resource("w_thing.where", [("size", lit(1)), ("from", lit(from))]);
    bench.deployed(&led_by([place("x"), site("a", 1)]));
    let next = led_by([place("y"), site("a", 1)]);
    assert!(bench.plan(&next).contains("±? p_site.a"), "{}", bench.plan(&next));
    bench.heard();
    bench.deployed(&next);
    assert_eq!(regions.shown(), ["thing/1/1/a=1"]);
    let heard = bench.heard();
    assert!(!heard.iter().any(|it| it.ends_with("started a")), "{heard:?}");
    // What changes itself is updated in place.
    bench.deployed(&led_by([place("z"), site("a", 2)]));
    assert_eq!(regions.shown(), ["thing/1/1/a=2"]);
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().number.0, 0);
}

/// DRIFT-12, ADOPT-3: what stands where a late block leads is somebody else's.
#[test]
fn what_a_late_block_finds_of_somebody_else_is_left_alone() {
    for (bench, regions) in benches() {
        bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
        regions.put("thing/1/2", "a", 1);
        let next = led_by([place(2, "red"), site("a", 3)]);
        assert!(!bench.deploy(&next).succeeded());
        assert_eq!(regions.shown(), ["thing/1/1/a=1", "thing/1/2/a=1"]);
        assert!(bench.destroy_of(&next).succeeded());
        assert_eq!(regions.shown(), ["thing/1/2/a=1"]);
    }
}

/// ADOPT-1, DELETE-9: a move that failed is given up in the program, and the object is found where it always was.
#[test]
fn what_was_to_move_is_found_again_where_it_stayed() {
    let stays = || configured(program([site("a", 1)]), [("region", lit("thing/1/1"))]);
    for back in [led_by([place(1, "red"), site("a", 1)]), stays()] {
        for (bench, regions) in benches() {
            bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
            for site in regions.books().sites.values_mut() {
                site.generation = Some(GenerationNumber::FIRST);
            }
            regions.put("thing/1/2", "a", 1);
            assert!(!bench.deploy(&led_by([place(2, "red"), site("a", 1)])).succeeded());
            let record = &bench.records()["a"];
            assert!(record.current.is_none() && record.deposed.len() == 1, "{record:?}");
            bench.deployed(&back);
            assert_eq!(regions.shown(), ["thing/1/1/a=1", "thing/1/2/a=1"]);
            assert!(bench.plan(&back).ends_with("No changes"), "{}", bench.plan(&back));
            assert!(bench.destroy_of(&back).succeeded());
            assert_eq!(regions.shown(), ["thing/1/2/a=1"]);
        }
    }
}

/// DRIFT-12: what is in neither place is made where the block leads.
#[test]
fn what_is_nowhere_is_made_where_a_late_block_leads() {
    let (bench, regions) = bench();
    bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
    regions.books().sites.clear();
    let next = led_by([place(2, "red"), site("a", 1)]);
    bench.deployed(&next);
    assert_in_place(&bench, &regions, &next, "made again");
}

/// DRIFT-12: drift that the plan could not see is repaired, so that nothing is left to do.
#[test]
fn drift_behind_a_late_block_is_repaired() {
    for protect in [false, true] {
        let (bench, regions) = bench();
        let declared = |from: &str| {
            let mut site = site("a", 1);
            site.options.protect = protect;
            led_by([resource("w_thing.where", [("size", lit(1)), ("from", lit(from))]), site])
        };
        bench.deployed(&declared("x"));
        regions.books().sites.values_mut().for_each(|site| site.size = 7);
        bench.deployed(&declared("y"));
        assert_eq!(regions.shown(), ["thing/1/1/a=1"]);
        assert!(bench.plan(&declared("y")).ends_with("No changes"));
    }
}

/// DELETE-11: what goes in the same run is deleted by the configuration it was made with.
#[test]
fn what_goes_while_its_block_is_not_known_is_deleted_where_it_is() {
    for colour in ["red", "blue"] {
        let (bench, regions) = bench();
        bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
        bench.deployed(&led_by([place(2, colour)]));
        assert_eq!(regions.shown(), [""; 0]);
        assert_eq!(bench.records().len(), 1);
    }
}

/// DELETE-1, UNKNOWN-14: what may have to go first waits for its users, also for those that something else kept until the
/// clean-up.
#[test]
fn what_may_go_first_waits_for_users_that_a_clean_up_would_delete() {
    let (bench, regions) = bench();
    let mut used = site("a", 1);
    used.options.delete_first = Some(true);
    let user = ResourceDeclaration { depends_on: vec![address("p_site.a")], ..site("b", 1) };
    let note = |colour: &str, on: &[&str]| {
        let mut note = resource("w_thing.note", [("size", lit(1)), ("colour", lit(colour))]);
        note.depends_on = on.iter().map(|on| address(on)).collect();
        note.options.retain = true;
        note
    };
    bench.deployed(&led_by([place(1, "red"), used.clone(), user, note("red", &["p_site.b"])]));
    let next = led_by([place(2, "red"), used, note("blue", &[])]);
    let plan = bench.plan(&next);
    assert!(plan.contains("±? p_site.a delete first"), "{plan}");
    bench.heard();
    bench.deployed(&next);
    let heard = bench.heard();
    let order: Vec<&String> = heard.iter().filter(|it| it.contains("delete.completed")).collect();
    assert_eq!(order, ["reconciler.delete.completed b", "reconciler.delete.completed a"]);
    assert_eq!(regions.shown(), ["thing/1/2/a=1"]);
}

/// REPLACE-2: where what the block follows from must go first, so must all that was made by it.
#[test]
fn what_was_made_in_a_place_goes_before_the_place() {
    let (bench, regions) = bench();
    bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
    let mut place = place(1, "blue");
    place.options.delete_first = Some(true);
    let next = led_by([place, site("a", 1)]);
    let plan = bench.plan(&next);
    assert!(plan.contains("± p_site.a delete first"), "{plan}");
    bench.heard();
    bench.deployed(&next);
    let heard = bench.heard();
    let order: Vec<&String> = heard.iter().filter(|it| it.contains("completed")).collect();
    assert_eq!(
        order,
        [
            "reconciler.delete.completed a",
            "reconciler.delete.completed where",
            "reconciler.create.completed where",
            "reconciler.create.completed a"
        ]
    );
    assert_in_place(&bench, &regions, &next, "moved");
}

/// UNKNOWN-14: unless the program asks for it.
#[test]
fn what_may_be_elsewhere_is_deleted_first_where_that_is_asked_for() {
    let (bench, regions) = bench();
    let declared = |size| {
        let mut site = site("a", 1);
        site.options.delete_first = Some(true);
        led_by([place(size, "red"), site])
    };
    bench.deployed(&declared(1));
    let plan = bench.plan(&declared(2));
    assert!(plan.contains("±? p_site.a delete first (provider-unknown)"), "{plan}");
    bench.deployed(&declared(2));
    assert_in_place(&bench, &regions, &declared(2), "moved");
}

/// REPLACE-2: a doubt alone deletes nothing first: in another place no identity clashes.
#[test]
fn doubt_about_a_place_spreads_to_nobody() {
    let (bench, _) = bench();
    let using = |place| {
        let mut b = site("b", 1);
        b.depends_on.push(address("p_site.a"));
        led_by([place, site("a", 1), b])
    };
    bench.deployed(&using(place(1, "red")));
    let plan = bench.plan(&using(place(2, "red")));
    for name in ["a", "b"] {
        assert!(plan.contains(&format!("±? p_site.{name} create first (provider-unknown)")), "{plan}");
    }
}

/// REPLACE-9, UNKNOWN-10, UNKNOWN-14: what is protected is granted no replacement; if it needs one, another plan is needed.
#[test]
fn what_is_protected_is_not_moved() {
    for size in [1, 2] {
        let (bench, regions) = bench();
        let protected = |place, size| {
            let mut site = site("a", size);
            site.options.protect = true;
            led_by([place, site])
        };
        bench.deployed(&protected(place(1, "red"), 1));
        let next = protected(place(2, "red"), size);
        let planned = if size == 1 { "~? p_site.a" } else { "~ p_site.a" };
        assert!(bench.plan(&next).contains(planned), "{}", bench.plan(&next));
        let report = bench.deploy(&next);
        assert_eq!(regions.shown(), ["thing/1/1/a=1"]);
        let Some(Outcome::Failed(failure)) = report.outcome("p_site.a") else {
            panic!("{:?}", report.outcomes)
        };
        assert_eq!(failure.hints, ["plan again"]);
        assert!(bench.refused(&next).contains("is protected and would be replaced"));
    }
}

/// DELETE-11, UNKNOWN-14: secrets lead nowhere else, most probably: a new one that is not known yet is no reason to doubt.
#[test]
fn a_late_password_is_no_other_place() {
    let (bench, regions) = bench();
    let declared = |size| {
        configured(
            program([place(size, "red"), site("a", 1)]),
            [("region", lit("west")), ("password", output("w_thing.where", "url"))],
        )
    };
    bench.deployed(&declared(1));
    assert!(bench.plan(&declared(2)).contains("• p_site.a"), "{}", bench.plan(&declared(2)));
    bench.deployed(&declared(2));
    assert_eq!(regions.shown(), ["west/a=1"]);
}

/// CRASH-7: a kill anywhere while objects move, and one rerun: one object, where it should be.
#[test]
fn a_kill_while_objects_move_neither_loses_nor_doubles_any() {
    let cases = [(2, "red", false), (1, "blue", false), (1, "blue", true)];
    for ((size, colour, delete_first), tells) in cases.into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
        for waits in 1.. {
            let (bench, regions) = benches().into_iter().nth(tells).unwrap();
            bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
            let mut place = place(size, colour);
            place.options.delete_first = Some(delete_first);
            let next = led_by([place, site("a", 1)]);
            let finished = bench.deploy_cut_off(&next, waits);
            bench.deployed(&next);
            assert_in_place(&bench, &regions, &next, &format!("{colour} after {waits}"));
            if finished {
                break;
            }
        }
    }
}

/// CRASH-1, CRASH-7: what came of a create that was cut off goes from where it was sent, once the block leads elsewhere.
#[test]
fn what_an_interrupted_create_left_in_another_place_goes() {
    for waits in 1.. {
        for (declared, tells) in [(true, 0), (true, 1), (false, 0), (false, 1)] {
            let (bench, regions) = benches().into_iter().nth(tells).unwrap();
            let finished = bench.deploy_cut_off(&led_by([place(1, "red"), site("a", 1)]), waits);
            if declared {
                let next = led_by([place(2, "red"), site("a", 1)]);
                bench.deployed(&next);
                assert_in_place(&bench, &regions, &next, &format!("after {waits}"));
            } else {
                bench.deployed(&led_by([place(2, "red")]));
                assert_eq!(regions.shown(), [""; 0], "after {waits}");
            }
            if finished && !declared && tells == 1 {
                return;
            }
        }
    }
}

/// PLANFILE-1: a saved plan grants the same.
#[test]
fn a_saved_plan_grants_what_a_late_block_needs() {
    let (bench, regions) = bench();
    bench.deployed(&led_by([place(1, "red"), site("a", 1)]));
    let next = led_by([place(2, "red"), site("a", 1)]);
    let saved = bench.try_save(&next, false).unwrap();
    let report = bench.try_deploy_saved(&next, &saved).unwrap();
    assert!(report.succeeded(), "{:?}", report.outcomes);
    assert_in_place(&bench, &regions, &next, "saved");
}

/// A jar that tells where the site is, to which the site attaches something.
fn circular(host: &str) -> Program {
    let mut jar = resource("w_jar.where", [("host", lit(host))]);
    jar.bindings.push(BindingDeclaration { key: "site".into(), payload: output("p_site.a", "size") });
    configured(program([jar, site("a", 1)]), [("region", region_of_jar())])
}

/// BIND-5: a member of a cycle that tells another's place.
#[test]
fn what_is_placed_by_a_member_of_its_cycle_moves_too() {
    let (bench, regions) = bench();
    bench.deployed(&circular("h1"));
    assert_eq!(regions.shown(), ["1/a=1"]);
    bench.deployed(&circular("h2"));
    assert_eq!(regions.shown(), ["2/a=1"]);
    assert_in_place(&bench, &regions, &circular("h2"), "moved");
}

/// BIND-7: where a cycle is opened at a block, what is recorded tells nothing once the other is decided.
#[test]
fn a_new_member_of_a_cycle_is_made_where_the_other_tells_in_the_end() {
    let (bench, regions) = bench();
    bench.deployed(&program([resource("w_jar.where", [("host", lit("h1"))])]));
    bench.deployed(&circular("h2"));
    assert_eq!(regions.shown(), ["2/a=1"]);
    assert_in_place(&bench, &regions, &circular("h2"), "made");
}

/// The id of the jar, as text.
fn region_of_jar() -> Expression {
    let text = Function::new(Type::String, |ids: &[Value]| Ok(Value::from(ids[0].to_string())));
    Expression::new(Node::Apply(text, vec![output("w_jar.where", "id")]))
}

/// UNKNOWN-7: who uses what may move may be updated, and is with the real values.
#[test]
fn dependents_of_what_may_move_may_update() {
    let (bench, regions) = bench();
    let next = |size| {
        let reader = resource("w_thing.reader", [("size", output("p_site.a", "size"))]);
        led_by([place(size, "red"), site("a", size), reader])
    };
    bench.deployed(&next(1));
    bench.deployed(&next(2));
    assert_eq!(regions.shown(), ["thing/1/2/a=2"]);
    assert!(bench.plan(&next(2)).ends_with("No changes"));
}
