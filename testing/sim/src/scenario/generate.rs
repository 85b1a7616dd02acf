//! Drawing scenarios.

use super::rings::add_ring;
use super::variants::{add_clock_steps, add_haste, add_variants};
use super::{Edit, Item, Operation, Rival, Scenario, Step};
use crate::actor::Deed;
use crate::cloud::{Faults, HOME, Kind, Lateness};
use crate::process::Incident;
use crate::random::Dice;
use crate::store::StoreFaults;

/// How large a scenario is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// Few resources and steps, for killing at every point.
    Small,
    /// Up to a dozen resources.
    Large,
}

/// The scenario of a seed.
pub fn generate(seed: u64, size: Size) -> Scenario {
    let mut dice = Dice::of(seed, 7);
    let (resources, steps) = match size {
        Size::Small => (dice.between(1, 3), dice.between(1, 3)),
        Size::Large => (dice.between(2, 10), dice.between(2, 7)),
    };
    let trouble = size == Size::Large;
    let mut drawn: Vec<Step> = (0..steps).map(|at| step(&mut dice, at, resources, trouble)).collect();
    let first: Vec<Edit> = (0..resources).map(|_| Edit::Add(Box::new(item(&mut dice)))).collect();
    if let Some(step) = drawn.first_mut() {
        step.edits = first;
        step.operation = Operation::Deploy;
    }
    add_variants(seed, &mut drawn);
    add_ring(seed, resources, &mut drawn);
    add_compass(seed, &mut drawn);
    add_clock_steps(seed, &mut drawn);
    if trouble {
        add_haste(seed, &mut drawn);
    }
    Scenario { seed, steps: drawn }
}

/// Lets the provider block of some seeds follow from a compass. It is drawn apart from all else, and only where the block
/// changes at all, so that what others do stays what it is.
fn add_compass(seed: u64, steps: &mut [Step]) {
    let is_configured =
        steps.iter().flat_map(|step| &step.edits).any(|edit| matches!(edit, Edit::Configure(_)));
    if let Some(first) = steps.first_mut()
        && is_configured
        && Dice::of(seed, 9).percent(50)
    {
        first.edits.push(Edit::Follow);
    }
}

fn step(dice: &mut Dice, at: u64, resources: u64, trouble: bool) -> Step {
    let edits = if at == 0 || dice.percent(25) { 0 } else { dice.between(1, 3) };
    let deeds = if at > 0 && dice.percent(20) { dice.between(1, 2) } else { 0 };
    let points = 30 + resources * 30;
    let mut incidents = Vec::new();
    if trouble && dice.percent(45) {
        incidents.push((dice.below(points), incident(dice)));
        if dice.percent(30) {
            incidents.push((dice.below(points * 2), incident(dice)));
        }
    }
    let faulty = trouble && dice.percent(40);
    let torn = trouble && dice.percent(12);
    Step {
        edits: (0..edits).map(|_| edit(dice)).collect(),
        deeds: (0..deeds).map(|_| deed(dice)).collect(),
        operation: operation(dice),
        incidents,
        faults: Faults {
            seed: dice.next(),
            percent: if faulty { dice.between(3, 35) } else { 0 },
            budget: dice.between(1, 8),
        },
        store: StoreFaults {
            seed: dice.next(),
            percent: if torn { dice.between(3, 30) } else { 0 },
            budget: dice.between(1, 3),
        },
        lateness: Lateness { percent: if dice.percent(30) { dice.between(10, 80) } else { 0 } },
        parallelism: *dice.pick(&[1, 2, 10, 10]),
        upgrade: dice.percent(5),
        rival: (trouble && dice.percent(12)).then(|| rival(dice)),
        pause_ms: *dice.pick(&[0, 100, 3_000, 20_000, 100_000]),
        loses_state: trouble && at > 0 && dice.percent(6),
        clock_step_s: 0,
        hasty: false,
    }
}

fn rival(dice: &mut Dice) -> Rival {
    Rival { delay_ms: *dice.pick(&[0, 50, 500, 5_000, 70_000]), unlocks: dice.percent(30) }
}

fn incident(dice: &mut Dice) -> Incident {
    match dice.below(10) {
        0..=4 => Incident::Kill,
        5 | 6 => Incident::Cancel,
        7 => Incident::Unlock,
        8 => Incident::Suspend(*dice.pick(&[20, 70, 300])),
        _ => Incident::Deed(deed(dice)),
    }
}

fn operation(dice: &mut Dice) -> Operation {
    match dice.below(20) {
        0 => Operation::Adopt,
        1 => Operation::DeployBlindly,
        2 | 3 => Operation::Target(dice.below(12)),
        4 => Operation::Exclude(dice.below(12)),
        5 => Operation::Replace(dice.below(12)),
        6 => Operation::Refresh,
        7 | 8 => Operation::Destroy,
        _ => Operation::Deploy,
    }
}

fn deed(dice: &mut Dice) -> Deed {
    match dice.below(8) {
        0..=2 => Deed::Delete(dice.below(20)),
        3 | 4 => Deed::Resize(dice.below(20), dice.between(50, 60)),
        5 | 6 => Deed::Recolour(dice.below(20)),
        _ => Deed::Squat(*dice.pick(&[Kind::Box, Kind::Jar, Kind::Page]), dice.below(8)),
    }
}

fn edit(dice: &mut Dice) -> Edit {
    let link = |dice: &mut Dice| dice.percent(75).then(|| dice.below(12));
    if dice.percent(6) {
        return Edit::Configure(*dice.pick(&[None, Some(HOME), Some(1), Some(2)]));
    }
    match dice.below(20) {
        0..=2 => Edit::Add(Box::new(item(dice))),
        3..=5 => Edit::Remove(dice.below(12)),
        6..=8 => Edit::Resize(dice.below(12), dice.between(1, 9)),
        9..=12 => Edit::Recolour(dice.below(12), dice.between(1, 2)),
        13 => Edit::Need(dice.below(12), link(dice)),
        14 => Edit::Host(dice.below(12), link(dice)),
        15 | 16 => Edit::Note(dice.below(12), link(dice)),
        17 => Edit::Reveal(dice.below(12), dice.below(5)),
        18 => Edit::Protect(dice.below(12)),
        _ => Edit::Rename(dice.below(12)),
    }
}

fn item(dice: &mut Dice) -> Item {
    let link = |dice: &mut Dice, percent: u64| dice.percent(percent).then(|| dice.below(12));
    Item {
        kind: *dice.pick(&[
            Kind::Box,
            Kind::Box,
            Kind::Box,
            Kind::Ticket,
            Kind::Ticket,
            Kind::Stone,
            Kind::Jar,
            Kind::Page,
        ]),
        size: dice.between(1, 9),
        colour: dice.below(3) as usize,
        needs: link(dice, 30),
        host: link(dice, 20),
        note: link(dice, 30),
        after: link(dice, 10),
        bound: None,
        secret: dice.percent(25).then(|| dice.below(5)),
        path: 0,
        spelling: 0,
        borrowed: None,
        retain: dice.percent(7),
        protect: dice.percent(4),
        delete_first: dice.percent(12),
    }
}
