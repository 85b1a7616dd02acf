//! The events of one run: told to subscribers, and kept in its history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smol_str::SmolStr;
use trueup_core::Address;
use trueup_provider::Clock;
use trueup_state::{HistoryLine, Scope};

use super::{Event, EventKind, EventSink};
use crate::journal::Journal;

/// Tells of a run.
pub(crate) struct RunEvents {
    sink: EventSink,
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    scope: Scope,
    run: SmolStr,
    sequence: AtomicU64,
}

impl RunEvents {
    pub(crate) fn new(
        sink: EventSink,
        journal: Arc<Journal>,
        clock: Arc<dyn Clock>,
        scope: Scope,
        run: SmolStr,
    ) -> Self {
        RunEvents { sink, journal, clock, scope, run, sequence: AtomicU64::new(0) }
    }

    /// Tells subscribers and history.
    pub(crate) fn emit(&self, resource: Option<&Address>, kind: EventKind) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let event = self.event(Some(sequence), resource, kind);
        // That nothing happens to most of a stack is not worth a line each in its history.
        let unchanged = matches!(&event.kind, EventKind::Decision { decision, .. } if decision == "noop");
        if !unchanged {
            self.journal.note(HistoryLine {
                run: self.run.to_string(),
                sequence,
                at: event.at,
                event: event.to_json(),
            });
        }
        self.sink.emit(event);
    }

    /// Tells subscribers alone, of what is no part of the run's history.
    pub(crate) fn tell(&self, resource: &Address, kind: EventKind) {
        self.sink.emit(self.event(None, Some(resource), kind));
    }

    fn event(&self, sequence: Option<u64>, resource: Option<&Address>, kind: EventKind) -> Event {
        let (scope, run, resource) = (self.scope.clone(), self.run.clone(), resource.cloned());
        Event { sequence, at: self.clock.now(), scope, run, resource, kind }
    }
}
