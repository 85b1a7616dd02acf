//! Stops a future at a chosen point, as a crash would.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

/// What tells how many steps there have been so far.
pub(crate) type StepCount = Box<dyn Fn() -> usize + Send + Sync>;

/// Runs a future until it has taken this many steps, then drops it when it next waits. `None` if it was dropped. Each wait
/// is a step, unless the author of the type knows better.
pub(crate) async fn interrupted<T>(
    future: impl Future<Output = T>,
    steps_before: usize,
    count: Option<&StepCount>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut waits = 0;
    let begin = count.map_or(0, |count| count());
    std::future::poll_fn(move |task| {
        if steps_before == 0 {
            return Poll::Ready(None);
        }
        match future.as_mut().poll(task) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => {
                waits += 1;
                let steps = count.map_or(waits, |count| count() - begin);
                if steps >= steps_before { Poll::Ready(None) } else { Poll::Pending }
            }
        }
    })
    .await
}
