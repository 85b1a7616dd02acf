//! A run that is cut off and run again ends where an uninterrupted one does.

use proptest::prelude::*;

use crate::laws::cases;
use crate::laws::course::Course;
use crate::laws::sketch::scenario_without_retain;

proptest! {
    #![proptest_config(cases())]

    /// INV-5, CRASH-7
    #[test]
    fn cut_off_and_run_again_ends_where_an_uninterrupted_run_does(
        scenario in scenario_without_retain(12),
        waits in prop::collection::vec(0..60usize, 1..3),
    ) {
        let (mut course, mut twin) = (Course::new(&scenario), Course::new(&scenario));
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            let same = twin.edit(edits).sketch;
            prop_assert_eq!(&edited.sketch, &same);
            if twin.deploy(&same).is_none() {
                continue;
            }
            for waits in &waits {
                course.bench.deploy_cut_off(&edited.sketch.program(), *waits);
            }
            course.deploy(&edited.sketch).expect("an uninterrupted run was accepted");
            course.expect_settled();
            prop_assert_eq!(course.bench.world.things(), twin.bench.world.things());
            prop_assert!(course.plan(&edited.sketch).unwrap().is_empty());
        }
    }

    /// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6: whatever the program says by then.
    #[test]
    fn cut_off_and_edited_again_ends_where_the_last_program_says(
        scenario in scenario_without_retain(12),
        waits in 0..60usize,
    ) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let interrupted = course.edit(edits).sketch;
            if course.plan(&interrupted).is_some() {
                course.bench.deploy_cut_off(&interrupted.program(), waits);
                course.deployed = interrupted;
            }
        }
        let last = course.deployed.clone().unguarded();
        course.deploy(&last).expect("nothing stands in the way");
        course.expect_settled();
        prop_assert!(course.plan(&last).unwrap().is_empty());
    }
}
