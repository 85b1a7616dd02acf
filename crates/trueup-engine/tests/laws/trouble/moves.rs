//! Resources that move, and others that take their old addresses.

use proptest::prelude::*;

use super::books::DEPLOYS_MAX;
use super::scenario::{Trouble, scenario};
use super::{cases, each_step_is_done, the_end_is_done};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::Moves];

pub(super) const FAILING_TROUBLES: &[Trouble] = &[Trouble::Moves, Trouble::Faults, Trouble::Cuts];

const FORGETFUL_TROUBLES: &[Trouble] = &[Trouble::Moves, Trouble::LostState, Trouble::Cuts];

proptest! {
    #![proptest_config(cases())]

    /// MOVE-1, RECONCILE-4: also where both happen in one deploy.
    #[test]
    fn what_moves_keeps_its_object_and_what_takes_its_address_gets_another(scenario in scenario(6, TROUBLES)) {
        each_step_is_done(&scenario);
    }

    /// MOVE-1, INV-5: older and unfinished generations move along.
    #[test]
    fn moves_in_failed_and_interrupted_runs_end_where_the_last_program_says(
        scenario in scenario(6, FAILING_TROUBLES),
    ) {
        the_end_is_done(&scenario, 1);
    }

    /// MOVE-1, RECONCILE-4, INV-1: an old address tells whose object it is only until another resource has it.
    #[test]
    fn moves_after_lost_state_double_no_object(scenario in scenario(4, FORGETFUL_TROUBLES)) {
        the_end_is_done(&scenario, DEPLOYS_MAX);
    }
}
