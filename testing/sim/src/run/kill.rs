//! Driving a process to its end, or to the point at which it is killed.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use crate::process::{POINTS_MAX, Process};

/// How a process came to its end.
pub(super) enum Driven<T> {
    /// By itself.
    Ended(T),
    /// It was killed.
    Killed,
    /// It did not come to any.
    Stuck,
}

/// No run lasts longer: whatever does waits for something that never comes.
const STUCK_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Polls a process until it ends or is killed. A killed one is cut off from store and cloud by then, and only dropped
/// after that.
#[expect(clippy::disallowed_methods, reason = "the simulated time is that of this runtime")]
pub(super) async fn drive<T>(process: &Process, future: impl Future<Output = T>) -> Driven<T> {
    let mut future = Box::pin(future);
    let mut sleep: Option<Pin<Box<tokio::time::Sleep>>> = None;
    let driven = std::future::poll_fn(|task| {
        if let Some(sleeping) = &mut sleep {
            std::task::ready!(sleeping.as_mut().poll(task));
            sleep = None;
        }
        if !process.pass() {
            return Poll::Ready(None);
        }
        let polled = future.as_mut().poll(task);
        if let (Poll::Pending, Some(asleep)) = (&polled, process.falls_asleep()) {
            let mut sleeping = Box::pin(tokio::time::sleep(asleep));
            let _ = sleeping.as_mut().poll(task);
            sleep = Some(sleeping);
        }
        match polled {
            _ if process.is_cut() => Poll::Ready(None),
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => Poll::Pending,
        }
    });
    match tokio::time::timeout(STUCK_AFTER, driven).await {
        Ok(Some(ended)) => Driven::Ended(ended),
        Ok(None) if process.points() < POINTS_MAX => Driven::Killed,
        Ok(None) | Err(_) => Driven::Stuck,
    }
}
