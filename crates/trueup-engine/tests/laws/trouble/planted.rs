//! Each law fails when a bug is planted that it is there to find, within so many scenarios.
//!
//! Only built with the bugs: `cargo test -p trueup-engine --features mutations planted`. The law of `seals` has no bug to
//! find: the engine's part of it is one pass, `hold_kept_premises`.

use std::cell::Cell;

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use trueup_engine::{Mutation, plant};

use super::scenario::{Scenario, Trouble, scenario};
use super::{books, cycles, each_step_is_done, failures, lost, moves, places, the_end_is_done};

/// How many scenarios a planted bug may survive.
const SCENARIOS_MAX: u32 = 1_000;

/// A law: what it is called here, the trouble of its scenarios, and what it expects of each.
type Law = (&'static str, &'static [Trouble], fn(&Scenario));

const LOST: Law = ("lost", lost::TROUBLES, lost::law);
const FAILURES: Law = ("failures", failures::TROUBLES, settles_at_once);
const INTERRUPTED: Law = ("failures, interrupted", failures::CUT_TROUBLES, settles_at_once);
const MOVES: Law = ("moves", moves::TROUBLES, each_step_is_done);
const MOVES_FAILING: Law = ("moves, failing", moves::FAILING_TROUBLES, settles_at_once);
const PLACES: Law = ("places", places::TROUBLES, each_step_is_done);
const PLACES_FAILING: Law = ("places, failing", places::FAILING_TROUBLES, settles_at_once);
const CYCLES: Law = ("cycles", cycles::TROUBLES, each_step_is_done);
const CYCLES_FAILING: Law = ("cycles, failing", cycles::FAILING_TROUBLES, settles_at_once);
const BOOKS: Law = ("books", books::TROUBLES, settles_with_help);

/// The bugs that each law must find.
const PLANTED: &[(Law, Mutation)] = &[
    (LOST, Mutation::IgnoreFoundIdentity),
    (FAILURES, Mutation::ForgetOldDependencies),
    (FAILURES, Mutation::CleanUpEarly),
    (FAILURES, Mutation::ForgetDeposed),
    (FAILURES, Mutation::AbandonIndeterminate),
    (FAILURES, Mutation::RepeatUnseen),
    (FAILURES, Mutation::RepeatWithFreshToken),
    (INTERRUPTED, Mutation::SkipCreateIntent),
    (INTERRUPTED, Mutation::SkipUpdateIntent),
    (MOVES, Mutation::ShareNames),
    (MOVES_FAILING, Mutation::ShareNames),
    (PLACES, Mutation::ForgetConfiguration),
    (PLACES, Mutation::TrustOtherPlace),
    (PLACES_FAILING, Mutation::TrustOtherPlace),
    (CYCLES, Mutation::CutInputs),
    (CYCLES_FAILING, Mutation::RemakeStub),
    (BOOKS, Mutation::ConfirmDeleteBeforeCall),
    (BOOKS, Mutation::DeleteBeforeDependents),
    (BOOKS, Mutation::ForgetDeposed),
];

fn settles_at_once(scenario: &Scenario) {
    the_end_is_done(scenario, 1);
}

fn settles_with_help(scenario: &Scenario) {
    the_end_is_done(scenario, books::DEPLOYS_MAX);
}

#[test]
fn every_law_finds_the_bugs_that_it_is_there_for() {
    let survivors: Vec<String> = PLANTED
        .iter()
        .filter_map(|((name, troubles, law), mutation)| match found_after(*mutation, troubles, *law) {
            Some((scenarios, what)) => {
                println!("{name} finds {mutation:?} after {scenarios} scenarios: {what}");
                None
            }
            None => Some(format!("{name} does not find {mutation:?}")),
        })
        .collect();
    assert!(survivors.is_empty(), "{survivors:#?}");
}

/// How many scenarios a bug survives, and how the law fails then; `None` if it survives all.
fn found_after(mutation: Mutation, troubles: &[Trouble], law: fn(&Scenario)) -> Option<(u32, String)> {
    let config =
        Config { cases: SCENARIOS_MAX, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let survived = Cell::new(0);
    // Of this thread alone.
    plant(Some(mutation));
    let outcome = runner.run(&scenario(6, troubles), |scenario| {
        law(&scenario);
        survived.set(survived.get() + 1);
        Ok(())
    });
    plant(None);
    match outcome {
        Err(TestError::Fail(why, found)) => {
            // It is the bug that breaks the law: without it, the same scenario is fine.
            law(&found);
            let told: String = why.message().chars().take(100).collect();
            Some((survived.get(), told.replace('\n', " ")))
        }
        Ok(()) | Err(TestError::Abort(_)) => None,
    }
}
