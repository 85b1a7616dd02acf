//! Rings: circles of resources that are closed by what one attaches to another. Some seeds have one, and the crash table
//! has rows of them.

use super::rows::step;
use super::{Edit, Item, Scenario, Step};
use crate::cloud::Kind;
use crate::random::Dice;

/// How many seeds in a hundred have a ring.
const RINGS_PERCENT: u64 = 30;

/// A ring of two: one depends on the other and attaches something to it.
#[derive(Clone, Copy, Debug)]
struct Ring {
    /// The one to which something is attached.
    told: Kind,
    told_delete_first: bool,
    /// The one that attaches it.
    teller: Kind,
    teller_delete_first: bool,
    link: Link,
}

/// How the one depends on the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    Needs,
    Host,
    Note,
    After,
    /// Only by what is attached to it in turn.
    Bound,
}

impl Ring {
    /// Declares it after so many other resources.
    fn declared(&self, before: u64) -> Vec<Edit> {
        let told = Item { delete_first: self.told_delete_first, ..plain(self.told) };
        let teller = Item { delete_first: self.teller_delete_first, ..plain(self.teller) };
        let teller = linked(teller, self.link, before);
        let added = [told, teller].map(|item| Edit::Add(Box::new(item)));
        added.into_iter().chain([Edit::Bind(before, Some(before + 1))]).collect()
    }
}

fn plain(kind: Kind) -> Item {
    Item {
        kind,
        size: 1,
        colour: 0,
        needs: None,
        host: None,
        note: None,
        after: None,
        bound: None,
        secret: None,
        path: 0,
        spelling: 0,
        borrowed: None,
        retain: false,
        protect: false,
        delete_first: false,
    }
}

fn linked(mut item: Item, link: Link, to: u64) -> Item {
    let linked = match link {
        Link::Needs => &mut item.needs,
        Link::Host => &mut item.host,
        Link::Note => &mut item.note,
        Link::After => &mut item.after,
        Link::Bound => &mut item.bound,
    };
    *linked = Some(to);
    item
}

/// Adds a ring to the scenarios of some seeds. It is drawn apart from all else, so that what others do stays what it is.
pub(super) fn add_ring(seed: u64, resources: u64, steps: &mut [Step]) {
    let mut dice = Dice::of(seed, 8);
    if !dice.percent(RINGS_PERCENT) {
        return;
    }
    let Some((first, later)) = steps.split_first_mut() else { return };
    first.edits.extend(drawn(&mut dice, resources));
    for step in later {
        if dice.percent(60) {
            step.edits.extend(change(&mut dice, resources));
        }
    }
}

fn drawn(dice: &mut Dice, before: u64) -> Vec<Edit> {
    let told = *dice.pick(&[Kind::Jar, Kind::Jar, Kind::Hub, Kind::Page]);
    let stubs = [Kind::Jar, Kind::Hub];
    let all = [Kind::Jar, Kind::Hub, Kind::Box, Kind::Box, Kind::Ticket, Kind::Page];
    let ring = Ring {
        told,
        teller: *if told.has_stubs() { dice.pick(&all) } else { dice.pick(&stubs) },
        told_delete_first: dice.percent(15),
        teller_delete_first: dice.percent(15),
        link: *dice.pick(&[
            Link::Needs,
            Link::Needs,
            Link::Host,
            Link::Host,
            Link::Note,
            Link::After,
            Link::Bound,
        ]),
    };
    let mut edits = ring.declared(before);
    if dice.percent(30) {
        // A third that depends on the two, and attaches something to one of them.
        let links = [Link::Needs, Link::Host, Link::Note];
        let third = linked(plain(*dice.pick(&all)), *dice.pick(&links), before + dice.below(2));
        edits.push(Edit::Add(Box::new(third)));
        edits.push(Edit::Bind(before + dice.below(2), Some(before + 2)));
    }
    edits
}

fn change(dice: &mut Dice, before: u64) -> Vec<Edit> {
    let member = |dice: &mut Dice| before + dice.below(2);
    match dice.below(10) {
        0..=2 => vec![Edit::Recolour(member(dice), dice.between(1, 2))],
        3 => (0..2).map(|at| Edit::Recolour(before + at, 1)).collect(),
        4 => vec![Edit::Resize(member(dice), dice.between(1, 9))],
        5 | 6 => vec![Edit::Remove(member(dice))],
        7 => vec![Edit::Bind(member(dice), None)],
        8 => vec![Edit::Bind(member(dice), Some(dice.below(12)))],
        _ => drawn(dice, before),
    }
}

/// The rings of the crash table: with the stub on either side, of each way of being found, in both orders of replacement.
const RINGS: [Ring; 7] = [
    ring(Kind::Jar, Kind::Box, Link::Needs),
    ring(Kind::Jar, Kind::Jar, Link::Host),
    ring(Kind::Hub, Kind::Hub, Link::Needs),
    ring(Kind::Page, Kind::Jar, Link::Host),
    ring(Kind::Hub, Kind::Ticket, Link::Host),
    Ring { told_delete_first: true, ..ring(Kind::Jar, Kind::Box, Link::Host) },
    Ring { teller_delete_first: true, ..ring(Kind::Jar, Kind::Hub, Link::Needs) },
];

const fn ring(told: Kind, teller: Kind, link: Link) -> Ring {
    Ring { told, told_delete_first: false, teller, teller_delete_first: false, link }
}

/// What the run was at when it was killed. The numbers are those of the resources: the told one, and the teller.
const WORKS: usize = 6;

/// What became of the program since.
const SINCE: usize = 4;

/// How many rows of rings there are.
pub(super) const RING_ROWS: usize = RINGS.len() * WORKS * SINCE;

/// What was there before, the run, and the rerun.
pub(super) fn ring_row(number: usize, seed: u64) -> Scenario {
    const TOLD: u64 = 0;
    const TELLER: u64 = 1;
    let ring = RINGS[number % RINGS.len()];
    let (work, since) = (number / RINGS.len() % WORKS, number / RINGS.len() / WORKS % SINCE);
    let all = ring.declared(0);
    let both = vec![Edit::Remove(TOLD), Edit::Remove(TOLD)];
    let (before, during) = match work {
        0 => (Vec::new(), all.clone()),
        1 => (all.clone(), vec![Edit::Resize(TOLD, 5), Edit::Resize(TELLER, 6)]),
        2 => (all.clone(), vec![Edit::Recolour(TOLD, 1)]),
        3 => (all.clone(), vec![Edit::Recolour(TELLER, 1)]),
        4 => (all.clone(), both),
        _ => (all.clone(), vec![Edit::Remove(TELLER)]),
    };
    let again = |change: Edit| all.iter().cloned().chain([change]).collect();
    let after = match (since, work) {
        (0, _) | (3, 4) => Vec::new(),
        // What was removed is declared again, and otherwise.
        (1, 4) => again(Edit::Resize(TOLD, 7)),
        (2, 4) => again(Edit::Recolour(TELLER, 2)),
        (1, _) => vec![Edit::Resize(TOLD, 7)],
        (2, _) => vec![Edit::Recolour(TOLD, 2)],
        (_, _) => vec![Edit::Remove(TOLD)],
    };
    let steps = [before, during, after].into_iter().map(step).collect();
    Scenario { seed, steps }
}
