//! The simulator finds bugs that are planted in the engine.
#![cfg(feature = "mutations")]

use trueup_engine::{Mutation, plant};
use trueup_sim::Case;
use trueup_sim::explore::{Effort, explore};

/// How many seeds a planted bug may survive.
const SEEDS_MAX: u64 = 3000;

#[test]
fn every_planted_bug_is_found() {
    let mut survived = Vec::new();
    for mutation in Mutation::ALL {
        plant(Some(mutation));
        let mut effort = Effort::default();
        let found = (0..SEEDS_MAX).find_map(|seed| explore(Case::of_seed(seed), &mut effort).err());
        plant(None);
        match found {
            Some(failure) => {
                let what: String = failure.violation.to_string().chars().take(120).collect();
                println!("{mutation:?}: found after {} seeds: {}", effort.cases, what.replace('\n', " "));
            }
            None => survived.push(mutation),
        }
    }
    assert!(survived.is_empty(), "these survived {SEEDS_MAX} seeds: {survived:?}");
}
