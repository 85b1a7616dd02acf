//! Time, injected: real runs use the wall clock, tests and simulations their own.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

/// A future as the erased contracts return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What tells the time and waits.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
    /// Waits.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The runtime's clock; a paused runtime pauses it.
#[derive(Clone, Debug)]
pub struct RuntimeClock {
    started: SystemTime,
    ticking: tokio::time::Instant,
}

impl RuntimeClock {
    /// A clock that shows the time of the machine from now on.
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    pub fn new() -> Self {
        RuntimeClock { started: SystemTime::now(), ticking: tokio::time::Instant::now() }
    }
}

impl Default for RuntimeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> SystemTime {
        self.started + self.ticking.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that really waits")]
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
