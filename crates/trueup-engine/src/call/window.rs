//! Consistency windows: how long what was written may stay out of sight.

use std::time::Duration;

use trueup_core::Failure;
use trueup_provider::Clock;
use trueup_state::UnixMillis;

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
