//! Work on many things at once.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What `work` makes of each item, in their order. Each core takes the next item as it becomes free, so that one large
/// item holds up no other.
pub fn on_all_cores<T: Send, R: Send>(items: Vec<T>, work: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let waiting = Mutex::new(items.into_iter().enumerate());
    let run = || {
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::iter::from_fn(next).map(|(at, item)| (at, work(item))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        // Where there can be no more threads, this one does it all.
        let begun = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..cores).filter_map(begun).collect();
        let mut done = run();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<u64> = items.iter().map(|item| item * 2).collect();
        assert_eq!(on_all_cores(items, &|item| item * 2), doubled);
        assert!(on_all_cores(Vec::<u64>::new(), &|item| item).is_empty());
    }
}
