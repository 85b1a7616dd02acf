//! The simulator finds bugs that are planted in the engine, each within so many seeds.

use trueup_engine::{Mutation, plant};
use trueup_sim::explore::{Effort, explore};
use trueup_sim::scenario::ROWS;
use trueup_sim::{Case, Source};

/// How many seeds a planted bug may survive. That the engine itself survives all of them is asserted in `seeds`.
const SEEDS_MAX: u64 = 1_500;

/// How many seeds it takes to find each of these.
fn find(mutations: &[Mutation]) -> Vec<String> {
    let mut lines = Vec::new();
    for &mutation in mutations {
        // Of this thread alone.
        plant(Some(mutation));
        let mut effort = Effort::default();
        // What takes a kill at the right moment is found by the crash table: a row for every five seeds.
        let cases = (0..SEEDS_MAX).flat_map(|seed| {
            let row = (seed % 5 == 0).then(|| Case::of(Source::Row((seed / 5) as usize % ROWS)));
            row.into_iter().chain([Case::of_seed(seed)])
        });
        let found = cases.into_iter().find_map(|case| explore(case, &mut effort).err());
        plant(None);
        let failure = found.unwrap_or_else(|| panic!("{mutation:?} survives {SEEDS_MAX} seeds"));
        let what: String = failure.violation.to_string().chars().take(110).collect();
        lines.push(format!("{mutation:?}: {} cases, {}", effort.cases, what.replace('\n', " ")));
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
