//! Outputs that plans rely on, because their types declare them stable, and that change at apply all the same.

use proptest::prelude::*;

use super::cases;
use super::course::Course;
use super::scenario::{Scenario, Trouble, scenario};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::Seals, Trouble::Bindings];

proptest! {
    #![proptest_config(cases())]

    /// UNKNOWN-13, BIND-6, APPLY-3: a run brings along what copied them, or fails; it never succeeds and leaves something out
    /// of date. The next one settles it.
    #[test]
    fn no_dependent_is_left_out_of_date_in_silence(scenario in scenario(6, TROUBLES)) {
        law(&scenario);
    }
}

pub(super) fn law(scenario: &Scenario) {
    let mut course = Course::new(scenario);
    for step in &scenario.steps {
        if course.run(step) {
            course.expect_done();
        } else {
            course.settle(1);
        }
    }
    course.end(scenario.last);
}
