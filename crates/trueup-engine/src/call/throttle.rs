//! How many operations of one provider run at a time: fewer when it says it is throttled, more again as it recovers
//! (RETRY-5). Providers count by their configurations: an alias may well lead to another account or region.

use std::collections::BTreeMap;
use std::sync::Mutex;

use smol_str::SmolStr;

/// The limits of all providers. One that never throttles has none beyond the run's own.
pub(crate) struct Throttle {
    parallelism: usize,
    throttled: Mutex<BTreeMap<SmolStr, Limit>>,
}

struct Limit {
    allowed: usize,
    /// Operations that succeeded since the limit last changed.
    successes: usize,
}

impl Throttle {
    pub(crate) fn new(parallelism: usize) -> Self {
        Throttle { parallelism: parallelism.max(1), throttled: Mutex::default() }
    }

    /// How many operations of the provider whose configuration has this name may run at a time.
    pub(crate) fn allowed(&self, provider: &str) -> usize {
        let throttled = self.throttled.lock();
        throttled.map_or(self.parallelism, |limits| {
            limits.get(provider).map_or(self.parallelism, |limit| limit.allowed)
        })
    }

    /// A provider asked to slow down: half as many from now on.
    pub(crate) fn slow_down(&self, provider: &str) {
        if let Ok(mut limits) = self.throttled.lock() {
            let limit =
                limits.entry(provider.into()).or_insert(Limit { allowed: self.parallelism, successes: 0 });
            *limit = Limit { allowed: (limit.allowed / 2).max(1), successes: 0 };
        }
    }

    /// An operation succeeded: after as many as are allowed, one more is.
    pub(crate) fn succeeded(&self, provider: &str) {
        let Ok(mut limits) = self.throttled.lock() else { return };
        let Some(limit) = limits.get_mut(provider) else { return };
        limit.successes += 1;
        if limit.successes >= limit.allowed {
            *limit = Limit { allowed: limit.allowed + 1, successes: 0 };
        }
        if limit.allowed >= self.parallelism {
            limits.remove(provider);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RETRY-5
    #[test]
    fn throttling_halves_the_limit_and_success_restores_it() {
        let limits = Throttle::new(8);
        limits.slow_down("w");
        limits.slow_down("w");
        assert_eq!((limits.allowed("w"), limits.allowed("x")), (2, 8));
        for _ in 0..100 {
            limits.slow_down("w");
        }
        assert_eq!(limits.allowed("w"), 1);
        for _ in 0..1 + 2 + 3 + 4 + 5 + 6 + 7 {
            limits.succeeded("w");
        }
        assert_eq!(limits.allowed("w"), 8);
    }
}
