//! Stops a future at a chosen point, as a crash would.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

/// Runs a future until it has waited this many times, then drops it. `None` if it was dropped.
pub(crate) async fn interrupted<T>(future: impl Future<Output = T>, waits_before: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut waits = 0;
    std::future::poll_fn(move |task| {
        if waits == waits_before {
            return Poll::Ready(None);
        }
        match future.as_mut().poll(task) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => {
                waits += 1;
                if waits == waits_before {
                    return Poll::Ready(None);
                }
                Poll::Pending
            }
        }
    })
    .await
}
