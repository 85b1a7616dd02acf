//! A clock for tests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use trueup_provider::{BoxFuture, Clock};

/// A clock that stands until it is moved by hand. Clones show the same time.
#[derive(Clone, Debug)]
pub struct HandClock(Arc<Mutex<SystemTime>>);

impl HandClock {
    /// A clock that stands at some time in 2026.
    pub fn new() -> Self {
        HandClock(Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_770_000_000))))
    }

    /// Moves it forward.
    pub fn advance(&self, duration: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += duration;
    }
}

impl Default for HandClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for HandClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock instead of waiting.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(async move { clock.advance(duration) })
    }
}
