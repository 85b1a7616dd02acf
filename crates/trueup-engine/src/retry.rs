//! Repeating what failed and may be repeated (RETRY-1, RETRY-2), on the injected clock.

use std::time::{Duration, SystemTime};

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_program::RetryPolicy;
use trueup_provider::Clock;
use trueup_state::{Status, UnixMillis};

use crate::mutations::planted;

/// How often something is looked for while it may not be visible yet.
const LOOKS: u32 = 5;

/// Looks for something that may exist and not be visible yet, until it is found or has stayed out of sight for the whole
/// window (CRASH-1). The window counts from when it was first missed, and is asked for only then.
pub(crate) async fn within<T, F: Future<Output = Result<T, Failure>>>(
    clock: &dyn Clock,
    window: impl FnOnce() -> Duration,
    look: impl Fn() -> F,
    is_found: impl Fn(&T) -> bool,
) -> Result<T, Failure> {
    let mut seen = look().await?;
    if is_found(&seen) || planted!(TrustEarlyAbsence) {
        return Ok(seen);
    }
    let window = window();
    if window.is_zero() {
        return Ok(seen);
    }
    let began = clock.now();
    loop {
        let looked = clock.now().duration_since(began).unwrap_or_default();
        if looked >= window || is_found(&seen) {
            return Ok(seen);
        }
        clock.sleep((window / LOOKS).min(window - looked)).await;
        seen = look().await?;
    }
}

/// What is left of a consistency window that began with a write. Of one that nobody knows of, nothing is; if the clock was
/// set back since, all of it.
pub(crate) fn window_left(window: Duration, written_at: Option<UnixMillis>, clock: &dyn Clock) -> Duration {
    let Some(written_at) = written_at else { return Duration::ZERO };
    window.saturating_sub(written_at.elapsed(clock.now()).unwrap_or_default())
}

/// How long the object of a generation may still be out of sight. A ready one was seen, or its window passed, in the run that
/// wrote it: a wall clock that is set forward between two runs hides nothing. One that a killed or failed run left
/// unfinished has all of its window before it, whatever the clock says.
pub(crate) fn unseen_for(
    window: Duration,
    status: &Status,
    written_at: Option<UnixMillis>,
    clock: &dyn Clock,
) -> Duration {
    match status {
        Status::Ready => window_left(window, written_at, clock),
        _ if planted!(TrustClock) => window_left(window, written_at, clock),
        Status::Creating(_) | Status::Updating(_) | Status::Deleting => window,
    }
}

/// What repeating came to.
pub(crate) enum Next {
    /// Try again after this wait; a pending operation gets its context back.
    Again { wait: Duration, pending: Option<Value> },
    /// Give up; the failure says how often and how long it was tried (RETRY-3).
    GiveUp(Failure),
}

/// Attempts at one operation.
pub(crate) struct Attempts {
    policy: RetryPolicy,
    timeout: Duration,
    started: SystemTime,
    made: u32,
    /// Decides the jitter: the same operation always waits alike, different ones differently.
    address: Address,
}

impl Attempts {
    pub(crate) fn new(policy: RetryPolicy, timeout: Duration, clock: &dyn Clock, address: &Address) -> Self {
        Attempts { policy, timeout, started: clock.now(), made: 0, address: address.clone() }
    }

    /// How many were made.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    /// What to do after a failure.
    pub(crate) fn after(&mut self, failure: Failure, clock: &dyn Clock) -> Next {
        self.made += 1;
        let elapsed = clock.now().duration_since(self.started).unwrap_or_default();
        let (delay, bounded_by_attempts, pending) = match &failure.class {
            FailureClass::Retryable => (None, true, None),
            FailureClass::Indeterminate if planted!(RetryIndeterminate) => (None, true, None),
            FailureClass::Throttled { delay } => (*delay, true, None),
            FailureClass::Pending { delay, context } => (*delay, false, Some(context.clone())),
            _ => return Next::GiveUp(self.told(failure, elapsed)),
        };
        let exhausted = bounded_by_attempts && self.made >= self.policy.attempts_max;
        if exhausted || elapsed >= self.timeout {
            return Next::GiveUp(self.told(failure, elapsed));
        }
        let left = self.timeout.saturating_sub(elapsed);
        match delay {
            // What has begun is asked once more before its time is up.
            Some(delay) if pending.is_some() => Next::Again { wait: delay.min(left), pending },
            // Whatever the other side asks for, the timeout holds.
            Some(delay) if delay > left => Next::GiveUp(self.too_late(failure, delay, elapsed)),
            delay => Next::Again { wait: delay.unwrap_or_else(|| self.backoff()), pending },
        }
    }

    /// The failure of an operation that was to be tried again past its timeout.
    fn too_late(&self, failure: Failure, delay: Duration, elapsed: Duration) -> Failure {
        let mut failure = self.told(failure, elapsed);
        let (delay, timeout) = (delay.as_secs(), self.timeout.as_secs());
        failure.message = format!(
            "{}; it is to be tried again in {delay} s, past the timeout of {timeout} s",
            failure.message
        );
        failure.hint("deploy again later, or raise the timeout")
    }

    /// Exponential, with up to a quarter taken off so that many do not come back at once.
    fn backoff(&self) -> Duration {
        let doubled = self.policy.backoff.saturating_mul(1 << (self.made - 1).min(16));
        let full = doubled.min(self.policy.backoff_max);
        let mixed = (seed(&self.address) ^ u64::from(self.made)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        full - full.mul_f64(0.25 * (mixed % 1000) as f64 / 1000.0)
    }

    fn told(&self, mut failure: Failure, elapsed: Duration) -> Failure {
        if self.made > 1 {
            failure.message =
                format!("{} ({} attempts in {:.1} s)", failure.message, self.made, elapsed.as_secs_f64());
        }
        failure
    }
}

/// A number that differs between addresses, for jitter.
fn seed(address: &Address) -> u64 {
    let text = address.to_string();
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
