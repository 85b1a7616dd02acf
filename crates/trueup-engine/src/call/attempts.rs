//! Attempts at one call: which failures may be repeated, when, and how often (RETRY-1, RETRY-2).

use std::time::{Duration, SystemTime};

use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::Clock;

use super::{Call, CallSubject};
use crate::mutations::planted;

/// What to do after a failed attempt.
pub(super) enum NextAttempt {
    /// Try again after this wait; a pending operation gets its context back.
    Again { wait: Duration, pending: Option<Value> },
    /// Give up; the failure says how often and how long it was tried (RETRY-3).
    GiveUp(Failure),
}

/// Attempts at one call.
pub(crate) struct Attempts<'c> {
    call: Call<'c>,
    started: SystemTime,
    made: u32,
}

impl<'c> Attempts<'c> {
    pub(crate) fn new(call: Call<'c>, clock: &dyn Clock) -> Self {
        Attempts { call, started: clock.now(), made: 0 }
    }

    /// How many were made.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// What to do after a failure.
    pub(super) fn after(&mut self, failure: Failure, clock: &dyn Clock) -> NextAttempt {
        self.made += 1;
        let elapsed = clock.now().duration_since(self.started).unwrap_or_default();
        let (delay, bounded_by_attempts, pending) = match &failure.class {
            FailureClass::Retryable => (None, true, None),
            FailureClass::Indeterminate if planted!(RetryIndeterminate) => (None, true, None),
            FailureClass::Throttled { delay } => (*delay, true, None),
            FailureClass::Pending { delay, context } => (*delay, false, Some(context.clone())),
            _ => return NextAttempt::GiveUp(self.told(failure, elapsed)),
        };
        let exhausted = bounded_by_attempts && self.made >= self.call.policy.retry.attempts_max;
        if exhausted || elapsed >= self.call.timeout() {
            return NextAttempt::GiveUp(self.told(failure, elapsed));
        }
        let left = self.call.timeout().saturating_sub(elapsed);
        match delay {
            // What has begun is asked once more before its time is up.
            Some(delay) if pending.is_some() => NextAttempt::Again { wait: delay.min(left), pending },
            // Whatever the other side asks for, the timeout holds.
            Some(delay) if delay > left => NextAttempt::GiveUp(self.too_late(failure, delay, elapsed)),
            delay => NextAttempt::Again { wait: delay.unwrap_or_else(|| self.backoff()), pending },
        }
    }

    /// The failure of an operation that was to be tried again past its timeout.
    fn too_late(&self, failure: Failure, delay: Duration, elapsed: Duration) -> Failure {
        let mut failure = self.told(failure, elapsed);
        let (delay, timeout) = (delay.as_secs(), self.call.timeout().as_secs());
        failure.message = format!(
            "{}; it is to be tried again in {delay} s, past the timeout of {timeout} s",
            failure.message
        );
        failure.hint("deploy again later, or raise the timeout")
    }

    /// The failure of an operation that is not tried again, because the run was stopped first.
    pub(crate) fn stopped(&self, mut failure: Failure, clock: &dyn Clock) -> Failure {
        let elapsed = clock.now().duration_since(self.started).unwrap_or_default().as_secs_f64();
        failure.message = match self.made {
            0 | 1 => format!("{} (not tried again: the run was stopped)", failure.message),
            made => {
                format!("{} ({made} attempts in {elapsed:.1} s, then the run was stopped)", failure.message)
            }
        };
        failure
    }

    /// Exponential, with up to a quarter taken off so that many do not come back at once.
    fn backoff(&self) -> Duration {
        let doubled = self.call.policy.retry.backoff.saturating_mul(1 << (self.made - 1).min(16));
        let full = doubled.min(self.call.policy.retry.backoff_max);
        let mixed =
            (seed(self.call.subject) ^ u64::from(self.made)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
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

/// A number that differs between subjects, for jitter: the same call always waits alike, different ones differently.
fn seed(subject: CallSubject<'_>) -> u64 {
    let text = match subject {
        CallSubject::Resource { address, .. } => address.to_string(),
        CallSubject::Provider(name) => name.to_owned(),
    };
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
