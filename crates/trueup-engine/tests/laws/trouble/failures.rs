//! Runs that fail or are cut off, and programs whose dependencies change before the next one.

use proptest::prelude::*;

use super::scenario::{Trouble, scenario};
use super::{cases, the_end_is_done};

pub(super) const TROUBLES: &[Trouble] = &[Trouble::Faults];

pub(super) const CUT_TROUBLES: &[Trouble] = &[Trouble::Faults, Trouble::Cuts, Trouble::Destroys];

proptest! {
    #![proptest_config(cases())]

    /// DELETE-1, DELETE-3, DELETE-10, APPLY-4, REPLACE-5, REPLACE-6, RETRY-7, RETRY-8: one deploy without failures settles
    /// what those with failures left, whatever became of the dependencies since.
    #[test]
    fn failed_runs_and_changed_dependencies_end_where_the_last_program_says(scenario in scenario(6, TROUBLES)) {
        the_end_is_done(&scenario, 1);
    }

    /// The same with runs that are cut off, and destroys that fail: CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6.
    #[test]
    fn failed_and_interrupted_runs_end_where_the_last_program_says(scenario in scenario(6, CUT_TROUBLES)) {
        the_end_is_done(&scenario, 1);
    }
}
