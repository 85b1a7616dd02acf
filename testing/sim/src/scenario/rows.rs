//! The crash table: what a run was at × how the type is recovered × the order of replacement × whether something uses the
//! resource × what became of the program since. Each row is killed at every point of that run.

use super::rings::{RING_ROWS, ring_row};
use super::{Edit, Item, Operation, Scenario, Step};
use crate::cloud::{Faults, Kind, Lateness};
use crate::store::StoreFaults;

/// A row.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// Of one resource, and perhaps one that uses it.
    Plain(PlainRow),
    /// Of a ring.
    Ring(usize),
}

/// A row of one resource.
#[derive(Clone, Copy, Debug)]
pub struct PlainRow {
    kind: Kind,
    work: Work,
    delete_first: bool,
    used: bool,
    since: Since,
    number: usize,
}

/// What the run was at when it was killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Create,
    Update,
    Replace,
    Delete,
}

/// What became of the program since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Since {
    Unchanged,
    Changed,
    Recoloured,
    Removed,
}

const WORKS: [Work; 4] = [Work::Create, Work::Update, Work::Replace, Work::Delete];
const SINCE: [Since; 4] = [Since::Unchanged, Since::Changed, Since::Recoloured, Since::Removed];

const KINDS: [Kind; 5] = [Kind::Box, Kind::Ticket, Kind::Stone, Kind::Jar, Kind::Page];

/// How many rows of one resource there are.
const PLAIN_ROWS: usize = KINDS.len() * WORKS.len() * SINCE.len() * 4;

/// Kinds whose replacements follow an order of their own.
const ORDERED_KINDS: [Kind; 3] = [Kind::Sack, Kind::Pebble, Kind::Leaf];

/// How many rows of these there are.
const ORDERED_ROWS: usize = ORDERED_KINDS.len() * WORKS.len() * SINCE.len() * 2;

/// How many rows there are: those of one resource, then those of rings, then those of kinds with an order of their own.
pub const ROWS: usize = PLAIN_ROWS + RING_ROWS + ORDERED_ROWS;

/// A row by its number.
pub fn row(number: usize) -> Row {
    let mut rest = number % ROWS;
    let kinds: &[Kind] = match (rest.checked_sub(PLAIN_ROWS), rest.checked_sub(PLAIN_ROWS + RING_ROWS)) {
        (_, Some(ordered)) => {
            rest = ordered;
            &ORDERED_KINDS
        }
        (Some(ring), None) => return Row::Ring(ring),
        (None, None) => &KINDS,
    };
    let mut digit = |base: usize| {
        let digit = rest % base;
        rest /= base;
        digit
    };
    let kind = kinds[digit(kinds.len())];
    Row::Plain(PlainRow {
        kind,
        work: WORKS[digit(WORKS.len())],
        since: SINCE[digit(SINCE.len())],
        delete_first: !ORDERED_KINDS.contains(&kind) && digit(2) == 1,
        used: digit(2) == 1,
        number,
    })
}

impl Row {
    /// What was there before, the run, and the rerun.
    pub(crate) fn scenario(&self) -> Scenario {
        match self {
            Row::Plain(row) => row.scenario(),
            Row::Ring(number) => ring_row(*number, (PLAIN_ROWS + number) as u64),
        }
    }

    /// Whether the rerun must end where an uninterrupted run ends, without anyone's help.
    pub(crate) fn ends_with_one_rerun(&self) -> bool {
        match self {
            Row::Plain(row) => !row.kind.is_blind(),
            Row::Ring(_) => true,
        }
    }
}

impl PlainRow {
    fn scenario(&self) -> Scenario {
        let all = self.declared();
        let (before, during) = match self.work {
            Work::Create => (Vec::new(), all),
            Work::Update => (all, vec![Edit::Resize(0, 5)]),
            Work::Replace => (all, vec![Edit::Recolour(0, 1)]),
            // What uses it goes too.
            Work::Delete => (all, vec![Edit::Remove(0); if self.used { 2 } else { 1 }]),
        };
        let after = match (self.since, self.work) {
            (Since::Unchanged, _) => Vec::new(),
            // What was removed is declared again, and otherwise.
            (Since::Changed | Since::Recoloured, Work::Delete) => {
                let mut again = self.declared();
                let changed =
                    if self.since == Since::Changed { Edit::Resize(0, 7) } else { Edit::Recolour(0, 2) };
                again.push(changed);
                again
            }
            (Since::Removed, Work::Delete) => Vec::new(),
            (Since::Changed, _) => vec![Edit::Resize(0, 7)],
            (Since::Recoloured, _) => vec![Edit::Recolour(0, 2)],
            (Since::Removed, _) => vec![Edit::Remove(0)],
        };
        let steps = [before, during, after].into_iter().map(step).collect();
        Scenario { seed: self.number as u64, steps }
    }

    fn declared(&self) -> Vec<Edit> {
        let plain = Item {
            kind: self.kind,
            size: 1,
            colour: 0,
            needs: None,
            host: None,
            note: None,
            after: None,
            bound: None,
            secret: Some(1),
            path: 0,
            spelling: 0,
            borrowed: None,
            retain: false,
            protect: false,
            delete_first: self.delete_first,
        };
        // One that stands on it for good if it is replaced after its users, one that says something of it otherwise.
        let user =
            Item { kind: Kind::Box, host: Some(0), note: Some(0), delete_first: false, ..plain.clone() };
        let mut declared = vec![Edit::Add(Box::new(plain))];
        declared.extend(self.used.then(|| Edit::Add(Box::new(user))));
        declared
    }
}

/// A step in which nothing goes wrong of itself.
pub(super) fn step(edits: Vec<Edit>) -> Step {
    Step {
        edits,
        deeds: Vec::new(),
        operation: Operation::Deploy,
        incidents: Vec::new(),
        faults: Faults { seed: 0, percent: 0, budget: 0 },
        store: StoreFaults::default(),
        lateness: Lateness::default(),
        parallelism: 10,
        upgrade: false,
        loses_state: false,
        clock_step_s: 0,
        hasty: false,
        rival: None,
        pause_ms: 0,
    }
}
