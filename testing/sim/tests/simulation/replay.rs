//! A seed and a commit reproduce everything.

use trueup_sim::{Case, simulate};

#[test]
fn the_same_seed_has_the_same_trace() {
    for seed in 0..40 {
        let scenario = Case::of_seed(seed).scenario();
        let (one, other) = (simulate(&scenario, true), simulate(&scenario, true));
        assert!(!one.trace.is_empty());
        assert_eq!(one.trace, other.trace, "seed {seed}");
        assert_eq!(one.tally, other.tally, "seed {seed}");
    }
}

#[test]
fn tracing_changes_nothing() {
    for seed in 0..40 {
        let scenario = Case::of_seed(seed).scenario();
        let (traced, other) = (simulate(&scenario, true), simulate(&scenario, false));
        assert_eq!((traced.end, traced.points), (other.end, other.points), "seed {seed}");
    }
}
