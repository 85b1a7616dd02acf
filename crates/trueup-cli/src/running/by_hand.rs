//! Changes by hand: whoever makes one is told whom it waits for, and may give up waiting.

use std::sync::Arc;

use trueup_engine::{Cancellation, Event, EventKind, EventSink, Reconciler};
use trueup_state::Store;

use crate::interrupt::Handling;
use crate::progress::waiting_line;
use crate::workplace::Workplace;

/// A reconciler for changes by hand. As long as the guard lives, an interruption ends what has changed nothing yet.
pub(crate) fn by_hand<'w>(workplace: &'w Workplace<'_>, store: Arc<dyn Store>) -> (Reconciler, Handling<'w>) {
    let session = workplace.session;
    let ui = session.ui.clone();
    let tell = move |event: &Event| {
        if let EventKind::Waiting { holder, since } = &event.kind {
            ui.note(&waiting_line(&event.scope.stage, holder, *since));
        }
    };
    let cancellation = Cancellation::new();
    let reconciler = workplace.reconciler(store, EventSink::new().with(tell));
    let reconciler = reconciler.interrupted_by(cancellation.clone());
    (reconciler, session.interrupts.handled_by(move |_| cancellation.finish()))
}
