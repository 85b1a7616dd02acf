//! Many simulations: large scenarios at random, small ones killed at every point.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::invariants::Violation;
use crate::process::Incident;
use crate::run::{Simulated, simulate};
use crate::scenario::{Scenario, Size, generate, shrink};

/// How many attempts shrinking may take.
const SHRINKING_MAX: usize = 1_500;

/// A scenario that violates an invariant.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The scenario as it was drawn, with the kill that was tried.
    pub scenario: Scenario,
    /// The smallest that was found to fail in the same way.
    pub shrunk: Scenario,
    /// What does not hold in the shrunk one.
    pub violation: Violation,
}

/// How much was simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Seeds.
    pub seeds: u64,
    /// Scenarios, each variant counted.
    pub scenarios: u64,
    /// Processes.
    pub processes: u64,
    /// Points at which processes could be killed, and of these those at which one was.
    pub kills: u64,
}

/// The first violation among the scenarios of some seeds, mostly large ones, as it is found: nothing is shrunk.
/// With the number of seeds that it took.
pub fn first_violation(seeds: std::ops::Range<u64>) -> Option<(u64, Violation)> {
    for seed in seeds.clone() {
        // A small one takes as long as a hundred large ones, because it is killed everywhere.
        let size = if seed % 20 == 1 { Size::Small } else { Size::Large };
        let scenario = generate(seed, size);
        let mut found = simulated(&scenario);
        let kills = if size == Size::Small { found.points.last().copied().unwrap_or(0) } else { 0 };
        for point in 0..kills {
            if found.violation.is_some() {
                break;
            }
            let mut killed = scenario.clone();
            if let Some(last) = killed.steps.last_mut() {
                last.incidents.push((point, Incident::Kill));
            }
            found = simulated(&killed);
        }
        if let Some(violation) = found.violation {
            return Some((seed - seeds.start + 1, violation));
        }
    }
    None
}

/// Simulates the large scenario of a seed.
pub fn at_random(seed: u64, effort: &mut Effort) -> Result<(), Box<Failure>> {
    effort.seeds += 1;
    attempt(&generate(seed, Size::Large), effort).map(|_| ())
}

/// Simulates the small scenario of a seed, with a kill at every point of its last step.
pub fn exhaustively(seed: u64, effort: &mut Effort) -> Result<(), Box<Failure>> {
    effort.seeds += 1;
    let scenario = generate(seed, Size::Small);
    let points = attempt(&scenario, effort)?;
    let Some(last) = scenario.steps.len().checked_sub(1) else { return Ok(()) };
    for point in 0..points.last().copied().unwrap_or(0) {
        let mut killed = scenario.clone();
        killed.steps[last].incidents.push((point, Incident::Kill));
        effort.kills += 1;
        attempt(&killed, effort)?;
    }
    Ok(())
}

/// What a scenario comes to. A panic of the engine is a violation like any other.
fn simulated(scenario: &Scenario) -> Simulated {
    let caught = catch_unwind(AssertUnwindSafe(|| simulate(scenario, false)));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let violation = Some(Violation { invariant: "panic", what: text });
        Simulated { violation, trace: Vec::new(), points: Vec::new(), processes: 0, cloud: Vec::new() }
    })
}

/// Simulates a scenario; the points that its steps passed.
fn attempt(scenario: &Scenario, effort: &mut Effort) -> Result<Vec<u64>, Box<Failure>> {
    let simulated = simulated(scenario);
    effort.scenarios += 1;
    effort.processes += simulated.processes;
    let kills = scenario.steps.iter().flat_map(|step| &step.incidents);
    effort.kills += kills.filter(|(_, incident)| *incident == Incident::Kill).count() as u64;
    match simulated.violation {
        None => Ok(simulated.points),
        Some(violation) => Err(Box::new(shrunk(scenario, violation))),
    }
}

/// Makes a failure small.
fn shrunk(scenario: &Scenario, violation: Violation) -> Failure {
    let same = |candidate: &Scenario| {
        simulated(candidate).violation.filter(|found| found.invariant == violation.invariant)
    };
    let shrunk = shrink(scenario, SHRINKING_MAX, |candidate| same(candidate).is_some());
    let violation = same(&shrunk).unwrap_or(violation);
    Failure { scenario: scenario.clone(), shrunk, violation }
}
