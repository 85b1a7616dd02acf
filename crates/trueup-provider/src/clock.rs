//! Time, injected: real runs use the wall clock, tests and simulations their own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

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
///
/// It starts at the time of the machine and never goes back, also when the machine's clock is set. Time that the machine
/// spends suspended counts; what sleeps on this clock may sleep that much longer.
#[derive(Clone, Debug)]
pub struct RuntimeClock {
    started: SystemTime,
    ticking: tokio::time::Instant,
    suspensions: Arc<Suspensions>,
}

impl RuntimeClock {
    /// A clock that shows the time of the machine from now on.
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    pub fn new() -> Self {
        RuntimeClock {
            started: SystemTime::now(),
            ticking: tokio::time::Instant::now(),
            suspensions: Arc::new(Suspensions::from_now()),
        }
    }
}

impl Default for RuntimeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> SystemTime {
        self.started + self.ticking.elapsed() + self.suspensions.total()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that really waits")]
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The time that the machine was suspended: how far a clock that goes on while it sleeps is ahead of one that does not.
#[derive(Debug)]
struct Suspensions {
    awake: Instant,
    always: Duration,
    /// The longest total seen, so that the sum never shrinks.
    total_ms: AtomicU64,
}

impl Suspensions {
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    fn from_now() -> Self {
        // In this order, a delay between two readings is never taken for a suspension; below likewise.
        let awake = Instant::now();
        Suspensions { awake, always: always_ticking(), total_ms: AtomicU64::new(0) }
    }

    fn total(&self) -> Duration {
        let always = always_ticking().saturating_sub(self.always);
        let total_ms = always.saturating_sub(self.awake.elapsed()).as_millis() as u64;
        Duration::from_millis(self.total_ms.fetch_max(total_ms, Ordering::Relaxed).max(total_ms))
    }
}

/// A clock that goes on while the machine is suspended.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn always_ticking() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: ClockId = ClockId::Boottime;
    // Apple's monotonic clock goes on; `Instant` reads another.
    #[cfg(target_vendor = "apple")]
    const CLOCK: ClockId = ClockId::Monotonic;
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// Elsewhere the clock on the wall. One that is set forward passes for a suspension, which makes a run ask for its lease
/// earlier than it had to.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
#[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
fn always_ticking() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STATE-18
    #[test]
    fn a_suspension_counts_and_is_never_taken_back() {
        let awake = Suspensions::from_now();
        let second = Duration::from_secs(1);
        assert!(awake.total() < second, "the machine is awake");
        // As if it had been suspended since it was started.
        let asleep = Suspensions { always: Duration::ZERO, ..Suspensions::from_now() };
        assert!(asleep.total() + second > awake.always, "{:?} of {:?}", asleep.total(), awake.always);
        let before = Suspensions { total_ms: AtomicU64::new(5000), ..awake };
        assert_eq!(before.total(), 5 * second);
    }
}
