//! Making a failing scenario small: whatever can be left out without the failure going away is left out.

use super::{Edit, Item, Operation, Scenario, Step};
use crate::cloud::Lateness;
use crate::store::StoreFaults;

/// The smallest scenario found that still fails, within so many attempts.
pub fn shrink(scenario: &Scenario, attempts: usize, fails: impl Fn(&Scenario) -> bool) -> Scenario {
    let mut best = scenario.clone();
    let mut left = attempts;
    loop {
        let mut smaller = None;
        for candidate in candidates(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(found) => best = found,
            None => return best,
        }
    }
}

/// Scenarios with one thing less, those that leave out most first.
fn candidates(scenario: &Scenario) -> Vec<Scenario> {
    let mut found = Vec::new();
    let mut offer = |steps: Vec<Step>| found.push(Scenario { seed: scenario.seed, steps });
    for at in (0..scenario.steps.len()).rev() {
        let mut steps = scenario.steps.clone();
        steps.remove(at);
        offer(steps);
    }
    for at in 0..scenario.steps.len() {
        for changed in smaller(&scenario.steps[at]) {
            let mut steps = scenario.steps.clone();
            steps[at] = changed;
            offer(steps);
        }
    }
    found
}

fn smaller(step: &Step) -> Vec<Step> {
    let mut found = Vec::new();
    let mut offer = |change: &dyn Fn(&mut Step)| {
        let mut changed = step.clone();
        change(&mut changed);
        if changed != *step {
            found.push(changed);
        }
    };
    for at in 0..step.edits.len() {
        offer(&|it| {
            it.edits.remove(at);
        });
    }
    for at in 0..step.deeds.len() {
        offer(&|it| {
            it.deeds.remove(at);
        });
    }
    for at in 0..step.incidents.len() {
        offer(&|it| {
            it.incidents.remove(at);
        });
    }
    offer(&|it| it.faults.percent = 0);
    offer(&|it| it.faults.budget = 1);
    offer(&|it| it.store = StoreFaults::default());
    offer(&|it| it.lateness = Lateness::default());
    offer(&|it| it.rival = None);
    offer(&|it| it.upgrade = false);
    offer(&|it| it.loses_state = false);
    offer(&|it| it.clock_step_s = 0);
    offer(&|it| it.hasty = false);
    offer(&|it| it.pause_ms = 0);
    offer(&|it| it.operation = Operation::Deploy);
    offer(&|it| it.parallelism = 1);
    for at in 0..step.edits.len() {
        let Edit::Add(item) = &step.edits[at] else { continue };
        let mut plainer = Vec::new();
        for link in 0..5 {
            let mut plain = item.clone();
            let Item { needs, host, note, after, bound, .. } = &mut *plain;
            let links = [needs, host, note, after, bound];
            if let Some(link) = links.into_iter().nth(link) {
                *link = None;
            }
            plainer.push(plain);
        }
        let mut plain = item.clone();
        (plain.retain, plain.protect, plain.secret) = (false, false, None);
        plainer.push(plain);
        let mut plain = item.clone();
        plain.delete_first = false;
        plainer.push(plain);
        for plain in plainer {
            offer(&|it| it.edits[at] = Edit::Add(plain.clone()));
        }
    }
    found
}
