//! Time, which passes only while everyone waits.

use std::time::{Duration, SystemTime};

use trueup_provider::{BoxFuture, Clock};

/// The clock of a paused runtime, from a beginning that is always the same.
#[derive(Clone, Debug)]
pub(crate) struct SimClock {
    began: tokio::time::Instant,
    /// How many seconds the wall clock is ahead of it.
    ahead_s: i64,
}

/// When every simulation begins: an hour after the epoch.
const BEGINNING: Duration = Duration::from_secs(3_600);

impl SimClock {
    /// A clock that begins now. Must be called within the runtime.
    pub(crate) fn new() -> Self {
        SimClock { began: tokio::time::Instant::now(), ahead_s: 0 }
    }

    /// The same as a machine tells it whose wall clock was set so many seconds ahead, or back.
    pub(crate) fn ahead(&self, ahead_s: i64) -> Self {
        SimClock { ahead_s, ..self.clone() }
    }

    /// How long the simulation has lasted, in its own time.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Clock for SimClock {
    fn now(&self) -> SystemTime {
        let right = SystemTime::UNIX_EPOCH + BEGINNING + self.elapsed();
        let off = Duration::from_secs(self.ahead_s.unsigned_abs());
        if self.ahead_s < 0 { right - off } else { right + off }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock that everyone else waits on")]
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
