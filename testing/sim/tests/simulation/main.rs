//! The short budget of the simulator, which every change must pass: the crash table killed at every point, a few thousand
//! seeds, and the planted bugs. `cargo xtask sim --minutes M` goes on from there.
//!
//! Built for speed (profile `sim`, as `cargo xtask soak` does) it runs all of that; unoptimised, as in `cargo xtask test`,
//! an eightieth of the cases, and of each bug the case that is known to find it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "what it did is worth a line")]

mod crash_table;
#[cfg(feature = "mutations")]
mod found_by;
#[cfg(feature = "mutations")]
mod planted;
mod replay;
mod seeds;

use trueup_sim::Case;
use trueup_sim::explore::{Effort, explore};

/// How many of so many cases are simulated: all of them, if this was built for speed.
fn within_budget(cases: usize) -> usize {
    if cfg!(optimised) { cases } else { cases / 80 }
}

/// Explores cases on two threads. The first failure is told with all that is needed to see it again.
fn explore_all(cases: impl Iterator<Item = Case>) -> Effort {
    let cases: Vec<Case> = cases.collect();
    let explore_half = |which: usize| {
        let mut effort = Effort::default();
        let mut half = cases.iter().skip(which).step_by(2);
        let failed = half.find_map(|case| explore(*case, &mut effort).err());
        (effort, failed)
    };
    let mut all = Effort::default();
    std::thread::scope(|scope| {
        for half in [0, 1].map(|which| {
            scope.spawn({
                let explore_half = &explore_half;
                move || explore_half(which)
            })
        }) {
            let (effort, failed) = half.join().unwrap();
            if let Some(failure) = failed {
                panic!("{}: {}", failure.case, failure.report());
            }
            all.add(&effort);
        }
    });
    all
}
