//! The benchmarks stand in their own files: `cargo bench --package trueup-benches`.
