//! State that is lost, and objects of somebody else that are taken over, while the program changes.

use proptest::prelude::*;

use super::cases;
use super::course::Course;
use super::scenario::{Scenario, Trouble, scenario};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::LostState, Trouble::Squatters];

/// How many deploys it may take beside the first: one that cleans up older objects which the first found only at apply,
/// and one more where a cloud refused to delete what found objects used.
const MORE_DEPLOYS_MAX: usize = 2;

proptest! {
    #![proptest_config(cases())]

    /// ADOPT-1, ADOPT-2, ADOPT-5, RECONCILE-4, REPLACE-10: each object is found, and kept unless a change calls for another.
    #[test]
    fn found_objects_are_kept_or_replaced_and_none_is_left(scenario in scenario(6, TROUBLES)) {
        law(&scenario);
    }
}

pub(super) fn law(scenario: &Scenario) {
    let mut course = Course::new(scenario);
    for step in &scenario.steps {
        let before = course.standing();
        course.run(step);
        course.settle(MORE_DEPLOYS_MAX);
        course.expect_kept(&before);
    }
    course.end(scenario.last);
}
