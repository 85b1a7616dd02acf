//! The simulator finds bugs that are planted in the engine.
#![cfg(feature = "mutations")]

use trueup_engine::{Mutation, plant};
use trueup_sim::explore::first_violation;

/// How many seeds a planted bug may survive.
const SEEDS_MAX: u64 = 600;

#[test]
fn every_planted_bug_is_found() {
    let mut survived = Vec::new();
    for mutation in Mutation::ALL {
        plant(Some(mutation));
        let found = first_violation(0..SEEDS_MAX);
        plant(None);
        match found {
            Some((seeds, violation)) => {
                let what: String = violation.to_string().chars().take(120).collect();
                println!("{mutation:?}: found after {seeds} seeds: {}", what.replace('\n', " "));
            }
            None => survived.push(mutation),
        }
    }
    assert!(survived.is_empty(), "these survived {SEEDS_MAX} seeds: {survived:?}");
}
