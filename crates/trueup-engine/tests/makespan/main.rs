//! Latency-bound work: a deploy of slow resources takes about as long as it must.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

// The derives refer to the crate by this name.
extern crate trueup_provider as trueup;

mod latency;

use latency::{Makespan, Work};

/// As many as take a few seconds; `cargo bench -p trueup-benches --bench engine -- makespan` does a hundred.
const SEEDS: u64 = 25;

/// APPLY-1, APPLY-2.
#[test]
fn a_deploy_takes_about_as_long_as_it_must() {
    let makespans: Vec<Makespan> = (0..SEEDS).map(|seed| Work::new(seed).deploy()).collect();
    for (seed, it) in makespans.iter().enumerate() {
        assert!(it.took <= it.level_by_level, "seed {seed}: {it:?}");
    }
    let average = makespans.iter().map(|it| it.ratio()).sum::<f64>() / makespans.len() as f64;
    assert!(average <= 1.05, "on average {average:.4} times the bound");
}
