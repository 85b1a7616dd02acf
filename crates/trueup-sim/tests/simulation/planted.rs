//! The simulator finds bugs that are planted in the engine, each within so many seeds.

use trueup_engine::{Mutation, plant};
use trueup_sim::Case;
use trueup_sim::explore::{Effort, explore};

/// How many seeds a planted bug may survive. That the engine itself survives all of them is asserted in `seeds`.
const SEEDS_MAX: u64 = 500;

/// How many seeds it takes to find each of these.
fn find(mutations: &[Mutation]) -> Vec<String> {
    let mut lines = Vec::new();
    for &mutation in mutations {
        // Of this thread alone.
        plant(Some(mutation));
        let mut effort = Effort::default();
        let found = (0..SEEDS_MAX).find_map(|seed| explore(Case::of_seed(seed), &mut effort).err());
        plant(None);
        let failure = found.unwrap_or_else(|| panic!("{mutation:?} survives {SEEDS_MAX} seeds"));
        let what: String = failure.violation.to_string().chars().take(110).collect();
        lines.push(format!("{mutation:?}: {} seeds, {}", effort.cases, what.replace('\n', " ")));
    }
    lines
}

#[test]
fn every_planted_bug_is_found() {
    let step = if cfg!(optimised) { 1 } else { 3 };
    let planted: Vec<Mutation> = Mutation::ALL.iter().copied().step_by(step).collect();
    let (one, other) = planted.split_at(planted.len() / 2);
    std::thread::scope(|scope| {
        for half in [scope.spawn(|| find(one)), scope.spawn(|| find(other))] {
            println!("{}", half.join().unwrap().join("\n"));
        }
    });
}
