//! Latency-bound work: a deploy of slow resources takes about as long as it must.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod latency;

use latency::{Makespan, Work};
use trueup_test_servers::sized;

/// APPLY-1, APPLY-2.
#[test]
fn a_deploy_takes_about_as_long_as_it_must() {
    // `cargo bench -p trueup-benches --bench engine -- makespan` does a hundred.
    let makespans: Vec<Makespan> = (0..sized(5, 25)).map(|seed| Work::new(seed).deploy()).collect();
    for (seed, it) in makespans.iter().enumerate() {
        assert!(it.took <= it.level_by_level, "seed {seed}: {it:?}");
    }
    let average = makespans.iter().map(|it| it.ratio()).sum::<f64>() / makespans.len() as f64;
    assert!(average <= 1.05, "on average {average:.4} times the bound");
}
