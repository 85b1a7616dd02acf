//! All kinds of trouble at once, judged by the cloud's own books.

use proptest::prelude::*;

use super::scenario::{Trouble, scenario};
use super::{cases, the_end_is_done};

pub(super) const TROUBLES: &[Trouble] = &[
    Trouble::LostState,
    Trouble::Squatters,
    Trouble::Faults,
    Trouble::Cuts,
    Trouble::Moves,
    Trouble::Places,
    Trouble::Bindings,
    Trouble::Seals,
    Trouble::Destroys,
];

/// How many deploys it may take, as after lost state alone.
pub(super) const DEPLOYS_MAX: usize = 3;

proptest! {
    #![proptest_config(cases())]

    /// INV-1, INV-2, INV-4, INV-5, INV-10, INV-11: each declared resource ends with one object, the recorded one; nothing
    /// was deleted that another object used; whatever was reported deleted is gone.
    #[test]
    fn books_and_records_agree_whatever_happens(scenario in scenario(6, TROUBLES)) {
        the_end_is_done(&scenario, DEPLOYS_MAX);
    }
}
