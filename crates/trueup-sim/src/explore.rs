//! Many simulations: large scenarios at random, small ones killed at every point.

use crate::invariants::Violation;
use crate::process::Incident;
use crate::run::simulate;
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

/// Simulates a scenario; the points that its steps passed.
fn attempt(scenario: &Scenario, effort: &mut Effort) -> Result<Vec<u64>, Box<Failure>> {
    let simulated = simulate(scenario, false);
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
        simulate(candidate, false).violation.filter(|found| found.invariant == violation.invariant)
    };
    let shrunk = shrink(scenario, SHRINKING_MAX, |candidate| same(candidate).is_some());
    let violation = same(&shrunk).unwrap_or(violation);
    Failure { scenario: scenario.clone(), shrunk, violation }
}
