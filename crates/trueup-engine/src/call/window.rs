//! Consistency windows: how long what was written may stay out of sight.

use std::time::Duration;

use trueup_provider::Clock;
use trueup_state::{Status, UnixMillis};

use crate::mutations::planted;

/// How often something is looked for while it may not be visible yet.
const LOOKS: u32 = 5;

/// Looks for something that may exist and not be visible yet, until it is found or has stayed out of sight for the whole
/// window (CRASH-1). The window counts from when it was first missed, and is asked for only then.
pub(crate) async fn within<T, E, F: Future<Output = Result<T, E>>>(
    clock: &dyn Clock,
    window: impl FnOnce() -> Duration,
    look: impl Fn() -> F,
    is_found: impl Fn(&T) -> bool,
) -> Result<T, E> {
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
