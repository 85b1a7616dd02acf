//! The simulator finds bugs that are planted in the engine, most of them within so many seeds.

use trueup_engine::{Mutation, plant};
use trueup_sim::explore::{Effort, Failure, explore};
use trueup_sim::scenario::ROWS;
use trueup_sim::{Case, Source};

use crate::found_by::found_by;

/// How many seeds are searched for a planted bug. That the engine itself survives all of them is asserted in `seeds`.
const SEEDS_MAX: u64 = 1_500;

/// Finds each of these, and says by which case.
fn find(mutations: &[Mutation]) -> Vec<String> {
    let mut lines = Vec::new();
    for &mutation in mutations {
        // Of this thread alone.
        plant(Some(mutation));
        // In the long form the table is made anew; some bugs are rarer than so many seeds.
        let found = match cfg!(optimised) {
            true => search().or_else(|| try_again(mutation)),
            false => try_again(mutation).or_else(search),
        };
        plant(None);
        let (cases, failure) = found
            .unwrap_or_else(|| panic!("{mutation:?} survives {SEEDS_MAX} seeds and the case that found it"));
        let what: String = failure.violation.to_string().chars().take(110).collect();
        let arm = format!("Mutation::{mutation:?} => Source::{:?},", failure.case.source);
        lines.push(format!("{arm} // {cases} cases, {}", what.replace('\n', " ")));
    }
    lines
}

/// The case that found it last. The engine or the model may have changed since: then it is searched for.
fn try_again(mutation: Mutation) -> Option<(u64, Box<Failure>)> {
    let mut effort = Effort::default();
    let failure = explore(Case::of(found_by(mutation)), &mut effort).err()?;
    Some((effort.cases, failure))
}

/// The first case that finds what is planted.
fn search() -> Option<(u64, Box<Failure>)> {
    let mut effort = Effort::default();
    // What takes a kill at the right moment is found by the crash table: a row for every five seeds.
    let mut cases = (0..SEEDS_MAX).flat_map(|seed| {
        let row = (seed % 5 == 0).then(|| Case::of(Source::Row((seed / 5) as usize % ROWS)));
        row.into_iter().chain([Case::of_seed(seed)])
    });
    let failure = cases.find_map(|case| explore(case, &mut effort).err())?;
    Some((effort.cases, failure))
}

#[test]
fn every_planted_bug_is_found() {
    let (one, other) = Mutation::ALL.split_at(Mutation::ALL.len() / 2);
    std::thread::scope(|scope| {
        for half in [scope.spawn(|| find(one)), scope.spawn(|| find(other))] {
            println!("{}", half.join().unwrap().join("\n"));
        }
    });
}
