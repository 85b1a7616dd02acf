//! Cycles through bindings: stubs, then objects, in runs that succeed, fail and are cut off.

use proptest::prelude::*;

use super::scenario::{Trouble, scenario};
use super::{cases, each_step_is_done, the_end_is_done};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::Bindings];

pub(super) const FAILING_TROUBLES: &[Trouble] =
    &[Trouble::Bindings, Trouble::Faults, Trouble::Cuts, Trouble::Destroys];

proptest! {
    #![proptest_config(cases())]

    /// BIND-3, BIND-4, BIND-5, BIND-6, BIND-9, DELETE-1: one deploy makes, changes, replaces and dissolves cycles, and users
    /// go first.
    #[test]
    fn cycles_settle_in_one_deploy_and_are_deleted_users_first(scenario in scenario(6, TROUBLES)) {
        each_step_is_done(&scenario);
    }

    /// BIND-10, CRASH-2, INV-5: a stub that failed, half or wholly, is neither lost nor made twice.
    #[test]
    fn cycles_settle_after_failed_and_interrupted_stubs(scenario in scenario(6, FAILING_TROUBLES)) {
        the_end_is_done(&scenario, 1);
    }
}
