//! What a plugin prints, kept until someone listens, and how it ended.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// More than that is not kept for who comes later.
const LINES_MAX: usize = 500;

/// The lines that nobody has heard yet.
#[derive(Default)]
pub(super) struct Spool {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    complete: bool,
}

impl Spool {
    pub(super) fn push(&self, line: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.lines.len() == LINES_MAX {
            state.lines.pop_front();
        }
        state.lines.push_back(line);
        drop(state);
        self.changed.notify_one();
    }

    /// Nothing comes any more.
    pub(super) fn complete(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).complete = true;
        self.changed.notify_one();
    }

    /// The next line, when there is one; `None` if none comes any more.
    pub(super) async fn next(&self) -> Option<String> {
        loop {
            {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                match state.lines.pop_front() {
                    Some(line) => return Some(line),
                    None if state.complete => return None,
                    None => {}
                }
            }
            self.changed.notified().await;
        }
    }
}
