//! Real time: here it is what is measured. The benchmarks of the engine include this file too.

use std::time::{Duration, Instant};

/// A watch that runs.
#[derive(Clone, Copy)]
pub(crate) struct Watch(Instant);

impl Watch {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    pub(crate) fn start() -> Self {
        Watch(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
