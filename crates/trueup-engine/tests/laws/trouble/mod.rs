//! The laws in trouble: lost state, failed and interrupted runs, moves, provider blocks that change, binding cycles and
//! outputs that do not stay as planned, alone and combined.
//!
//! `cloud` keeps books of what exists and of each request that no engine should make; `types` manage its objects;
//! `sketch` and `scenario` make programs, edits and trouble as small data; `course` runs them and compares books and
//! records after each run. The other files hold laws, and `planted` proves that
//! each of them can fail.

mod books;
mod cloud;
mod course;
mod cycles;
mod failures;
mod lost;
mod moves;
mod places;
#[cfg(feature = "mutations")]
mod planted;
mod scenario;
mod seals;
mod sketch;
mod types;

use proptest::prelude::ProptestConfig;
use trueup_test_servers::sized;

use course::Course;
use scenario::Scenario;

/// In every run, a sixth of the scenarios that other laws are tried on: these take longer, and there are many laws.
fn cases() -> ProptestConfig {
    let told = super::cases();
    ProptestConfig { cases: sized(told.cases.div_ceil(6), told.cases), ..told }
}

/// Expects that each step succeeds and leaves nothing to do, that objects stay unless something calls for others, and
/// that a destroy leaves nothing behind.
fn each_step_is_done(scenario: &Scenario) {
    let mut course = Course::new(scenario);
    for step in &scenario.steps {
        let before = course.standing();
        assert!(course.run(step), "nothing stands in the way");
        course.expect_done();
        course.expect_kept(&before);
    }
    course.end(scenario.last);
}

/// Expects that after all steps, whatever came of them, so many deploys leave nothing to do, and that a destroy leaves
/// nothing behind.
fn the_end_is_done(scenario: &Scenario, deploys_max: usize) {
    let mut course = Course::new(scenario);
    for step in &scenario.steps {
        course.run(step);
    }
    course.settle(deploys_max);
    course.end(scenario.last);
}
