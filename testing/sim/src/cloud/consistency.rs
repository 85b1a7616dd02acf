//! What can be seen when: new objects come into sight late, changes too, and deleted ones linger.
//!
//! Delays are drawn when something changes, so that all who look at one time see the same.

use std::time::Duration;

use crate::random::Dice;

/// How late things can be seen at most. The types' consistency window is a little longer.
pub(crate) const LATE_MAX: Duration = Duration::from_secs(15);

/// How late this cloud shows what happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Lateness {
    /// How many changes in a hundred are seen late.
    pub percent: u64,
}

impl Lateness {
    /// How long something that happens now stays out of sight.
    pub(crate) fn draw(self, dice: &mut Dice) -> Duration {
        if dice.percent(self.percent) {
            Duration::from_millis(dice.below(LATE_MAX.as_millis() as u64))
        } else {
            Duration::ZERO
        }
    }
}
