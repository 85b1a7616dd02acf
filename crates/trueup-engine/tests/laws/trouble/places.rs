//! Provider blocks that change, come and go, where objects are seen only through the configuration they were made with.

use proptest::prelude::*;

use super::scenario::{Trouble, scenario};
use super::{cases, each_step_is_done, the_end_is_done};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::Places];

pub(super) const FAILING_TROUBLES: &[Trouble] = &[Trouble::Places, Trouble::Faults, Trouble::Cuts];

proptest! {
    #![proptest_config(cases())]

    /// DRIFT-11, DELETE-8, DELETE-11: and a destroy finds it, by whichever block, or by none.
    #[test]
    fn objects_follow_their_provider_block_and_none_stays_behind(scenario in scenario(6, TROUBLES)) {
        each_step_is_done(&scenario);
    }

    /// DELETE-11, CRASH-1, INV-5
    #[test]
    fn blocks_that_change_between_failed_runs_leave_nothing_behind(scenario in scenario(6, FAILING_TROUBLES)) {
        the_end_is_done(&scenario, 1);
    }
}
