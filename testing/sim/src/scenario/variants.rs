//! What some seeds have beside the rest: other kinds in place of the usual ones, runs that follow a failed one at once, and
//! wall clocks that are set between runs.
//! Each is drawn apart from all else, so that what the other seeds do stays what it is.

use super::{Edit, Operation, Step};
use crate::cloud::{Faults, Kind, Lateness, SPELLINGS};
use crate::process::Incident;
use crate::random::Dice;

/// How many seeds in a hundred have other kinds.
const VARIANTS_PERCENT: u64 = 30;

/// How many seeds in a hundred have a run that follows a failed one at once.
const HASTE_PERCENT: u64 = 15;

/// How many seeds in a hundred have wall clocks that are set.
const CLOCKS_PERCENT: u64 = 15;

/// Puts other kinds in place of the usual ones in some seeds, spells names differently, and lets a person be hasty.
pub(super) fn add_variants(seed: u64, steps: &mut [Step]) {
    let mut dice = Dice::of(seed, 10);
    if !dice.percent(VARIANTS_PERCENT) {
        return;
    }
    for (at, step) in steps.iter_mut().enumerate() {
        for edit in &mut step.edits {
            if let Edit::Add(item) = edit {
                item.kind = variant(&mut dice, item.kind);
            }
        }
        if at > 0 && dice.percent(50) {
            step.edits.push(Edit::Respell(dice.below(4), dice.below(SPELLINGS)));
        }
        if at > 0 && dice.percent(15) {
            step.edits.push(Edit::Collide(dice.below(4)));
        }
        step.hasty = dice.percent(30);
    }
}

fn variant(dice: &mut Dice, kind: Kind) -> Kind {
    let (percent, variants): (u64, &[Kind]) = match kind {
        Kind::Box => (60, &[Kind::Sack]),
        Kind::Stone => (60, &[Kind::Pebble]),
        Kind::Page => (80, &[Kind::Leaf]),
        Kind::Ticket => (60, &[Kind::Leaf, Kind::Pool]),
        _ => return kind,
    };
    if dice.percent(percent) { *dice.pick(variants) } else { kind }
}

/// Lets some seeds have a run that fails or is killed while objects are out of sight, and the next one delete everything at
/// once, or look at it with another clock.
pub(super) fn add_haste(seed: u64, steps: &mut [Step]) {
    let mut dice = Dice::of(seed, 12);
    if !dice.percent(HASTE_PERCENT) || steps.len() < 2 {
        return;
    }
    let at = dice.below(steps.len() as u64 - 1) as usize;
    let (kills, point, seed) = (dice.percent(30), dice.between(10, 200), dice.next());
    let (deletes, steps_clock) = (dice.percent(60), dice.percent(50));
    let step = &mut steps[at];
    step.lateness = Lateness { percent: 90 };
    step.pause_ms = 0;
    match kills {
        true => step.incidents.push((point, Incident::Kill)),
        false => step.faults = Faults { seed, percent: 35, budget: 8 },
    }
    let next = &mut steps[at + 1];
    next.faults.percent = 0;
    next.operation = if deletes { Operation::Destroy } else { Operation::Deploy };
    if steps_clock {
        next.clock_step_s = 3_600;
    }
}

/// Sets the wall clock between the runs of some seeds, mostly forward.
pub(super) fn add_clock_steps(seed: u64, steps: &mut [Step]) {
    let mut dice = Dice::of(seed, 11);
    if !dice.percent(CLOCKS_PERCENT) {
        return;
    }
    for step in steps.iter_mut().skip(1) {
        if dice.percent(50) {
            step.clock_step_s = *dice.pick(&[20, 60, 3_600, 86_400, -300]);
        }
    }
}
