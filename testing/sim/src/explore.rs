//! Many simulations: cases one after another, small ones killed at every point, and what fails made small.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use crate::case::Case;
use crate::invariants::Violation;
use crate::invariants::converged::ends_alike;
use crate::run::{Simulated, simulate};
use crate::scenario::{Scenario, shrink};
use crate::tally::{Ingredient, Tally};

/// How many attempts shrinking may take.
const SHRINKING_MAX: usize = 1_500;

/// A case that violates an invariant.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The case, with the kill that was tried.
    pub case: Case,
    /// What does not hold.
    pub violation: Violation,
}

/// How much was simulated.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Cases without the kills that were tried in them: seeds and rows.
    pub cases: u64,
    /// Scenarios, each kill counted.
    pub scenarios: u64,
    /// Processes.
    pub processes: u64,
    /// What happened in them.
    pub tally: Tally,
}

/// Simulates a case, and if it is a small one, the same with a kill at every point.
pub fn explore(case: Case, effort: &mut Effort) -> Result<(), Box<Failure>> {
    effort.cases += 1;
    let scenario = case.scenario();
    let uncut = attempt(case, &scenario, effort)?;
    let doomed = case.doomed_step(&scenario).and_then(|at| uncut.points.get(at));
    for point in 0..doomed.copied().unwrap_or(0) {
        let case = case.killed_at(point);
        let cut = attempt(case, &case.scenario(), effort)?;
        ends_alike(&cut, &uncut, case.ends_with_one_rerun())
            .map_err(|violation| Box::new(Failure { case, violation }))?;
    }
    Ok(())
}

/// Simulates a case as it is.
fn attempt(case: Case, scenario: &Scenario, effort: &mut Effort) -> Result<Simulated, Box<Failure>> {
    let simulated = simulated(scenario);
    effort.scenarios += 1;
    effort.processes += simulated.processes;
    effort.tally.add(&simulated.tally);
    match simulated.violation {
        None => Ok(simulated),
        Some(violation) => Err(Box::new(Failure { case, violation })),
    }
}

/// What a scenario comes to. A panic of the engine is a violation like any other.
fn simulated(scenario: &Scenario) -> Simulated {
    let caught = catch_unwind(AssertUnwindSafe(|| simulate(scenario, false)));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let what = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Simulated { violation: Some(Violation { invariant: "panic", what }), ..Simulated::default() }
    })
}

impl Failure {
    /// The smallest scenario found that fails in the same way.
    pub fn shrunk(&self) -> Scenario {
        let same = |candidate: &Scenario| {
            simulated(candidate).violation.is_some_and(|found| found.invariant == self.violation.invariant)
        };
        shrink(&self.case.scenario(), SHRINKING_MAX, same)
    }

    /// All that someone needs to see it again.
    pub fn report(&self) -> String {
        format!(
            "{}\n\nat commit {}; to see it happen: cargo xtask sim {} --trace\n\nshrunk:\n{}",
            self.violation,
            commit(),
            self.case,
            self.shrunk()
        )
    }
}

/// The commit that this was built from, as far as it is known. The simulator is run where it was built.
fn commit() -> String {
    let asked = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let told = asked.ok().filter(|answer| answer.status.success());
    told.map_or_else(|| "unknown".to_owned(), |told| String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

impl Effort {
    /// Takes another in.
    pub fn add(&mut self, other: &Effort) {
        self.cases += other.cases;
        self.scenarios += other.scenarios;
        self.processes += other.processes;
        self.tally.add(&other.tally);
    }

    /// How many things went wrong in cloud and store.
    fn faults(&self) -> u64 {
        Ingredient::ALL.iter().filter(|it| it.is_fault()).map(|it| self.tally.of(*it)).sum()
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>12} seeds and rows", self.cases)?;
        writeln!(f, "{:>12} scenarios, each kill counted", self.scenarios)?;
        writeln!(f, "{:>12} processes", self.processes)?;
        writeln!(f, "{:>12} faults of cloud and store\n", self.faults())?;
        write!(f, "{}", self.tally)
    }
}
