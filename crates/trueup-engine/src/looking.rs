//! How far a plan has come with looking at what there is, for whoever waits for it (DRIFT-8).

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the objects that are looked at. Shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Looking {
    wanted: AtomicUsize,
    done: AtomicUsize,
}

impl Looking {
    /// How many objects were looked at, of how many.
    pub fn counts(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.wanted.load(Ordering::Relaxed))
    }

    pub(crate) fn want(&self, more: usize) {
        self.wanted.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}
