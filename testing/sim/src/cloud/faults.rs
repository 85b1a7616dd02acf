//! What goes wrong with requests.

use std::time::Duration;

use crate::random::Dice;
use crate::tally::Ingredient;

/// What goes wrong with one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Too many requests.
    Throttled(Duration),
    /// Not allowed.
    Denied,
    /// The service is down; nothing happened.
    Unavailable,
    /// It takes this long.
    Slow(Duration),
    /// The request never arrives, and nobody says so.
    LostRequest,
    /// It happens, and the answer never arrives.
    LostResponse,
    /// It happens, and the answer is that something went wrong.
    FailedAfter,
    /// It happens twice.
    Duplicate,
    /// The object is made half, and the answer says so.
    Partial,
    /// No more objects are allowed.
    Quota,
    /// No answer ever: the call runs into its time-out.
    Hang,
}

impl Fault {
    pub(crate) fn ingredient(self) -> Ingredient {
        match self {
            Fault::Throttled(_) => Ingredient::Throttled,
            Fault::Denied => Ingredient::Denied,
            Fault::Unavailable => Ingredient::Unavailable,
            Fault::Slow(_) => Ingredient::Slow,
            Fault::LostRequest => Ingredient::LostRequest,
            Fault::LostResponse => Ingredient::LostResponse,
            Fault::FailedAfter => Ingredient::FailedAfter,
            Fault::Duplicate => Ingredient::Duplicate,
            Fault::Partial => Ingredient::Partial,
            Fault::Quota => Ingredient::Quota,
            Fault::Hang => Ingredient::Hang,
        }
    }
}

/// How much goes wrong in a step of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Decides which.
    pub seed: u64,
    /// How many requests in a hundred go wrong.
    pub percent: u64,
    /// How many go wrong at most.
    pub budget: u64,
}

/// Faults as they come due.
#[derive(Debug)]
pub(crate) struct Weather {
    dice: Dice,
    percent: u64,
    left: u64,
}

impl Weather {
    pub(crate) fn fair() -> Self {
        Weather { dice: Dice::new(0), percent: 0, left: 0 }
    }

    pub(crate) fn of(faults: &Faults) -> Self {
        Weather { dice: Dice::new(faults.seed), percent: faults.percent, left: faults.budget }
    }

    /// What goes wrong with the next request.
    pub(crate) fn next(&mut self, creates: bool, changes: bool) -> Option<Fault> {
        if self.left == 0 || !self.dice.percent(self.percent) {
            return None;
        }
        self.left -= 1;
        let seconds = Duration::from_secs(self.dice.between(1, 50));
        Some(match self.dice.below(15) {
            0 => Fault::Throttled(seconds),
            1 | 2 => Fault::Denied,
            3 => Fault::Unavailable,
            4 => Fault::Slow(seconds),
            5 if changes => Fault::LostRequest,
            6 | 7 if changes => Fault::LostResponse,
            8 if changes => Fault::Duplicate,
            9 | 10 if creates => Fault::Partial,
            11 if creates => Fault::Quota,
            12 if changes => Fault::Hang,
            13 if changes => Fault::FailedAfter,
            _ => Fault::Unavailable,
        })
    }

    pub(crate) fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}
