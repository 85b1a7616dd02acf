//! CRASH: leftover states.

use trueup_core::{Failure, FailureClass};
use trueup_engine::Outcome;

use crate::lifecycle::world::{Bench, lit, program, resource, thing, thing_from};

/// CRASH-7: cut off anywhere and run again, a deploy ends where an uninterrupted one does.
#[test]
fn a_deploy_cut_off_anywhere_and_run_again_loses_and_doubles_nothing() {
    for kind in ["w_thing", "w_token"] {
        let declared = |name: &str| resource(&format!("{kind}.{name}"), [("size", lit(2))]);
        let program = program([declared("a"), declared("b")]);
        for waits in 0.. {
            let bench = Bench::new();
            let finished = bench.deploy_cut_off(&program, waits);
            bench.deployed(&program);
            assert_eq!(bench.world.things(), ["a=2", "b=2"], "{kind} cut off after {waits} waits");
            assert!(bench.plan(&program).ends_with("No changes"), "{kind} cut off after {waits} waits");
            if finished {
                break;
            }
        }
    }
}

/// CRASH-3, CRASH-4, CRASH-5, CRASH-6, REPLACE-3: the same for a run that updates, replaces and deletes.
#[test]
fn changes_cut_off_anywhere_and_run_again_end_where_they_should() {
    let before = || program([thing("a", 1), thing_from("b", "a"), thing("c", 1), thing("d", 1)]);
    let after = || {
        let blue = resource("w_thing.a", [("colour", lit("blue"))]);
        program([blue, thing_from("b", "a"), thing("c", 5)])
    };
    for waits in 0.. {
        let bench = Bench::new();
        bench.deployed(&before());
        let finished = bench.deploy_cut_off(&after(), waits);
        bench.deployed(&after());
        assert_eq!(bench.world.things(), ["a=1", "b=1", "c=5"], "cut off after {waits} waits");
        let number = bench.records()["a"].current.as_ref().unwrap().number.0;
        assert_eq!(number, 1, "cut off after {waits} waits: the same new generation");
        assert!(bench.plan(&after()).ends_with("No changes"), "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}

/// CRASH-6: cut off while it is removed, then wanted again.
#[test]
fn a_removal_cut_off_anywhere_and_taken_back_ends_with_the_resource() {
    let with = || program([thing("a", 1), thing_from("b", "a")]);
    for waits in 0.. {
        let bench = Bench::new();
        bench.deployed(&with());
        let finished = bench.deploy_cut_off(&program([]), waits);
        bench.deployed(&with());
        assert_eq!(bench.world.things(), ["a=1", "b=1"], "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}

/// CRASH-1: what was being created and is no longer wanted is found and deleted.
#[test]
fn a_create_cut_off_anywhere_and_no_longer_wanted_leaves_nothing() {
    for kind in ["w_thing", "w_token"] {
        for waits in 0.. {
            let bench = Bench::new();
            let finished = bench.deploy_cut_off(&program([resource(&format!("{kind}.a"), [])]), waits);
            bench.deployed(&program([]));
            assert!(bench.world.things().is_empty(), "{kind} cut off after {waits} waits");
            assert!(bench.records().is_empty());
            if finished {
                break;
            }
        }
    }
}

/// CRASH-1: a create keeps its recorded inputs when it is repeated, so a changed program cannot repair it.
#[test]
fn a_create_by_token_that_fails_says_how_to_give_it_up() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.world.fail("create a", Failure::new(FailureClass::Indeterminate, "no answer"));
    }
    let wanted = program([resource("w_token.a", [])]);
    let hints = |program: &trueup_program::Program| match bench.deploy(program).outcome("w_token.a") {
        Some(Outcome::Failed(failure)) => failure.hints.join(" "),
        other => panic!("{other:?}"),
    };
    // From the first run on: whoever does not want it repeated must know before the next one.
    for next in [wanted.clone(), wanted, program([])] {
        assert!(hints(&next).contains("trueup state resolve w_token.a --absent"));
    }
}

/// CRASH-1
#[test]
fn a_blind_create_whose_outcome_is_unknown_stops_until_a_person_says() {
    let bench = Bench::new();
    bench.world.fail("create a", Failure::new(FailureClass::Indeterminate, "no answer"));
    let program = program([resource("w_blind.a", [])]);
    assert!(!bench.deploy(&program).succeeded());
    let refused = bench.refused(&program);
    assert!(
        refused.contains("the outcome of an earlier create is unknown") && refused.contains("--absent"),
        "{refused}"
    );
    let removed = bench.deploy(&crate::lifecycle::world::program([]));
    assert!(
        matches!(removed.outcome("w_blind.a"), Some(Outcome::Failed(it)) if it.message.contains("the outcome of an earlier create is unknown"))
    );
    assert!(bench.records().contains_key("a"), "the intent is kept");
}

/// CRASH-1, ADOPT-7: a person who found the object says which it is.
#[test]
fn an_import_settles_a_create_whose_outcome_is_unknown() {
    use trueup_program::ImportDeclaration;
    let bench = Bench::new();
    bench.world.fail("create a", Failure::new(FailureClass::Indeterminate, "no answer"));
    let mut wanted = program([resource("w_blind.a", [])]);
    assert!(!bench.deploy(&wanted).succeeded());
    assert!(bench.refused(&wanted).contains("the outcome of an earlier create is unknown"));
    // What came of it, as nobody but a person can tell.
    Bench::in_world(bench.world.clone()).deployed(&program([resource("w_thing.b", [])]));
    let id = bench.world.cloud().things.keys().next().unwrap().to_string();
    let to = crate::lifecycle::world::address("w_blind.a");
    wanted.imports = vec![ImportDeclaration::new(to, lit(id.as_str()))];
    bench.deployed(&wanted);
    assert_eq!(bench.world.cloud().things.len(), 1, "nothing was made twice");
    assert!(bench.plan(&wanted).ends_with("No changes"));
}

/// CRASH-2
#[test]
fn a_half_made_object_is_finished_by_the_next_run() {
    let bench = Bench::new();
    bench.world.fail("created a", Failure::new(FailureClass::Denied, "half-way"));
    let program = program([thing("a", 3)]);
    assert!(!bench.deploy(&program).succeeded());
    assert_eq!(bench.world.things(), ["a=3"]);
    insta::assert_snapshot!(bench.plan(&program), @r"
    ~ w_thing.a (recovered)
    Plan: 1 to update
    ");
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=3"]);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// CRASH-2
#[test]
fn a_half_made_object_that_is_no_longer_wanted_is_deleted() {
    let bench = Bench::new();
    bench.world.fail("created a", Failure::new(FailureClass::Denied, "half-way"));
    assert!(!bench.deploy(&program([thing("a", 3)])).succeeded());
    bench.deployed(&program([]));
    assert!(bench.world.things().is_empty() && bench.records().is_empty());
}

/// CRASH-4, REPLACE-3: what could not be made does not stand in its own way.
#[test]
fn a_replacement_that_could_not_be_made_is_tried_again() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let blue = program([resource("w_thing.a", [("colour", lit("blue"))])]);
    bench.world.fail("create a", Failure::new(FailureClass::Denied, "not now"));
    assert!(!bench.deploy(&blue).succeeded());
    assert_eq!(bench.records()["a"].deposed.len(), 1);
    bench.deployed(&blue);
    assert_eq!(bench.world.things(), ["a=1"]);
    assert!(bench.plan(&blue).ends_with("No changes"));
}

/// CRASH-1, CRASH-6: what was found again can be deleted, also in a second attempt.
#[test]
fn the_interrupted_delete_of_what_was_found_again_is_finished() {
    let bench = Bench::new();
    let jar = program([resource("w_jar.j", [("partner", lit("p"))])]);
    for waits in 0.. {
        bench.deploy_cut_off(&jar, waits);
        if bench.world.by_name("j").is_some() {
            break;
        }
    }
    assert!(bench.records()["j"].current.as_ref().unwrap().object.is_none(), "its outcome is unknown");
    bench.world.fail("delete j", Failure::new(FailureClass::Indeterminate, "the connection broke"));
    assert!(!bench.deploy(&program([])).succeeded());
    bench.deployed(&program([]));
    assert!(bench.world.things().is_empty());
}

/// CRASH-1, DRIFT-1: what was found is brought to its inputs, also by a run after the one that found it.
#[test]
fn what_was_changed_before_it_was_found_is_repaired_even_if_the_finder_is_cut_off() {
    let wanted = || program([resource("w_jar.a", [("partner", lit("x"))])]);
    for waits in 0.. {
        let bench = Bench::new();
        for first in 0.. {
            bench.deploy_cut_off(&wanted(), first);
            if !bench.world.things().is_empty() {
                break;
            }
        }
        bench.world.cloud().things.values_mut().for_each(|thing| "by hand".clone_into(&mut thing.colour));
        let finished = bench.deploy_cut_off(&wanted(), waits);
        bench.deployed(&wanted());
        let colours: Vec<_> = bench.world.cloud().things.values().map(|it| it.colour.clone()).collect();
        assert_eq!(colours, ["x|"], "cut off after {waits} waits");
        if finished {
            break;
        }
    }
}
