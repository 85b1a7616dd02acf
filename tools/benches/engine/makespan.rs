//! Latency-bound work on a clock that stands still: how close a deploy comes to the time it must take. The work is that
//! of the engine's own test, with more seeds.

#[path = "../../../crates/trueup-engine/tests/makespan/latency.rs"]
mod latency;

use latency::{Makespan, Work};

const SEEDS: u64 = 100;

pub(crate) fn ratios() {
    println!(
        "\nmakespan of 1,000 slow resources, 32 at a time, over max(critical path, work/32); {SEEDS} seeds"
    );
    let makespans: Vec<Makespan> = (0..SEEDS).map(|seed| Work::new(seed).deploy()).collect();
    let of = |ratio: fn(&Makespan) -> f64| {
        let ratios: Vec<f64> = makespans.iter().map(ratio).collect();
        let average = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let [least, most] =
            [f64::min, f64::max].map(|pick| ratios.iter().copied().reduce(pick).unwrap_or(f64::NAN));
        format!("average {average:.4}, from {least:.4} to {most:.4}")
    };
    println!("deploy         {} (at most 1.05 on average)", of(|it| it.ratio()));
    println!("level by level {}", of(|it| it.level_by_level as f64 / it.bound));
    let worse = makespans.iter().filter(|it| it.took > it.level_by_level).count();
    println!("worse than level by level: {worse} of {SEEDS}");
}
