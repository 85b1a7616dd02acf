//! Who may start: no more operations of one provider or one class of resources at a time than are allowed.
//!
//! What cannot start waits behind the gate that holds it and comes back when a place there is free, so that a long queue
//! at one gate costs the others nothing.

use std::collections::{BTreeMap, BinaryHeap};

use smol_str::SmolStr;
use trueup_core::Address;
use trueup_program::Program;

use super::limits::{Limits, provider};

/// What operations are counted by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Gate {
    Provider(SmolStr),
    Class(SmolStr),
}

/// All gates, with what runs and what waits behind each. `W` is whatever waits, the greatest first.
pub(crate) struct Gates<'a, W> {
    limits: &'a Limits,
    classes: BTreeMap<&'a str, usize>,
    running: BTreeMap<Gate, usize>,
    waiting: BTreeMap<Gate, BinaryHeap<W>>,
}

impl<'a, W: Ord> Gates<'a, W> {
    pub(crate) fn new(limits: &'a Limits, program: &'a Program) -> Self {
        let classes = program.parallelism.iter().map(|class| (class.name.as_str(), class.limit.max(1)));
        Gates { limits, classes: classes.collect(), running: BTreeMap::new(), waiting: BTreeMap::new() }
    }

    /// Lets something start, or keeps it waiting.
    pub(crate) fn enter(&mut self, address: &Address, class: Option<&SmolStr>, entering: W) -> Option<W> {
        let gates = gates(address, class);
        let closed = gates.iter().find(|gate| self.places(gate) == 0);
        if let Some(closed) = closed {
            self.waiting.entry(closed.clone()).or_default().push(entering);
            return None;
        }
        for gate in gates {
            *self.running.entry(gate).or_default() += 1;
        }
        Some(entering)
    }

    /// Something has ended: whoever may start in its place.
    pub(crate) fn leave(&mut self, address: &Address, class: Option<&SmolStr>) -> Vec<W> {
        let mut released = Vec::new();
        for gate in gates(address, class) {
            if let Some(running) = self.running.get_mut(&gate) {
                *running -= 1;
            }
            let places = self.places(&gate);
            if let Some(waiting) = self.waiting.get_mut(&gate) {
                released.extend(std::iter::from_fn(|| waiting.pop()).take(places));
            }
        }
        released
    }

    fn places(&self, gate: &Gate) -> usize {
        let allowed = match gate {
            Gate::Provider(name) => self.limits.allowed(name),
            Gate::Class(name) => self.classes.get(name.as_str()).copied().unwrap_or(usize::MAX),
        };
        allowed.saturating_sub(self.running.get(gate).copied().unwrap_or(0))
    }
}

fn gates(address: &Address, class: Option<&SmolStr>) -> Vec<Gate> {
    let own = Gate::Provider(provider(address).into());
    std::iter::once(own).chain(class.cloned().map(Gate::Class)).collect()
}
